import { podsOfBoth, type ConfirmNode } from '../../api/node-confirmation.ts';
import type { ImageGcPolicy, Policy } from '../../api/policy/policy.ts';
import { clocksAgree, confirmedNode, goOn, orError, stopFor, type ConfirmedNode } from '../../gc/checks.ts';
import type { Check } from '../../gc/execute.ts';
import { Live } from '../../gc/live.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import type { ImageGcFacts, ImageRemoval } from './facts.ts';
import { recheckImage } from './plan.ts';

export interface ImageCheckDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly confirm: ConfirmNode;
  /** Lists images and containers anew and reads the pods as the cache has them then. */
  readonly observe: (signal: AbortSignal) => Promise<Omit<ImageGcFacts, 'disk'>>;
  /** Why the pass must end by what this process knows: other policies, a clock that jumped. */
  readonly halted: () => string | undefined;
}

/** What the plan was made from. */
interface Planned {
  readonly policy: Policy;
  readonly rule: ImageGcPolicy;
  readonly now: Date;
}

/** What must be true right before an image is removed. */
export function imageChecks(
  { clock, confirm, observe, halted }: ImageCheckDeps,
  { policy, rule, now }: Planned,
): { readonly checks: readonly Check<ImageRemoval>[]; readonly node: ConfirmedNode<ImageRemoval> } {
  const node = confirmedNode<ImageRemoval>({ confirm, policy, clock });
  // Listed anew for each image: a container may have been created since the last one.
  const listing = new Live<ImageRemoval, Omit<ImageGcFacts, 'disk'> | Error>({
    ...{ clock, maxDecisions: 1 },
    ask: orError((_, signal) => observe(signal)),
  });
  const stillUnused: Check<ImageRemoval> = {
    name: 'stillUnused',
    live: listing,
    objection: (decision) => {
      const facts = listing.answer(decision);
      if (facts === undefined || facts instanceof Error) return stopFor(facts ?? unlisted);
      const pods = podsOfBoth(facts.pods, node.for(decision)?.pods ?? []);
      const kept = recheckImage(decision.target.id, { ...facts, pods, disk: undefined }, { rule, now });
      if (kept === undefined) return undefined;
      return kept === 'Gone' ? { kind: 'gone' } : { kind: 'keep', reason: kept };
    },
  };
  const clocks = clocksAgree(node, ({ reason }) => reason === 'Age');
  return { checks: [goOn('goOn', halted), node.check, clocks, stillUnused], node };
}

const unlisted = new Error('the images are not listed');
