import type { NodeGovernance } from '../api/node-governance.ts';
import type { ImageGcFacts, ImageGcPlan, KeptImage } from '../agent/imagegc/facts.ts';
import { ruleOf } from '../agent/imagegc/governed.ts';
import { planFor } from '../agent/imagegc/pass.ts';
import { observeImages } from '../agent/imagegc/records.ts';
import type { RuntimeImage } from '../cri/runtime.ts';
import type { NodePart } from '../snapshot/world.ts';
import {
  Counts,
  decision,
  type NodeObject,
  type PlanOptions,
  type Summary,
  type UnitPlan,
} from './plan-document.ts';
import { keptImageDetail, removedImageDetail } from './plan-imagegc-detail.ts';

/** What the agent's image GC would do on a node, by its own plan. Images that are not known have no decision. */
export function planImages(part: NodePart, governance: NodeGovernance, options: PlanOptions): UnitPlan {
  const rule = ruleOf(governance);
  const { now } = options;
  const facts = factsOf(part, now);
  const plan = planFor(rule, { facts, disk: undefined, trouble: undefined, now });
  const policy = rule.kind === 'governed' ? rule.policy : policyOf(governance);
  const imageGC = rule.kind === 'governed' ? rule.imageGC : undefined;
  const object = objectIn(part.name);
  const counts = new Counts();
  const removals = plan.removals.map((removal, i) => {
    counts.goes(removal.reason);
    const { image, reason } = removal;
    const detail = removedImageDetail(removal, { plan, imageGC });
    const known = { unit: 'imagegc', verdict: 'Remove', reason, object: object(image), detail } as const;
    return decision(known, { policy, order: i + 1, bytes: image.sizeBytes });
  });
  const kept = plan.kept.map((one) => {
    counts.stays(one.reason, one.eligibleAtMs !== undefined);
    const { image, reason } = one;
    const detail = keptImageDetail(one, { plan, imageGC });
    const known = { unit: 'imagegc', verdict: 'Keep', reason, object: object(image), detail } as const;
    return decision(known, { policy, eligibleAt: eligibleAt(one), bytes: image.sizeBytes });
  });
  const summary = rule.kind === 'governed' ? summaryOf(part, plan, counts) : undefined;
  return { decisions: [...removals, ...(options.kept ? kept : [])], summary };
}

function factsOf(part: NodePart, now: Date): ImageGcFacts {
  const { images: listed = [], containers, pods, disk, mounted } = part;
  const { state } = observeImages(part.state, { images: listed, containers: containers ?? [], mounted, now });
  return { ...state, listed, containers, pods, disk, mounted };
}

/** Whose word it is that nothing is touched. */
function policyOf(governance: NodeGovernance): { name: string; mode: 'DryRun' | 'Enforce' } | undefined {
  const { policy } = governance;
  return policy === undefined || 'problems' in policy ? undefined : policy;
}

const eligibleAt = ({ eligibleAtMs }: KeptImage): Date | undefined =>
  eligibleAtMs === undefined ? undefined : new Date(eligibleAtMs);

const objectIn =
  (node: string) =>
  ({ id, tags, digests }: RuntimeImage): NodeObject => {
    const name = tags[0] ?? digests[0];
    return { kind: 'Image', id, node, ...(name !== undefined && { name }) };
  };

function summaryOf(part: NodePart, plan: ImageGcPlan, { reasons, kept, waiting }: Counts): Summary {
  return {
    unit: 'imagegc',
    node: part.name,
    state: part.images === undefined ? 'Unknown' : plan.state,
    wantedBytes: plan.wantedBytes,
    plannedBytes: plan.plannedBytes,
    usedPercent: plan.usedPercent ?? null,
    ...{ planned: plan.removals.length, kept, waiting, reasons },
  };
}
