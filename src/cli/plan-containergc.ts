import type { NodeGovernance } from '../api/node-governance.ts';
import type { ContainerGcPolicy, Policy } from '../api/policy.ts';
import type { NodeKeepReason } from '../api/reasons.ts';
import {
  logsOfSnapshot,
  type ContainerGcFacts,
  type ContainerGcObject,
  type ContainerGcPlan,
  type Decision as UnitDecision,
} from '../agent/containergc/facts.ts';
import { planContainerGc } from '../agent/containergc/plan.ts';
import { observeGone, podRefOf } from '../agent/containergc/pods.ts';
import { keepAllContainers } from '../agent/containergc/ungoverned.ts';
import type { NodePart } from '../snapshot/world.ts';
import { containerDetail } from './plan-containergc-detail.ts';
import {
  Counts,
  decision,
  type Decision,
  type NodeObject,
  type PlanOptions,
  type UnitPlan,
} from './plan-document.ts';

/** What the agent's container GC would do on a node in its first pass, by its own plan. */
export function planContainers(part: NodePart, governance: NodeGovernance, options: PlanOptions): UnitPlan {
  const facts = factsOf(part);
  const rule = ruleOf(governance);
  const plan = planOf(facts, rule, options);
  const counts = new Counts();
  const toDecision = (one: UnitDecision, order: number | undefined): Decision => {
    const { verdict, reason, bytes } = one;
    const eligibleAt = one.verdict === 'Keep' ? one.eligibleAt : undefined;
    if (verdict === 'Keep') counts.stays(reason, eligibleAt !== undefined);
    else counts.goes(reason);
    const object = objectOf(one.object, part.name);
    const detail = containerDetail(one, rule.containerGC);
    return decision(
      { unit: 'containergc', verdict, reason, object, detail },
      { policy: rule.policy, order, eligibleAt, bytes },
    );
  };
  const removals = plan.removals.map((one, i) => toDecision(one, i + 1));
  const kept = plan.kept.map((one) => toDecision(one, undefined));
  return {
    decisions: [...removals, ...(options.kept ? kept : [])],
    summary:
      rule.containerGC === undefined
        ? undefined
        : {
            ...{ unit: 'containergc', node: part.name, planned: removals.length },
            ...{ kept: counts.kept, waiting: counts.waiting, reasons: counts.reasons },
          },
  };
}

type Rule =
  | { readonly containerGC: ContainerGcPolicy; readonly policy: Policy }
  | {
      readonly containerGC: undefined;
      readonly reason: NodeKeepReason;
      readonly policy: Policy | undefined;
    };

function ruleOf(governance: NodeGovernance): Rule {
  const { policy } = governance;
  if (governance.kind === 'keep') {
    const valid = policy === undefined || 'problems' in policy ? undefined : policy;
    return { containerGC: undefined, reason: governance.reason, policy: valid };
  }
  const { containerGC } = governance.nodes;
  if (containerGC === undefined) return { containerGC, reason: 'RuleOff', policy: governance.policy };
  return { containerGC, policy: governance.policy };
}

function factsOf({ containers, sandboxes, pods, logs }: NodePart): ContainerGcFacts {
  const listing = logs === undefined || 'roots' in logs ? logs : logsOfSnapshot(logs);
  const seen = { containers, sandboxes, pods, logs: listing };
  return { ...seen, sightings: observeGone(new Map(), seen) };
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
