import type { Clock } from '../runtime/clock.ts';
import { errorLine } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import { claimed, emptyLease, holderOf, isHeld, jitterFactor, observe, released } from './lease-record.ts';
import type { Lease, Observation } from './lease-record.ts';
import type { EventSpec } from './recorder.ts';
import { isConflict, isNotFound } from './transport.ts';
import type { KubeTransport } from './transport.ts';

export { leaseProblems } from './lease-record.ts';

export interface LeaseElectorDeps {
  /** With a connection pool of its own, so that collecting cannot starve the renewals. */
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly log: Logger;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly lease: { readonly namespace: string; readonly name: string };
  /** Unique to this process, e.g. host name and UUID. */
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly onEvent?: (event: EventSpec) => void;
  readonly onMasterStatus?: (leading: boolean) => void;
  readonly onSlowPath?: () => void;
}

/** How long past the lease's term a leader may go on without a renewal before it counts as stuck. */
const healthGraceMs = 20_000;

/** Sees to it that `lead` runs in one process at a time, as far as a Lease can: see `fenced`. */
export class LeaseElector {
  readonly #deps: LeaseElectorDeps;
  #observed: Observation | undefined;
  /** When the last successful claim was sent. The answer came later, and meanwhile the term was already running. */
  #renewedAtMs: number | undefined;
  #leading = false;
  #complaint = '';

  constructor(deps: LeaseElectorDeps) {
    this.#deps = deps;
  }

  get isLeader(): boolean {
    return this.#leading;
  }

  /** True while no other process can have become leader: ask right before anything irreversible, after any wait. */
  fenced(): boolean {
    return this.#leading && this.#msToDeadline() > 0;
  }

