import type { Clock } from '../../runtime/scheduling/clock.ts';
import { errorLine, isAbort } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { onAbort } from '../../runtime/scheduling/abort.ts';
import { LeaseClient } from './client.ts';
import type { LeaseName } from './client.ts';
import {
  claimed,
  holderOf,
  holderPod,
  hasHolder,
  jitterFactor,
  newLease,
  observe,
  released,
} from './record.ts';
import type { HolderPod, Lease, Observation } from './record.ts';
import type { EventSpec } from '../events/recorder.ts';
import { isConflict, isDenied } from '../http/transport.ts';
import type { KubeTransport } from '../http/transport.ts';

export interface LeaseElectorDeps {
  /** Has its own connection pool, so that garbage collection cannot delay renewals. */
  readonly transport: KubeTransport;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: () => number;
  readonly lease: LeaseName;
  /** Unique to this process, e.g. host name and UUID. */
  readonly identity: string;
  /** The pod of this process; undefined = it runs in none. */
  readonly pod?: HolderPod | undefined;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly onEvent?: (event: EventSpec) => void;
  readonly onMasterStatus?: (leading: boolean) => void;
  readonly onSlowPath?: () => void;
  /** Another process holds the lease; called in each attempt to take it. */
  readonly onHeld?: (holder: string) => void;
}

/** How a leadership ended. `lost`: it ended during the work; end the process, as an action may be incomplete. */
export type LeaseOutcome = 'released' | 'lost';

/** Time past the lease's term after which a leader without a renewal counts as stuck, as upstream. */
const healthGraceMs = 20_000;

/** A release that conflicts with our own last renewal succeeds a moment later. */
const releaseRetryMs = 250;

/** Runs `lead` in one process at a time, as far as a Lease can guarantee it: see `holdsLease`. */
export class LeaseElector {
  readonly #deps: LeaseElectorDeps;
  readonly #leases: LeaseClient;
  #observed: Observation | undefined;
  /** When the last successful claim was *sent*: the term has already begun when the response arrives. */
  #renewedAtMs = Number.NEGATIVE_INFINITY;
  #leading = false;
  /** Until the lease of a pod that is gone may be taken; undefined = its pod is not known to be gone. */
  #takeInMs: number | undefined;
  #lastError = '';

  constructor(deps: LeaseElectorDeps) {
    this.#deps = deps;
    this.#leases = new LeaseClient(deps.transport, deps.lease, Math.max(1000, deps.renewDeadlineMs / 2));
  }

  get isLeader(): boolean {
    return this.#leading;
  }

  /** Whether no other process can have become leader, unless the pod of this process is gone (ADR 0072). Check it after any wait, right before an irreversible action. */
  holdsLease(): boolean {
    return this.#msToDeadline() > 0;
  }

