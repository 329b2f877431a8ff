import type { ImageGcPolicy, Policy } from '../../api/policy/policy.ts';
import { hasAllFor } from '../../api/wanted-images.ts';
import {
  clocksAgree,
  confirmedNode,
  nodeUnchanged,
  resultOrError,
  stopFor,
  type ConfirmedNode,
} from '../../gc/checks.ts';
import type { Check } from '../../gc/execute.ts';
import { LiveQuery } from '../../gc/live.ts';
import type { Moment } from '../../runtime/scheduling/jump.ts';
import type { RemoverContext } from '../context.ts';
import { isDueAnyway, type ImageGcFacts, type ImageRemoval } from './facts.ts';
import { recheckImage } from './plan.ts';

export interface ImageCheckDeps extends RemoverContext {
  /** Lists images and containers, then reads the pods from the cache. */
  readonly observe: (signal: AbortSignal) => Promise<Omit<ImageGcFacts, 'disk'>>;
}

export interface PlanBasis {
  readonly facts: Pick<ImageGcFacts, 'wanted'>;
  readonly policy: Policy;
  readonly rule: ImageGcPolicy;
  readonly now: Date;
  readonly began: Moment;
}

/** Conditions that must hold right before an image is removed. */
export function imageChecks(
  { clock, governance, live, observe }: ImageCheckDeps,
  { facts: { wanted }, policy, rule, now, began }: PlanBasis,
): { readonly checks: readonly Check<ImageRemoval>[]; readonly node: ConfirmedNode<ImageRemoval> } {
  const unchanged = nodeUnchanged<ImageRemoval>({ governance, clock, policy, began });
  const node = confirmedNode<ImageRemoval>({ confirm: (signal) => live.confirm(signal), policy, clock });
  // Other labels may let other workloads run on the node.
  const sameWanted: Check<ImageRemoval> = {
    objection: (decision) =>
      rule.pinWanted && !hasAllFor(node.response(decision)?.labels, wanted)
        ? { kind: 'stop', why: 'labels of the node have changed: other workloads can run there' }
        : undefined,
  };
  // Listed again for each image: a container may have been created since the last listing.
  const listing = new LiveQuery<ImageRemoval, Omit<ImageGcFacts, 'disk'> | Error>({
    clock,
    maxDecisions: 1,
    query: resultOrError((_, signal) => observe(signal)),
  });
  const stillUnused: Check<ImageRemoval> = {
    live: listing,
    objection: (decision) => {
      const facts = listing.response(decision);
      if (facts === undefined || facts instanceof Error) return stopFor(facts ?? unlisted);
      // A pod that only the cache or only the live list has is protected too.
      const pods = facts.pods && [...facts.pods, ...(node.response(decision)?.pods ?? [])];
      const kept = recheckImage(decision, { ...facts, pods, disk: undefined }, { rule, now });
      if (kept === undefined) return undefined;
      return kept === 'Gone' ? { kind: 'gone' } : { kind: 'keep', reason: kept };
    },
  };
  // Both an age and the end of an entry of the remove list depend on the clock.
  const clocks = clocksAgree(node, ({ reason }) => isDueAnyway(reason));
  return { checks: [unchanged, node.check, sameWanted, clocks, stillUnused], node };
}

const unlisted = new Error('the images are unknown');
