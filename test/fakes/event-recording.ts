import { EventRecorder } from '../../src/kube/events/event-recorder.ts';
import type { EventDrop } from '../../src/kube/events/event-recorder.ts';
import type { EventSpec } from '../../src/kube/events/recorder.ts';
import type { KubeRequest, KubeResponse } from '../../src/kube/http/transport.ts';
import { FakeApi } from './api.ts';
import { SettlingClock, settled } from './settling-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

export interface StoredEvent {
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly reason: string;
  readonly note: string;
  readonly reportingInstance: string;
  readonly eventTime: string;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

/** An API server for Events, in which every namespace exists. */
class EventServer extends FakeApi {
  /** Events in the order of their creation. */
  get events(): readonly StoredEvent[] {
    const created = this.requests.map(({ body }) => (body as Partial<StoredEvent>).metadata?.name);
    const events = this.objects.list('Event') as unknown as readonly StoredEvent[];
    const place = ({ metadata }: StoredEvent): number => created.lastIndexOf(metadata.name);
    return events.toSorted((a, b) => place(a) - place(b));
  }

  get verbs(): readonly string[] {
    return this.requests.map(({ method }) => method);
  }

  override send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    const [, namespace] = /\/namespaces\/([^/]+)/.exec(request.path) ?? [];
    if (namespace !== undefined) this.objects.ensureNamespace(namespace);
    return super.send(request, signal);
  }
}

/** A recorder at work against a server of its own. */
interface Recording {
  readonly recorder: EventRecorder;
  readonly server: EventServer;
  readonly clock: SettlingClock;
  readonly log: RecordingLogger;
  readonly dropped: EventDrop[];
  readonly sent: string[];
  /** Begins the shutdown; resolves when the recorder has ended. */
  readonly stop: () => Promise<void>;
}

export function recording({ instance = 'pod-1', started = true } = {}): Recording {
  const server = new EventServer();
  const clock = new SettlingClock();
  const log = new RecordingLogger();
  const dropped: EventDrop[] = [];
  const sent: string[] = [];
  const metrics = {
    sent: (verb: string) => sent.push(verb),
    dropped: (cause: EventDrop) => dropped.push(cause),
  };
  const recorder = new EventRecorder({
    transport: server,
    clock,
    log,
    random: () => 0.5,
    reportingController: 'gc.dustpan.dev/controller',
    reportingInstance: instance,
    metrics,
  });
  const abort = new AbortController();
  const ended = started ? recorder.run(abort.signal) : Promise.resolve();
  const stop = async (): Promise<void> => {
    abort.abort();
    await ended;
  };
  return { recorder, server, clock, log, dropped, sent, stop };
}

/** A recorder that has recorded this Event, and written it. */
export async function recorded(
  change: Parameters<typeof webEvent>[0] = {},
  options: Parameters<typeof recording>[0] = {},
): Promise<Recording> {
  const made = recording(options);
  made.recorder.record(webEvent(change));
  await settled();
  return made;
}

/** An Event about the Deployment `web`, or another name. */
export function webEvent(change: Partial<EventSpec> & { readonly name?: string } = {}): EventSpec {
  const { name = 'web', ...spec } = change;
  return {
    regarding: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name, uid: `uid-${name}` },
    type: 'Normal',
    reason: 'PodCollected',
    action: 'Collect',
    note: 'collected a pod',
    ...spec,
  };
}

/** Advances the clock minute by minute. */
export async function minutes(clock: SettlingClock, count: number): Promise<void> {
  await settled();
  for (let i = 0; i < count; i += 1) await clock.advance(60_000);
}
