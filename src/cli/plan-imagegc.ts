import type { NodeGovernance } from '../api/node-governance.ts';
import { isInvalid, type InvalidPolicy } from '../api/policy.ts';
import type { ImageGcFacts, ImageGcPlan, KeptImage } from '../agent/imagegc/facts.ts';
import { ruleOf } from '../agent/imagegc/governed.ts';
import { planFor } from '../agent/imagegc/pass.ts';
import { observeImages } from '../agent/imagegc/records.ts';
import type { RuntimeImage } from '../cri/runtime.ts';
import type { NodePart } from '../snapshot/world.ts';
import {
  Counts,
  decision,
  isListed,
  type Decision,
  type NodeObject,
  type PlanOptions,
  type Summary,
  type Totals,
  type UnitPlan,
} from './plan-document.ts';
import { keptImageTold, removedImageTold, type ImageContext } from './plan-imagegc-detail.ts';

/** What the agent's image GC would do on a node, by its own plan. Images that are not known have no decision. */
export function planImages(part: NodePart, governance: NodeGovernance, options: PlanOptions): UnitPlan {
  const rule = ruleOf(governance);
  const { now } = options;
  const facts = factsOf(part, now);
  const plan = planFor(rule, { facts, disk: undefined, trouble: undefined, now });
  const { policy } = governance;
  const imageGC = rule.kind === 'governed' ? rule.imageGC : undefined;
  const object = objectIn(part.name);
  const context: ImageContext = {
    ...{ node: part.name, plan, imageGC, containers: part.containers ?? [] },
    invalid: invalidOf(governance),
  };
  const counts = new Counts();
  const decisions: Decision[] = [];
  plan.removals.forEach((removal, i) => {
    const { image, reason } = removal;
    counts.goes(reason, image.sizeBytes);
    const known = { unit: 'imagegc', verdict: 'Remove', reason, object: object(image) } as const;
    if (!isListed(options, known)) return;
    const told = removedImageTold(removal, i + 1, context);
    decisions.push(decision({ ...known, ...told }, { policy, order: i + 1, bytes: image.sizeBytes }));
  });
  for (const one of plan.kept) {
    const { image, reason } = one;
    counts.stays(reason, one.eligibleAtMs !== undefined);
    const known = { unit: 'imagegc', verdict: 'Keep', reason, object: object(image) } as const;
    if (!isListed(options, known)) continue;
    const rest = { policy, eligibleAt: eligibleAt(one), bytes: image.sizeBytes };
    decisions.push(decision({ ...known, ...keptImageTold(one, context) }, rest));
  }
  if (rule.kind !== 'governed') return { decisions, totals: undefined };
  const summary = summaryOf(part, plan, counts);
  return { decisions, totals: totalsOf(summary, counts), summary };
}

function factsOf(part: NodePart, now: Date): ImageGcFacts {
  const { images: listed = [], containers, pods, disk, mounted, sandboxImage } = part;
  const { state } = observeImages(part.state, { images: listed, containers: containers ?? [], mounted, now });
  return { ...state, listed, containers, pods, disk, mounted, sandboxImage };
}

const invalidOf = ({ policy }: NodeGovernance): InvalidPolicy | undefined =>
  policy !== undefined && isInvalid(policy) ? policy : undefined;

const eligibleAt = ({ eligibleAtMs }: KeptImage): Date | undefined =>
  eligibleAtMs === undefined ? undefined : new Date(eligibleAtMs);

const objectIn =
  (node: string) =>
  ({ id, tags, digests }: RuntimeImage): NodeObject => {
    const name = tags[0] ?? digests[0];
    return { kind: 'Image', id, node, ...(name !== undefined && { name }) };
  };

function summaryOf(part: NodePart, plan: ImageGcPlan, { waiting }: Counts): Summary {
  return {
    unit: 'imagegc',
    node: part.name,
    state: part.images === undefined ? 'Unknown' : plan.state,
    wantedBytes: plan.wantedBytes,
    plannedBytes: plan.plannedBytes,
    usedPercent: plan.usedPercent ?? null,
    waiting,
  };
}

const totalsOf = (
  { unit, node, state }: Summary,
  { planned, kept, waiting, reasons, bytes }: Counts,
): Totals => ({ unit, node, planned, kept, waiting, reasons, bytes, state });
