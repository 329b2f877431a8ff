import type { NodeGovernance } from '../api/node-governance.ts';
import { isInvalid, type ContainerGcPolicy } from '../api/policy.ts';
import type { NodeKeepReason } from '../api/reasons.ts';
import {
  type ContainerGcFacts,
  type ContainerGcObject,
  type ContainerGcPlan,
  type Decision as UnitDecision,
} from '../agent/containergc/facts.ts';
import { planContainerGc } from '../agent/containergc/plan.ts';
import { endOf, observeGone, podRefOf } from '../agent/containergc/pods.ts';
import { keepAllContainers } from '../agent/containergc/ungoverned.ts';
import type { NodePart } from '../snapshot/world.ts';
import { containerTold, deadContainers, type ContainerContext } from './plan-containergc-detail.ts';
import {
  Counts,
  decision,
  isListed,
  type Decision,
  type NodeObject,
  type PlanOptions,
  type Totals,
  type UnitPlan,
} from './plan-document.ts';

/** What the agent's container GC would do on a node in its first pass, by its own plan. */
export function planContainers(part: NodePart, governance: NodeGovernance, options: PlanOptions): UnitPlan {
  const facts = factsOf(part, options.now);
  const rule = ruleOf(governance);
  const plan = planOf(facts, rule, options);
  const { policy } = governance;
  const context: ContainerContext = {
    ...{ node: part.name, policy: rule.containerGC, dead: deadContainers(plan) },
    ends: new Map(part.pods?.map((pod) => [pod.uid, endOf(pod, options.now)])),
    invalid: policy !== undefined && isInvalid(policy) ? policy : undefined,
  };
  const counts = new Counts();
  const decisions: Decision[] = [];
  const add = (one: UnitDecision, order: number | undefined): void => {
    const { verdict, reason, bytes } = one;
    const eligibleAt = one.verdict === 'Keep' ? one.eligibleAt : undefined;
    if (verdict === 'Keep') counts.stays(reason, eligibleAt !== undefined);
    else counts.goes(reason, bytes);
    const known = { unit: 'containergc', verdict, reason, object: objectOf(one.object, part.name) } as const;
    if (!isListed(options, known)) return;
    const told = containerTold(one, context);
    decisions.push(decision({ ...known, ...told }, { policy, order, eligibleAt, bytes }));
  };
  plan.removals.forEach((one, i) => {
    add(one, i + 1);
  });
  for (const one of plan.kept) add(one, undefined);
  return { decisions, totals: rule.containerGC === undefined ? undefined : totalsOf(part, counts) };
}

const totalsOf = ({ name }: NodePart, { planned, kept, waiting, reasons, bytes }: Counts): Totals => ({
  ...{ unit: 'containergc', node: name, planned, kept, waiting, reasons, bytes },
});

type Rule =
  | { readonly containerGC: ContainerGcPolicy }
  | { readonly containerGC: undefined; readonly reason: NodeKeepReason };

function ruleOf(governance: NodeGovernance): Rule {
  if (governance.kind === 'keep') return { containerGC: undefined, reason: governance.reason };
  const { containerGC } = governance.nodes;
  return containerGC === undefined ? { containerGC, reason: 'RuleOff' } : { containerGC };
}

function factsOf({ containers, sandboxes, pods, logs }: NodePart, now: Date): ContainerGcFacts {
  const seen = { containers, sandboxes, pods, logs };
  return { ...seen, sightings: observeGone(new Map(), seen, now) };
}

function planOf(facts: ContainerGcFacts, rule: Rule, { now, assumeElapsed }: PlanOptions): ContainerGcPlan {
  if (rule.containerGC === undefined) return keepAllContainers(facts, rule.reason);
  return planContainerGc(facts, { policy: rule.containerGC, now, assumeGone: assumeElapsed });
}

function objectOf(object: ContainerGcObject, node: string): NodeObject {
  switch (object.kind) {
    case 'container': {
      const { id, name } = object.container;
      return { kind: 'Container', id, node, name, ...podOf(podRefOf(object.container)) };
    }
    case 'sandbox':
      return { kind: 'Sandbox', id: object.sandbox.id, node, ...podOf(podRefOf(object.sandbox)) };
    case 'logDirectory':
      return { kind: 'LogDirectory', path: object.path, node, ...podOf(object.pod) };
    case 'logLink':
      return { kind: 'LogLink', path: object.path, node };
    case 'logFile':
      return { kind: 'LogFile', path: object.path, node };
  }
}

function podOf(
  pod: { readonly namespace: string | undefined; readonly name: string | undefined } | undefined,
): { pod?: string } {
  return pod?.namespace === undefined || pod.name === undefined
    ? {}
    : { pod: `${pod.namespace}/${pod.name}` };
}
