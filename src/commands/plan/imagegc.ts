import { planImageGc } from '../../agent/imagegc/plan.ts';
import { observeImages } from '../../agent/imagegc/records.ts';
import { nodeRule, type NodeGovernance } from '../../api/policy/node-governance.ts';
import { imageReasons } from '../../gc/reasons/images.ts';
import { summarize } from '../../gc/summary.ts';
import type { NodePart } from '../../snapshot/plan-facts.ts';
import { listed, totalsOf, type PlanOptions, type UnitPlan } from './document.ts';

/** Plans the agent's image GC on a node. Images that are not known have no decision. */
export function planImages(part: NodePart, governance: NodeGovernance, options: PlanOptions): UnitPlan {
  const { name: node, images = [], containers, pods, disk, mounted, sandboxImage } = part;
  const { now } = options;
  const observed = observeImages(part.state, { images, containers: containers ?? [], mounted, now });
  const facts = { ...observed.state, listed: images, containers, pods, disk, mounted, sandboxImage };
  const plan = planImageGc(facts, { governance, now });
  const all = [...plan.removals, ...plan.kept];
  const decisions = listed(all, imageReasons, { ...options, node });
  if (nodeRule(governance, 'imageGC').kind === 'keep') return { decisions, totals: undefined };
  const { wantedBytes, plannedBytes, usedPercent = null, usedInodesPercent = null } = plan;
  const { wantedInodes, plannedInodes, crossed } = plan;
  const inodes = { wantedInodes, plannedInodes, usedInodesPercent };
  const { waiting, bytes } = summarize(all);
  const place = { unit: 'imagegc', node } as const;
  const state = part.images === undefined ? 'Unknown' : plan.state;
  return {
    decisions,
    totals: { ...totalsOf(place, all), bytes, state },
    summary: { ...place, state, crossed, wantedBytes, plannedBytes, usedPercent, ...inodes, waiting },
  };
}
