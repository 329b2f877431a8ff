import { planImageGc } from '../../agent/imagegc/plan.ts';
import { observeImages } from '../../agent/imagegc/records.ts';
import { nodeRule, type NodeGovernance } from '../../api/policy/node-governance.ts';
import { imageReasons } from '../../gc/reasons/images.ts';
import { summarize } from '../../gc/summary.ts';
import type { NodePart } from '../../snapshot/world.ts';
import { listed, type PlanOptions, type UnitPlan } from './document.ts';

/** What the agent's image GC would do on a node, by its own plan. Images that are not known have no decision. */
export function planImages(part: NodePart, governance: NodeGovernance, options: PlanOptions): UnitPlan {
  const { name: node, containers, pods, disk, mounted, sandboxImage } = part;
  const { now } = options;
  const { images = [] } = part;
  const { state } = observeImages(part.state, { images, containers: containers ?? [], mounted, now });
  const facts = { ...state, listed: images, containers, pods, disk, mounted, sandboxImage };
  const plan = planImageGc(facts, { governance, now });
  const all = [...plan.removals, ...plan.kept];
  const decisions = listed(all, imageReasons, { ...options, node });
  if (nodeRule(governance, 'imageGC').kind === 'keep') return { decisions, totals: undefined };
  const { planned, kept, waiting, reasons, bytes } = summarize(all);
  const { wantedBytes, plannedBytes, usedPercent = null } = plan;
  const summary = {
    unit: 'imagegc',
    ...{ node, state: part.images === undefined ? 'Unknown' : plan.state },
    ...{ wantedBytes, plannedBytes, usedPercent, waiting },
  } as const;
  const totals = {
    unit: 'imagegc',
    node,
    planned,
    kept,
    waiting,
    reasons,
    bytes,
    state: summary.state,
  } as const;
  return { decisions, totals, summary };
}