  /** What is wrong, for a liveness probe; undefined when nothing is. */
  health(): string | undefined {
    if (!this.#leading || this.#observed === undefined) return undefined;
    const silentMs = this.#deps.clock.monotonicMs() - this.#observed.changedAtMs;
    if (silentMs <= this.#deps.leaseDurationMs + healthGraceMs) return undefined;
    return `leading, but the lease was not renewed for ${Math.round(silentMs / 1000)} s`;
  }

  /**
   * Waits for the lease, runs `lead` while it is held, gives it back when `lead` has ended.
   * `lost`: the lease went away under `lead`; the caller should end the process, for state may be half done.
   */
  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<'released' | 'lost'> {
    if (!(await this.#acquire(signal))) return 'released';
    this.#setLeading(true);
    const lost = new AbortController();
    const ended = new AbortController();
    const work = lead(AbortSignal.any([signal, lost.signal])).finally(() => {
      ended.abort();
    });
    const outcome = await this.#keep(ended.signal);
    lost.abort();
    try {
      await work;
    } finally {
      if (outcome === 'released') await this.#release();
      this.#setLeading(false);
    }
    return outcome;
  }

  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, retryPeriodMs, random } = this.#deps;
    while (!signal.aborted) {
      if (await this.#claim(signal)) return true;
      await clock.sleep(retryPeriodMs * (1 + random() * jitterFactor), signal);
    }
    return false;
  }

  /** Renews until `ended`, through the time `lead` needs to wind down; `lost` once the deadline passed or another holds the lease. */
  async #keep(ended: AbortSignal): Promise<'released' | 'lost'> {
    const over = new AbortController();
    const stop = AbortSignal.any([ended, over.signal]);
    const renewing = this.#renew(stop).finally(() => {
      over.abort();
    });
    const watching = this.#watchDeadline(stop).finally(() => {
      over.abort();
    });
    await Promise.all([renewing, watching]);
    return ended.aborted && this.fenced() ? 'released' : 'lost';
  }

  async #renew(stop: AbortSignal): Promise<void> {
    const { clock, identity, retryPeriodMs } = this.#deps;
    while (!stop.aborted) {
      await clock.sleep(retryPeriodMs, stop);
      if (stop.aborted) return;
      await this.#claim(stop);
      if (this.#observed !== undefined && holderOf(this.#observed.lease) !== identity) return;
    }
  }

  async #watchDeadline(stop: AbortSignal): Promise<void> {
    while (!stop.aborted && this.fenced()) await this.#deps.clock.sleep(this.#msToDeadline(), stop);
  }

  #msToDeadline(): number {
    const { clock, renewDeadlineMs } = this.#deps;
    return (this.#renewedAtMs ?? -Infinity) + renewDeadlineMs - clock.monotonicMs();
  }

  /** One try to get or keep the lease. A failure is reported here and is no error: the next round tries again. */
  async #claim(signal: AbortSignal): Promise<boolean> {
    try {
      const won = (await this.#renewBlindly(signal)) || (await this.#readAndClaim(signal));
      this.#complaint = '';
      return won;
    } catch (err) {
      if (!signal.aborted && !isConflict(err)) this.#complain(err);
      return false;
    }
  }

  /** The leader's usual way: one PUT of what it wrote last; the resourceVersion in it makes that safe. */
  async #renewBlindly(signal: AbortSignal): Promise<boolean> {
    const { clock, identity, leaseDurationMs, onSlowPath } = this.#deps;
    const known = this.#observed;
    if (known === undefined || holderOf(known.lease) !== identity) return false;
    if (!isHeld(known, leaseDurationMs, clock.monotonicMs())) return false;
    try {
      await this.#write('PUT', known.lease, signal);
      return true;
    } catch (err) {
      if (signal.aborted) throw err;
      onSlowPath?.();
      return false;
    }
  }

  async #readAndClaim(signal: AbortSignal): Promise<boolean> {
    const { clock, identity, lease, leaseDurationMs } = this.#deps;
    const found = await this.#read(signal);
    if (found === undefined) {
      await this.#write('POST', emptyLease(lease.namespace, lease.name), signal);
      return true;
    }
    this.#observed = observe(this.#observed, found, clock.monotonicMs());
    const holder = holderOf(found);
    if (holder !== identity && isHeld(this.#observed, leaseDurationMs, clock.monotonicMs())) return false;
    // A leader that finds another name in its lease has lost it, even when that other is gone again.
    if (holder !== identity && this.#leading) return false;
    await this.#write('PUT', found, signal);
    return true;
  }

  async #read(signal: AbortSignal): Promise<Lease | undefined> {
    try {
      return await this.#send('GET', undefined, signal);
    } catch (err) {
      if (isNotFound(err)) return undefined;
      throw err;
    }
  }

  async #write(method: 'POST' | 'PUT', lease: Lease, signal: AbortSignal): Promise<void> {
    const { clock, identity, leaseDurationMs } = this.#deps;
    const sentAtMs = clock.monotonicMs();
    const body = claimed(lease, { identity, leaseDurationMs, now: clock.now() });
    const stored = await this.#send(method, body, signal);
    this.#renewedAtMs = sentAtMs;
    this.#observed = { lease: stored, changedAtMs: clock.monotonicMs() };
  }

  async #send(method: 'GET' | 'POST' | 'PUT', body: Lease | undefined, signal: AbortSignal): Promise<Lease> {
    const { transport, lease, renewDeadlineMs } = this.#deps;
    const collection = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(lease.namespace)}/leases`;
    const path = method === 'POST' ? collection : `${collection}/${encodeURIComponent(lease.name)}`;
    const timeoutMs = Math.max(1000, renewDeadlineMs / 2);
    const answer = await transport.send({ method, path, body, timeoutMs, retries: 0 }, signal);
    return JSON.parse(answer.body.toString()) as Lease;
  }

  /** Frees the lease for the next one at once; whoever waits would otherwise wait a whole term. */
  async #release(): Promise<void> {
    const { clock, retryPeriodMs, renewDeadlineMs } = this.#deps;
    const over = new AbortController();
    const done = new AbortController();
    const deadline = clock.sleep(renewDeadlineMs, done.signal).then(() => {
      over.abort();
    });
    while (!over.signal.aborted && !(await this.#tryRelease(over.signal)))
      await clock.sleep(retryPeriodMs, over.signal);
    done.abort();
    await deadline;
  }

  async #tryRelease(signal: AbortSignal): Promise<boolean> {
    try {
      const lease = await this.#read(signal);
      if (lease !== undefined && holderOf(lease) === this.#deps.identity)
        await this.#send('PUT', released(lease, this.#deps.clock.now()), signal);
      return true;
    } catch (err) {
      if (!isConflict(err)) this.#complain(err);
      return false;
    }
  }

  #setLeading(leading: boolean): void {
    const { identity, lease, log, onEvent, onMasterStatus } = this.#deps;
    this.#leading = leading;
    onMasterStatus?.(leading);
    const did = leading ? 'became leader' : 'stopped leading';
    log.info({ identity, lease, leading }, 'leadership changed');
    const uid = this.#observed?.lease.metadata.uid ?? '';
    const regarding = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...lease, uid };
    const action = leading ? 'Lead' : 'StopLeading';
    onEvent?.({ regarding, type: 'Normal', reason: 'LeaderElection', action, note: `${identity} ${did}` });
  }

  /** The same failure, every retry period for hours, is one line. */
  #complain(err: unknown): void {
    const { lease, log } = this.#deps;
    const complaint = errorLine(err);
    const fields = { err, lease };
    if (complaint === this.#complaint) log.debug(fields, 'claiming the lease failed again');
    else log.warn(fields, 'claiming the lease failed, trying on');
    this.#complaint = complaint;
  }
}
