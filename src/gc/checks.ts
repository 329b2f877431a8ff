import { isDeepStrictEqual } from 'node:util';
import type { NodeConfirmation } from '../api/node-confirmation.ts';
import { isSamePolicy, type NodeGovernance } from '../api/policy/node-governance.ts';
import { hasKeepLabel } from '../api/policy/matching.ts';
import type { Policy } from '../api/policy/policy.ts';
import type { Clock } from '../runtime/scheduling/clock.ts';
import type { Logger } from '../runtime/logging/logger.ts';
import { errorLine } from '../runtime/errors.ts';
import { hasJumped, type Moment } from '../runtime/scheduling/jump.ts';
import type { Check, Stop } from './execute.ts';
import { LiveQuery } from './live.ts';

/** Synchronised clocks differ by less. With a larger skew, dustpan does not judge ages. */
const tolerableSkewMs = 60_000;

/** Whether our clock differs from the API server's by more than synchronised clocks do. */
export const isSkewed = (clockSkewMs: number): boolean => Math.abs(clockSkewMs) > tolerableSkewMs;

/** `the clock of this node is 61 s ahead of the API server's`; undefined = the clocks agree. */
export function skewText(clockSkewMs: number): string | undefined {
  if (!isSkewed(clockSkewMs)) return undefined;
  const side = clockSkewMs > 0 ? 'ahead of' : 'behind';
  return `the clock of this node is ${Math.round(Math.abs(clockSkewMs) / 1000)} s ${side} the API server's`;
}

export const stopIf = <D>(stopReason: () => string | undefined): Check<D> => ({
  objection: () => {
    const why = stopReason();
    return why === undefined ? undefined : { kind: 'stop', why };
  },
});

/** Returns a query that resolves to its error instead of rejecting, so that a check decides what follows. */
export const resultOrError =
  <D, R>(query: (decision: D, signal: AbortSignal) => Promise<R>) =>
  async (decision: D, signal: AbortSignal): Promise<R | Error> => {
    try {
      return await query(decision, signal);
    } catch (err) {
      return err instanceof Error ? err : new Error(String(err));
    }
  };

interface ConfirmedOptions<R> {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Reads the policies, and the other facts that the pass depends on, live. */
  readonly confirm: (signal: AbortSignal) => Promise<R>;
  /** Whether the policies are still those of the plan. */
  readonly isSame: (response: R) => boolean;
  readonly unreadable: (error: Error) => Stop;
}

/** The API server's response right before a deletion or removal. */
export class Confirmed<D, R extends { readonly clockSkewMs: number }> {
  readonly #live: LiveQuery<D, R | Error>;
  /** Stops the pass when the API server cannot be read, or when the policies have changed since the plan. */
  readonly check: Check<D>;

  constructor({ clock, confirm, isSame, unreadable }: ConfirmedOptions<R>) {
    const live = new LiveQuery<D, R | Error>({ clock, query: resultOrError((_, signal) => confirm(signal)) });
    this.#live = live;
    this.check = {
      live,
      objection: (decision) => {
        const response = live.response(decision);
        if (response instanceof Error) return unreadable(response);
        return response !== undefined && isSame(response)
          ? undefined
          : { kind: 'stop', why: 'policies have changed' };
      },
    };
  }

  /** The last successful response; undefined = there is none. */
  response(decision: D): R | undefined {
    const response = this.#live.response(decision);
    return response instanceof Error ? undefined : response;
  }

  /** Milliseconds that the own clock is ahead of the API server's; 0 without a response. */
  clockSkewMs(decision: D): number {
    return this.response(decision)?.clockSkewMs ?? 0;
  }
}

/** Keeps an object that is judged by its age while the own clock and the API server's differ by more than a minute. */
export const clocksAgree = <D>(
  confirmed: Pick<Confirmed<D, { readonly clockSkewMs: number }>, 'clockSkewMs'>,
  isAged: (decision: D) => boolean,
): Check<D> => ({
  objection: (decision) =>
    isAged(decision) && isSkewed(confirmed.clockSkewMs(decision))
      ? { kind: 'keep', reason: 'ClockUnsure' }
      : undefined,
});

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

interface NamespaceCheckDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Pick<Logger, 'warn'>;
  /** Reads a namespace live; undefined = it does not exist. */
  readonly read: (name: string, signal: AbortSignal) => Promise<Labelled | undefined>;
  /** The namespace that the decision was made with. */
  readonly known: (name: string) => Labelled | undefined;
}

/** A broken server must not fill the log. */
const maxFailureLines = 10;

export function fewWarnings(log: Pick<Logger, 'warn'>): Logger['warn'] {
  let lines = 0;
  return (fields, message) => {
    if (lines++ < maxFailureLines) log.warn(fields, message);
  };
}

/** Re-checks the namespace of a pod: one GET for all its pods. */
export function namespaceUnchanged<D extends { readonly target: { readonly namespace: string } }>({
  clock,
  log,
  read,
  known,
}: NamespaceCheckDeps): Check<D> {
  const warn = fewWarnings(log);
  const live = new LiveQuery<D, Labelled | undefined>({
    clock,
    key: ({ target }) => target.namespace,
    query: async ({ target: { namespace } }, signal) => {
      try {
        return await read(namespace, signal);
      } catch (err) {
        warn({ namespace, err }, 'reading namespace failed');
        return undefined;
      }
    },
  });
  return {
    live,
    objection: (decision) => {
      const reason = recheckNamespace(live.response(decision), known(decision.target.namespace));
      return reason && { kind: 'keep', reason };
    },
  };
}

/** Why the live namespace forbids an action on its pods; undefined = it does not. With other labels, another policy may govern them. */
function recheckNamespace(
  live: Labelled | undefined,
  known: Labelled | undefined,
): 'KeepMarked' | 'NamespaceUnknown' | undefined {
  if (live === undefined) return 'NamespaceUnknown';
  if (hasKeepLabel(live)) return 'KeepMarked';
  return isDeepStrictEqual(live.labels, known?.labels ?? {}) ? undefined : 'NamespaceUnknown';
}

/** Stops the pass for an error that would fail every other check too. */
export const stopFor = (error: Error): Stop => ({ kind: 'stop', why: errorLine(error), error });

export type ConfirmedNode<D> = Confirmed<D, NodeConfirmation>;

interface NodeCheckDeps extends Pick<ConfirmedOptions<NodeConfirmation>, 'clock' | 'confirm'> {
  readonly policy: Policy;
}

/** Policies, node and pods, read from the API server right before a removal from the node. */
export const confirmedNode = <D>({ clock, confirm, policy }: NodeCheckDeps): ConfirmedNode<D> =>
  new Confirmed({
    clock,
    confirm,
    isSame: ({ governance }) => governance.kind === 'governed' && isSamePolicy(governance.policy, policy),
    unreadable: (err) => ({
      kind: 'stop',
      unknown: true,
      why: `policies, node and pods cannot be confirmed live: ${errorLine(err)}`,
    }),
  });

interface PassStart {
  readonly governance: () => NodeGovernance;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly policy: Policy;
  /** When the pass began, by both clocks. */
  readonly began: Moment;
}

/** Stops the pass when the cached policies have changed since the plan, or the clock has jumped since the pass began. */
export const nodeUnchanged = <D>({ governance, clock, policy, began }: PassStart): Check<D> =>
  stopIf(() => {
    const now = governance();
    if (now.kind === 'keep' || !isSamePolicy(now.policy, policy)) return 'policies have changed';
    return hasJumped(began, clock) ? 'the clock has jumped' : undefined;
  });