  /** Whether another process has led before: what it did last is not known. */
  get hasPredecessor(): boolean {
    return (this.#observed?.lease.spec?.leaseTransitions ?? 0) > 0;
  }

  /** The problem for a liveness probe; undefined if healthy. */
  health(): string | undefined {
    if (!this.#leading || this.#observed === undefined) return undefined;
    const silentMs = this.#deps.clock.monotonicMs() - this.#observed.changedAtMs;
    if (silentMs <= this.#deps.leaseDurationMs + healthGraceMs) return undefined;
    return `leading, but the lease was not renewed for ${Math.round(silentMs / 1000)} s`;
  }

  /** Observes the lease without taking it, so that the term of its holder runs while this process waits for something else. */
  async watch(signal: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs } = this.#deps;
    while (!signal.aborted) {
      await this.#observe(signal);
      await clock.sleep(retryPeriodMs, signal);
    }
  }

  async #observe(signal: AbortSignal): Promise<void> {
    try {
      const found = await this.#leases.get(signal);
      if (found !== undefined)
        this.#observed = observe(this.#observed, found, this.#deps.clock.monotonicMs());
    } catch (err) {
      if (!signal.aborted) this.#logFailure(err);
    }
  }

  /** Waits for the lease, runs `lead` while it is held, and releases it only after `lead` has ended. */
  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<LeaseOutcome> {
    if (!(await this.#acquire(signal))) return 'released';
    const stop = new AbortController();
    const ended = new AbortController();
    const forget = onAbort(signal, () => stop.abort());
    this.#setLeading(true);
    const work = settle(lead, stop.signal).finally(() => ended.abort());
    const outcome = await this.#keep(ended.signal);
    stop.abort();
    const failure = await work;
    forget();
    if (outcome === 'released') await this.#release();
    this.#setLeading(false);
    if (failure !== undefined) throw failure;
    return outcome;
  }

  async #acquire(signal: AbortSignal): Promise<boolean> {
    const { clock, retryPeriodMs, random } = this.#deps;
    while (!signal.aborted) {
      if (await this.#claim(signal)) return true;
      await clock.sleep(this.#takeInMs ?? retryPeriodMs * (1 + random() * jitterFactor), signal);
    }
    return false;
  }

  /** Renews until `ended`, also while `lead` stops. `lost`: the deadline has passed or another process has the lease. */
  async #keep(ended: AbortSignal): Promise<LeaseOutcome> {
    const stop = new AbortController();
    const halt = (): void => stop.abort();
    const forget = onAbort(ended, halt);
    await Promise.all([
      this.#renew(stop.signal).finally(halt),
      this.#watchDeadline(stop.signal).finally(halt),
    ]);
    forget();
    return ended.aborted && this.holdsLease() ? 'released' : 'lost';
  }

  async #renew(stop: AbortSignal): Promise<void> {
    const { clock, retryPeriodMs } = this.#deps;
    while (this.holdsLease()) {
      await clock.sleep(retryPeriodMs, stop);
      if (stop.aborted) return;
      await this.#claim(stop);
    }
  }

  async #watchDeadline(stop: AbortSignal): Promise<void> {
    while (!stop.aborted && this.holdsLease()) await this.#deps.clock.sleep(this.#msToDeadline(), stop);
  }

  #msToDeadline(): number {
    return this.#renewedAtMs + this.#deps.renewDeadlineMs - this.#deps.clock.monotonicMs();
  }

  /** One attempt to get or keep the lease. A failure is logged, not thrown: the next round tries again. */
  async #claim(signal: AbortSignal): Promise<boolean> {
    try {
      const won = (await this.#renewUnread(signal)) || (await this.#readAndClaim(signal));
      this.#lastError = '';
      return won;
    } catch (err) {
      if (!signal.aborted && !isConflict(err)) this.#logFailure(err);
      return false;
    }
  }

