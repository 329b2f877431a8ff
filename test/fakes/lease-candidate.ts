import { once } from 'node:events';
import { LeaseElector } from '../../src/kube/lease/lease.ts';
import type { LeaseElectorDeps, LeaseOutcome } from '../../src/kube/lease/lease.ts';
import type { EventSpec } from '../../src/kube/events/recorder.ts';
import type { Lease } from '../../src/kube/lease/record.ts';
import type { KubeRequest } from '../../src/kube/http/transport.ts';
import { ApiServer } from '../sandbox/api/api-server.ts';
import { FakeApi } from './api.ts';
import { SettlingClock, settled } from './settling-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

const leaseTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

type LeaseSpec = NonNullable<Lease['spec']>;

const place = { namespace: 'ns', name: 'dustpan' };

/** An API server with one Lease. */
export class LeaseServer {
  /** Those that the server acted on. */
  readonly requests: KubeRequest[] = [];
  readonly #api = new ApiServer();

  constructor() {
    this.#api.objects.ensureNamespace(place.namespace);
  }

  get lease(): Lease | undefined {
    return this.#api.objects.get('Lease', place.name, place.namespace);
  }

  get spec(): LeaseSpec {
    return this.lease?.spec ?? {};
  }

  get holder(): string | null | undefined {
    return this.spec.holderIdentity;
  }

  /** Overwrites the lease as another candidate, without preconditions. */
  overwrite(spec: LeaseSpec, annotations: Readonly<Record<string, string>> = {}): void {
    this.#api.objects.apply({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...place, annotations },
      spec,
    });
  }

  applyPod(name: string, uid: string): void {
    this.#api.objects.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: place.namespace, name, uid },
    });
  }

  /** A connection to this server, with faults of its own. */
  connect(): LeaseConnection {
    return new LeaseConnection(this.#api, this.requests);
  }
}

/** `down`: refused before the server sees it. `mute`: the server acts, the response is lost. `hang`: there is no response at all. */
type Fault = 'down' | 'mute' | 'hang' | Error;

class LeaseConnection extends FakeApi {
  fault: Fault | undefined;
  /** Which requests the fault hits; default all. */
  hits: (request: KubeRequest) => boolean = () => true;
  /** Holds back the responses; the server has acted by then. */
  answersAfter: Promise<void> | undefined;

  constructor(server: ApiServer, seen: KubeRequest[]) {
    super(server);
    let fault: Fault | undefined;
    this.before = (request) => {
      fault = this.hits(request) ? this.fault : undefined;
      if (fault instanceof Error) throw fault;
      if (fault === 'down') throw new Error('connect ECONNREFUSED');
    };
    this.after = async (request, signal) => {
      seen.push(request);
      await this.answersAfter;
      if (fault === 'mute') throw new Error('socket hang up');
      if (fault === 'hang') await once(signal, 'abort');
    };
  }
}

interface Candidate {
  readonly elector: LeaseElector;
  readonly connection: LeaseConnection;
  readonly log: RecordingLogger;
  readonly events: EventSpec[];
  readonly statuses: boolean[];
  readonly slowPaths: () => number;
  /** The signal that the guarded work got, once it runs. */
  readonly work: () => AbortSignal | undefined;
  /** Ends the guarded work (which does not end by itself). */
  finish(err?: Error): void;
  stop(): void;
  readonly outcome: Promise<LeaseOutcome>;
}

/** Starts a candidate for leadership. */
export function candidate(
  identity: string,
  server: LeaseServer,
  {
    clock,
    obedient = true,
    random = () => 0,
    pod,
  }: { clock: SettlingClock; obedient?: boolean; random?: () => number; pod?: LeaseElectorDeps['pod'] },
): Candidate {
  const connection = server.connect();
  const log = new RecordingLogger();
  const events: EventSpec[] = [];
  const statuses: boolean[] = [];
  let slowPaths = 0;
  const deps: LeaseElectorDeps = {
    ...leaseTimes,
    transport: connection,
    clock,
    log,
    random,
    lease: place,
    identity,
    pod,
    onEvent: (event) => events.push(event),
    onMasterStatus: (leading) => statuses.push(leading),
    onSlowPath: () => (slowPaths += 1),
  };
  const elector = new LeaseElector(deps);
  const stop = new AbortController();
  let work: AbortSignal | undefined;
  let finish: (err?: Error) => void = () => undefined;
  const outcome = elector.run((signal) => {
    work = signal;
    return new Promise((resolve, reject) => {
      finish = (err) => {
        if (err === undefined) resolve();
        else reject(err);
      };
      if (obedient) signal.addEventListener('abort', () => resolve());
    });
  }, stop.signal);
  return {
    elector,
    connection,
    log,
    events,
    statuses,
    slowPaths: () => slowPaths,
    work: () => work,
    finish: (err) => finish(err),
    stop: () => stop.abort(),
    outcome,
  };
}

/** Advances the clock in small steps. */
export async function pass(clock: SettlingClock, ms: number): Promise<void> {
  await settled();
  for (let left = ms; left > 0; left -= 500) await clock.advance(Math.min(left, 500));
}

/** A leader, alone so far. */
export async function led(
  options: Partial<Parameters<typeof candidate>[2]> = {},
): Promise<{ server: LeaseServer; clock: SettlingClock; leader: Candidate }> {
  const server = new LeaseServer();
  const clock = new SettlingClock();
  const leader = candidate('a', server, { clock, ...options });
  await settled();
  return { server, clock, leader };
}
