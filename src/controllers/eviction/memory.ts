import { isPressureRequest } from '../../api/local-storage.ts';
import { pauseAfter } from '../../runtime/scheduling/backoff.ts';
import type { Moment } from '../../runtime/scheduling/jump.ts';
import type {
  Deferral,
  DeferralReason,
  Evicted,
  EvictionMemory,
  NodeRelief,
  OwnerPace,
  Pause,
  PodEviction,
  RequestingNode,
} from './facts.ts';
import { ownerRememberedMs, paceAfter, withinMinute } from './pace.ts';

/** The result of one try. */
export type Result =
  | { readonly kind: 'critical' | 'kept' }
  | { readonly kind: 'evicted'; readonly requestedGraceSeconds: number | undefined }
  | {
      readonly kind: 'deferred';
      readonly reason: DeferralReason;
      /** The Retry-After of the response. */
      readonly retryAfterMs: number | undefined;
      /** The request was sent, and no response of the API server came: it may have been fulfilled. */
      readonly isUnanswered?: boolean;
    };

/** A node under pressure loses one pod a minute at most. */
const pressurePauseMs = 60_000;
/** After so many evictions for node pressure that freed nothing, no more follow. */
export const vainEvictions = 3;
/** After that, no measurement from before the eviction is fresh. */
export const rememberedMs = 10 * 60_000;

/** A budget that is exhausted briefly is tried again soon; one that never allows an eviction must cost little. */
const firstPauseMs = 10_000;
const longestPauseMs = 5 * 60_000;

/** The memory of the controller; a plan only reads it. */
export class EvictionRecord implements EvictionMemory {
  readonly evicted = new Map<string, Evicted>();
  readonly critical = new Set<string>();
  readonly deferred = new Map<string, Deferral>();
  readonly pauses = new Map<string, Pause>();
  readonly owners = new Map<string, OwnerPace>();
  readonly relief = new Map<string, NodeRelief>();
  firstPause: Pause = { untilMs: 0, measuredAfterMs: 0 };
  evictedAtMs: readonly number[] = [];

  /** Begins the leadership after another leader, which may just have evicted any pod. */
  succeed(at: Moment): void {
    this.firstPause = pauseFrom(at);
  }

  /** Adds one more try. */
  add(target: PodEviction['target'], result: Result, at: Moment): void {
    const { uid } = target;
    if (mayHaveEvicted(result)) this.#addPaces(target, result, at);
    const tries = result.kind === 'deferred' ? this.triesBefore(uid, result.reason) + 1 : 0;
    this.deferred.delete(uid);
    switch (result.kind) {
      case 'evicted':
        this.evicted.set(uid, {
          atMs: at.monotonicMs,
          requestedGraceSeconds: result.requestedGraceSeconds,
        });
        return;
      case 'critical':
        this.critical.add(uid);
        return;
      case 'kept':
        return;
      case 'deferred': {
        const pauseMs = Math.max(pauseAfter(tries - 1, { firstMs: firstPauseMs }), result.retryAfterMs ?? 0);
        const untilMs = at.monotonicMs + Math.min(longestPauseMs, pauseMs);
        this.deferred.set(uid, { reason: result.reason, tries, untilMs });
      }
    }
  }

  /** How often in a row the pod was deferred for this reason. */
  triesBefore(uid: string, reason: DeferralReason): number {
    const known = this.deferred.get(uid);
    return known?.reason === reason ? known.tries : 0;
  }

  /** The paces after a request that was or may have been fulfilled. */
  #addPaces(target: PodEviction['target'], result: Result, at: Moment): void {
    const before = this.owners.get(target.owner);
    const pace = paceAfter(before, target, at);
    // A request without a response is no proof that a replacement exceeds too.
    const { strikes = 0, isStruck = false } = before ?? {};
    this.owners.set(target.owner, result.kind === 'evicted' ? pace : { ...pace, strikes, isStruck });
    forget(this.pauses, ({ untilMs }) => at.monotonicMs - untilMs >= rememberedMs);
    this.pauses.set(target.node, pauseFrom(at));
    // Requests that fail must not use up the evictions of the cluster.
    if (result.kind === 'evicted') this.#addEviction(target, at);
  }

  #addEviction({ node, request }: PodEviction['target'], { monotonicMs }: Moment): void {
    this.evictedAtMs = [...withinMinute(this.evictedAtMs, monotonicMs), monotonicMs];
    if (!isPressureRequest(request)) return;
    const { signal, shortage, observedBytes: used } = request;
    const before = this.relief.get(node)?.evictions.filter((eviction) => eviction.signal === signal) ?? [];
    this.relief.set(node, {
      evictions: [...before, { signal, available: shortage.available, used }].slice(-vainEvictions),
      requestedMs: monotonicMs,
      isReported: false,
    });
  }

  /** Forgets the evicted pods that are gone. */
  forgetEvicted(pods: ReadonlyMap<string, unknown>): void {
    forget(this.evicted, (_, uid) => !pods.has(uid));
  }

  /** Events have reported these slowed owners, and nodes where evictions freed nothing. */
  addSlowed(owners: Iterable<string>, nodes: Iterable<string>): void {
    change(this.owners, owners, (pace) => ({ ...pace, reportedStrikes: pace.strikes }));
    change(this.relief, nodes, (relief) => ({ ...relief, isReported: true }));
  }

  /**
   * Forgets pods that are gone or that no report requests any more (`forgetEvicted` forgets evicted ones), owners that lost no pod for two hours, and
   * nodes that have been without pressure for ten minutes.
   */
  forgetOthers(
    reports: readonly RequestingNode[],
    pods: ReadonlyMap<string, unknown>,
    monotonicMs: number,
  ): void {
    const requested = new Set(reports.flatMap(({ requests }) => requests.map(({ pod }) => pod.uid)));
    const isOver = (uid: string): boolean => !requested.has(uid) || !pods.has(uid);
    for (const uid of this.critical) if (isOver(uid)) this.critical.delete(uid);
    forget(this.deferred, (_, uid) => isOver(uid));
    forget(this.owners, ({ lastMs }) => monotonicMs - lastMs >= ownerRememberedMs);
    forget(this.relief, ({ requestedMs }) => monotonicMs - requestedMs >= rememberedMs);
    const pressed = reports
      .filter(({ requests }) => requests.some(isPressureRequest))
      .map(({ name }) => name);
    change(this.relief, pressed, (relief) => ({ ...relief, requestedMs: monotonicMs }));
  }
}

export const noMemory: EvictionMemory = new EvictionRecord();

const pauseFrom = ({ wallMs, monotonicMs }: Moment): Pause => ({
  untilMs: monotonicMs + pressurePauseMs,
  measuredAfterMs: wallMs,
});

const mayHaveEvicted = (result: Result): boolean =>
  result.kind === 'evicted' || (result.kind === 'deferred' && result.isUnanswered === true);

function forget<T>(entries: Map<string, T>, isOver: (value: T, key: string) => boolean): void {
  for (const [key, value] of entries) if (isOver(value, key)) entries.delete(key);
}

/** Changes the entries of these keys, as far as they exist. */
function change<T>(entries: Map<string, T>, keys: Iterable<string>, changed: (value: T) => T): void {
  for (const key of keys) {
    const value = entries.get(key);
    if (value !== undefined) entries.set(key, changed(value));
  }
}