  /** The usual renewal: one PUT of the lease last written. Its resourceVersion makes that safe. */
  async #renewUnread(signal: AbortSignal): Promise<boolean> {
    const { identity, onSlowPath } = this.#deps;
    const known = this.#observed;
    if (known === undefined || holderOf(known.lease) !== identity) return false;
    try {
      await this.#write(known.lease, signal);
      return true;
    } catch {
      onSlowPath?.();
      return false;
    }
  }

  async #readAndClaim(signal: AbortSignal): Promise<boolean> {
    const found = await this.#leases.get(signal);
    if (found !== undefined && !this.#isFree(found) && !(await this.#mayReplace(found, signal))) {
      this.#deps.onHeld?.(holderOf(found));
      return false;
    }
    await this.#write(found ?? newLease(this.#deps.lease), signal);
    return true;
  }

  #isFree(found: Lease): boolean {
    const { clock, identity, leaseDurationMs } = this.#deps;
    const nowMs = clock.monotonicMs();
    this.#observed = observe(this.#observed, found, nowMs);
    if (holderOf(found) === identity) return true;
    // A leader that finds another holder in its lease has lost it, even if that holder has released it.
    if (this.#leading) this.#renewedAtMs = Number.NEGATIVE_INFINITY;
    return !this.#leading && !hasHolder(this.#observed, leaseDurationMs, nowMs);
  }

  /**
   * Whether the holder's pod is gone, and the holder has not renewed for two periods. An uninstallation removes the rights of a leader before it can
   * release the lease. The term still protects a leader whose pod exists or is not known.
   */
  async #mayReplace(found: Lease, signal: AbortSignal): Promise<boolean> {
    const { clock, retryPeriodMs } = this.#deps;
    const silentMs = clock.monotonicMs() - (this.#observed?.changedAtMs ?? Infinity);
    this.#takeInMs = undefined;
    const pod = holderPod(found);
    if (this.#leading || pod === undefined || silentMs < retryPeriodMs) return false;
    if (!(await this.#isGone(pod, signal))) return false;
    this.#takeInMs = Math.max(0, 2 * retryPeriodMs - silentMs);
    return this.#takeInMs === 0;
  }

  async #isGone(pod: HolderPod, signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#leases.isGone(pod, signal);
    } catch (err) {
      this.#deps.log.debug({ err, pod }, 'the pod of the leader cannot be read');
      return false;
    }
  }

  async #write(lease: Lease, signal: AbortSignal): Promise<void> {
    const { clock, identity, pod, leaseDurationMs } = this.#deps;
    const sentAtMs = clock.monotonicMs();
    const claim = claimed(lease, { identity, pod, leaseDurationMs, now: clock.now() });
    const stored = await this.#leases.write(claim, signal);
    this.#renewedAtMs = sentAtMs;
    this.#observed = { lease: stored, changedAtMs: clock.monotonicMs() };
  }

  /** Frees the lease at once: the next leader would otherwise wait a whole term. */
  async #release(): Promise<void> {
    const { clock, renewDeadlineMs } = this.#deps;
    this.#renewedAtMs = Number.NEGATIVE_INFINITY;
    const over = new AbortController();
    const done = new AbortController();
    const deadline = clock.sleep(renewDeadlineMs, done.signal).then(() => over.abort());
    while (!over.signal.aborted && !(await this.#tryRelease(over.signal)))
      await clock.sleep(releaseRetryMs, over.signal);
    done.abort();
    await deadline;
  }

  async #tryRelease(signal: AbortSignal): Promise<boolean> {
    try {
      const lease = await this.#leases.get(signal);
      if (lease !== undefined && holderOf(lease) === this.#deps.identity)
        await this.#leases.write(released(lease, this.#deps.clock.now()), signal);
      return true;
    } catch (err) {
      if (!signal.aborted && !isConflict(err)) this.#logFailure(err);
      // The right was removed, for example by an uninstallation: a retry cannot succeed.
      return isDenied(err);
    }
  }

  #setLeading(leading: boolean): void {
    const { identity, lease, log, onEvent, onMasterStatus } = this.#deps;
    this.#leading = leading;
    onMasterStatus?.(leading);
    log.info({ identity, lease, leading }, 'leadership changed');
    const uid = this.#observed?.lease.metadata.uid ?? '';
    onEvent?.(leadershipChanged({ ...lease, uid }, { identity, leading }));
  }

  /** Warns once while the same failure repeats. */
  #logFailure(err: unknown): void {
    const { lease, log } = this.#deps;
    const line = errorLine(err);
    if (line === this.#lastError) log.debug({ err, lease }, 'leader election still fails');
    else log.warn({ err, lease }, 'leader election failed, trying again');
    this.#lastError = line;
  }
}

/** Runs `lead` to its end. Resolves with its failure; an abort is none. */
async function settle(
  lead: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<Error | undefined> {
  try {
    await lead(signal);
    return undefined;
  } catch (err) {
    if (isAbort(err)) return undefined;
    return err instanceof Error ? err : new Error(String(err));
  }
}

/** The Event on the Lease when this process starts or stops leading, with client-go's text. */
function leadershipChanged(
  lease: LeaseName & { readonly uid: string },
  { identity, leading }: { readonly identity: string; readonly leading: boolean },
): EventSpec {
  const regarding = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...lease };
  const about = { regarding, type: 'Normal', reason: 'LeaderElection' } as const;
  return leading
    ? { ...about, action: 'Lead', note: `${identity} became leader` }
    : { ...about, action: 'StopLeading', note: `${identity} stopped leading` };
}
