import type { ObjectRef } from '../../api/event-refs.ts';

/** The values of `reportingController`. They identify our Events: other components, such as the kubelet, may use the same reasons. */
export const reportingControllers = {
  controller: 'gc.dustpan.dev/controller',
  agent: 'gc.dustpan.dev/agent',
} as const;

/** One occurrence, to be written as an events.k8s.io/v1 Event. */
export interface EventSpec {
  readonly regarding: ObjectRef;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, constant, low cardinality. */
  readonly reason: string;
  readonly action: string;
  /** A sentence; made printable, then cut to 1024 bytes. Not part of the identity of a series. */
  readonly note: string;
  /** With the names of `eventAnnotations`. Not part of the identity of a series. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** Occurrences with different values are different series and Events. Not written. */
  readonly occasion?: string;
  /** Beyond the limits of new Events it counts in the latest series of another occasion, instead of being dropped. */
  readonly joins?: boolean;
}

/** Never waits and never throws: garbage collection does not depend on Events. */
export interface Recorder {
  record(event: EventSpec): void;
}
