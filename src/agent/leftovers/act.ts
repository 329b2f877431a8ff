import type { Policy } from '../../api/policy/policy.ts';
import type { StepResult } from '../../gc/execute.ts';
import { FailureMemory } from '../../gc/failures.ts';
import { carryOut, type PassResults } from '../../gc/pass.ts';
import { isHopeless, isRuntimeDown } from '../../gc/runtime-failures.ts';
import type { Moment } from '../../runtime/scheduling/jump.ts';
import { leftoverChecks, type LeftoversContext } from './checks.ts';
import type { LeftoverRemoval } from './facts.ts';

interface PlannedRemovals {
  readonly removals: readonly LeftoverRemoval[];
  readonly policy: Policy;
  readonly began: Moment;
  readonly failures: FailureMemory<LeftoverRemoval>;
}

/** Carries out the removals of one pass, in order. Removes nothing in mode DryRun. */
export const removeLeftovers = (
  context: LeftoversContext,
  { removals, policy, began, failures }: PlannedRemovals,
  signal: AbortSignal,
): Promise<PassResults<LeftoverRemoval>> => {
  const { metrics, log, clock, onProgress, containerd } = context;
  return carryOut(
    removals,
    { unit: 'leftovers', metrics, log },
    {
      checks: leftoverChecks(context, policy, began),
      steps: [(removal) => remove(removal, containerd)],
      clock,
      concurrency: 1,
      isHopeless,
      fieldsOf: ({ target: { id, name, leftover } }) => ({ leftover: id, name, holder: leftover.holder }),
      failures,
      onProgress,
    },
    signal,
  );
};

/** Removes the reference that keeps it; only containerd deletes. A sent request is awaited until its own deadline. */
async function remove(
  { target: { leftover }, bytes: freedBytes = 0 }: LeftoverRemoval,
  containerd: LeftoversContext['containerd'],
): Promise<StepResult> {
  const unaborted = new AbortController().signal;
  const [kind, id = ''] = leftover.holder.split(/ (.*)/, 2);
  switch (kind) {
    case 'lease':
      return (await containerd.deleteLease(id, unaborted)) ? { kind: 'done', freedBytes } : { kind: 'gone' };
    case 'download':
      return (await containerd.abort(id, unaborted)) ? { kind: 'done', freedBytes } : { kind: 'gone' };
    case 'nothing':
      await containerd.collect(unaborted);
      return { kind: 'done', freedBytes };
    default:
      return { kind: 'keep', reason: 'HeldByOther' };
  }
}

export const leftoverFailures = (): FailureMemory<LeftoverRemoval> =>
  new FailureMemory({ keyOf: ({ target }) => target.id, isOfObject: (err) => !isRuntimeDown(err) });
