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
export const isSkewed = (clockSkewMs: number): boolean => Math.abs(clockSkewMs) > tolerableSkewMs;

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

/** Stops the pass when a live answer cannot be had, or says that the policies are not those of the plan any more. */
export const policiesUnchanged = <D, A>(
  live: Live<D, A | Error>,
  isSame: (answer: A) => boolean,
  unreadable: (error: Error) => Stop,
): Check<D> => ({
  name: 'policiesUnchanged',
  live,
  objection: (decision) => {
    const answer = live.answer(decision);
    if (answer instanceof Error) return unreadable(answer);
    return answer !== undefined && isSame(answer)
      ? undefined
      : { kind: 'stop', why: 'policies have changed' };
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

interface NodeCheckDeps {
  readonly confirm: ConfirmNode;
  /** What the plan was made from. */
  readonly policy: Policy;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** What the API server says of a node right before something is removed from it. */
export class ConfirmedNode<D> {
  readonly #live: Live<D, NodeConfirmation | Error>;
  /** Stops the pass when policies, node and pods cannot be read, or the policy of the node has changed. */
  readonly check: Check<D>;

  constructor({ confirm, policy, clock }: NodeCheckDeps) {
    this.#live = new Live({ clock, ask: orError((_, signal) => confirm(signal)) });
    const isSame = ({ governance }: NodeConfirmation): boolean =>
      governance.kind === 'governed' && isSamePolicy(governance.policy, policy);
    this.check = policiesUnchanged(this.#live, isSame, (err) => ({
      ...{ kind: 'stop', unknown: true },
      why: `policies, node and pods cannot be confirmed live: ${errorLine(err)}`,
    }));
  }

  /** The last confirmation; undefined = there is none. */
  for(decision: D): NodeConfirmation | undefined {
    const answer = this.#live.answer(decision);
    return answer instanceof Error ? undefined : answer;
  }
}
