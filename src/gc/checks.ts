import type { ConfirmNode, NodeConfirmation } from '../api/node-confirmation.ts';
import { isSamePolicy } from '../api/policy/node-governance.ts';
import type { Policy } from '../api/policy/policy.ts';
import type { Clock } from '../runtime/scheduling/clock.ts';
import { errorLine } from '../runtime/errors.ts';
import type { Check, Stop } from './execute.ts';
import { Live } from './live.ts';

/** More than synchronised clocks differ by; beyond it no age is judged. */
const tolerableSkewMs = 60_000;

/** Whether our clock and the API server's differ too much to judge an age. */
const isSkewed = (clockSkewMs: number): boolean => Math.abs(clockSkewMs) > tolerableSkewMs;

/** `the clock of this node is 61 s ahead of the API server's`; undefined = the clocks agree. */
export function skewText(clockSkewMs: number): string | undefined {
  if (!isSkewed(clockSkewMs)) return undefined;
  const side = clockSkewMs > 0 ? 'ahead of' : 'behind';
  return `the clock of this node is ${Math.round(Math.abs(clockSkewMs) / 1000)} s ${side} the API server's`;
}

/** Stops the pass when `why` gives a reason: for what this process knows by itself. */
export const goOn = <D>(name: string, why: () => string | undefined): Check<D> => ({
  name,
  objection: () => {
    const reason = why();
    return reason === undefined ? undefined : { kind: 'stop', why: reason };
  },
});

/** A question whose failure is an answer: a check decides what follows from it. */
export const orError =
  <D, A>(ask: (decision: D, signal: AbortSignal) => Promise<A>) =>
  async (decision: D, signal: AbortSignal): Promise<A | Error> => {
    try {
      return await ask(decision, signal);
    } catch (err) {
      return err instanceof Error ? err : new Error(String(err));
    }
  };

interface Confirming<A> {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Reads the policies, and what else the pass depends on, live. */
  readonly confirm: (signal: AbortSignal) => Promise<A>;
  /** Whether the policies are still those of the plan. */
  readonly isSame: (confirmation: A) => boolean;
  readonly unreadable: (error: Error) => Stop;
}

/** What the API server says right before something is deleted or removed. */
export class Confirmed<D, A extends { readonly clockSkewMs: number }> {
  readonly #live: Live<D, A | Error>;
  /** Stops the pass when it cannot be read, or when the policies are not those of the plan any more. */
  readonly check: Check<D>;

  constructor({ clock, confirm, isSame, unreadable }: Confirming<A>) {
    const live = new Live<D, A | Error>({ clock, ask: orError((_, signal) => confirm(signal)) });
    this.#live = live;
    this.check = {
      name: 'policiesUnchanged',
      live,
      objection: (decision) => {
        const answer = live.answer(decision);
        if (answer instanceof Error) return unreadable(answer);
        return answer !== undefined && isSame(answer)
          ? undefined
          : { kind: 'stop', why: 'policies have changed' };
      },
    };
  }

  /** The last confirmation; undefined = there is none. */
  for(decision: D): A | undefined {
    const answer = this.#live.answer(decision);
    return answer instanceof Error ? undefined : answer;
  }

  /** By how much our clock is ahead of the API server's; 0 where nothing is confirmed. */
  clockSkewMs(decision: D): number {
    return this.for(decision)?.clockSkewMs ?? 0;
  }
}

/** Keeps what is judged by its age while our clock and the API server's differ too much. */
export const clocksAgree = <D>(
  confirmed: Pick<Confirmed<D, { readonly clockSkewMs: number }>, 'clockSkewMs'>,
  isAged: (decision: D) => boolean,
): Check<D> => ({
  name: 'clocksAgree',
  objection: (decision) =>
    isAged(decision) && isSkewed(confirmed.clockSkewMs(decision))
      ? { kind: 'keep', reason: 'ClockUnsure' }
      : undefined,
});

/** Stops the pass for a failure: nothing else could be checked either. */
export const stopFor = (error: Error): Stop => ({ kind: 'stop', why: errorLine(error), error });

export type ConfirmedNode<D> = Confirmed<D, NodeConfirmation>;

interface NodeCheckDeps extends Pick<Confirming<NodeConfirmation>, 'clock'> {
  readonly confirm: ConfirmNode;
  /** What the plan was made from. */
  readonly policy: Policy;
}

/** Policies, node and pods, as the API server has them right before something is removed from the node. */
export const confirmedNode = <D>({ clock, confirm, policy }: NodeCheckDeps): ConfirmedNode<D> =>
  new Confirmed({
    ...{ clock, confirm },
    isSame: ({ governance }) => governance.kind === 'governed' && isSamePolicy(governance.policy, policy),
    unreadable: (err) => ({
      ...{ kind: 'stop', unknown: true },
      why: `policies, node and pods cannot be confirmed live: ${errorLine(err)}`,
    }),
  });
