import { planContainerGc } from '../../agent/containergc/plan.ts';
import { observeGone } from '../../agent/containergc/pods.ts';
import { nodeRule, type NodeGovernance } from '../../api/policy/node-governance.ts';
import { containerWarnings } from '../../gc/reasons/container-warnings.ts';
import { containerReasons } from '../../gc/reasons/containers.ts';
import { summarize } from '../../gc/summary.ts';
import type { NodePart } from '../../snapshot/plan-facts.ts';
import { listed, totalsOf, type PlanOptions, type UnitPlan } from './document.ts';

/** Plans the first pass of the agent's container GC on a node. */
export function planContainers(part: NodePart, governance: NodeGovernance, options: PlanOptions): UnitPlan {
  const { name: node, containers, sandboxes, pods, logs, orphans } = part;
  const { now, assumeElapsed: assumeGone } = options;
  const seen = { containers, sandboxes, pods, logs, orphans };
  const facts = { ...seen, sightings: observeGone(new Map(), seen, { now }) };
  const { removals, warnings, kept } = planContainerGc(facts, { governance, now, assumeGone });
  const at = { ...options, node };
  const decisions = [
    ...listed(removals, containerReasons, at),
    ...listed(warnings, containerWarnings, at),
    ...listed(kept, containerReasons, at),
  ];
  if (nodeRule(governance, 'containerGC').kind === 'keep') return { decisions, totals: undefined };
  const all = [...removals, ...warnings, ...kept];
  const { bytes, warned } = summarize(all);
  return { decisions, totals: { ...totalsOf({ unit: 'containergc', node }, all), warned, bytes } };
}
