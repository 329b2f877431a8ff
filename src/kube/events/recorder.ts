/** The components' names in `reportingController`: Event reasons alone are shared with the kubelet, and anybody may use them. */
export const reportingControllers = {
  controller: 'gc.dustpan.dev/controller',
  agent: 'gc.dustpan.dev/agent',
} as const;

/** One thing that happened to one object, to be shown as an events.k8s.io/v1 Event. */
export interface EventSpec {
  readonly regarding: ObjectRef;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, constant, low cardinality. */
  readonly reason: string;
  /** What was done, CamelCase, constant. */
  readonly action: string;
  /** A sentence; made printable, then cut to 1024 bytes. Not part of a series' identity. */
  readonly note: string;
  /** Makes occurrences of another one a series, and an Event, of their own; not written. */
  readonly occasion?: string;
}

export interface ObjectRef {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** undefined for cluster-scoped objects: their Events live in `default`. */
  readonly namespace?: string | undefined;
  readonly uid: string;
}

/** Never waits and never throws: an Event is a courtesy, collection goes on without it. */
export interface Recorder {
  record(event: EventSpec): void;
}
