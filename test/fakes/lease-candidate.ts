import { LeaseElector } from '../../src/kube/lease.ts';
import type { LeaseElectorDeps, LeaseOutcome } from '../../src/kube/lease.ts';
import type { EventSpec } from '../../src/kube/recorder.ts';
import type { LeaseConnection } from './lease-server.ts';
import { LeaseServer } from './lease-server.ts';
import { SettlingClock, settled } from './settling-clock.ts';
import { RecordingLogger } from './recording-logger.ts';

export const leaseTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 };

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

/** A process that wants to lead, from now on. */
export function candidate(
  identity: string,
  server: LeaseServer,
  { clock, obedient = true }: { clock: SettlingClock; obedient?: boolean },
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
    random: () => 0,
    lease: { namespace: 'ns', name: 'dustpan' },
    identity,
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
      if (obedient)
        signal.addEventListener('abort', () => {
          resolve();
        });
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
    finish: (err) => {
      finish(err);
    },
    stop: () => {
      stop.abort();
    },
    outcome,
  };
}

/** Lets time go by in small steps. */
export async function pass(clock: SettlingClock, ms: number): Promise<void> {
  await settled();
  for (let left = ms; left > 0; left -= 500) await clock.advance(Math.min(left, 500));
}

/** A leader, alone so far. */
export async function led(): Promise<{ server: LeaseServer; clock: SettlingClock; leader: Candidate }> {
  const server = new LeaseServer();
  const clock = new SettlingClock();
  const leader = candidate('a', server, { clock });
  await settled();
  return { server, clock, leader };
}
