import { isInvalid, type Policy } from '../api/policy.ts';
import type { PodGcFacts, PodGcPlan } from '../controllers/podgc/facts.ts';
import { noneSeen } from '../controllers/podgc/finish.ts';
import { noneMissing } from '../controllers/podgc/nodes.ts';
import { observe } from '../controllers/podgc/observe.ts';
import { planPodGc } from '../controllers/podgc/plan.ts';
import type { PodFacts } from '../kube/objects.ts';
import type { ByUid, World } from '../snapshot/world.ts';
import {
  Counts,
  decision,
  isListed,
  type Decision,
  type PlanOptions,
  type PodObject,
  type Totals,
  type UnitPlan,
} from './plan-document.ts';
import { deletedPodTold, keptPodTold, type PodContext } from './plan-podgc-detail.ts';

/** What the controller's pod GC would do, by its own plan. Pods that are not known have no decision. */
export function planPods(world: World, options: PlanOptions): UnitPlan {
  const policies = world.policies ?? [];
  const plan = planPodGc(factsOf(world, options), { policies, now: options.now });
  const counts = new Counts();
  const context: PodContext = { world, plan, options };
  const invalid = policies.find((policy) => isInvalid(policy));
  const decisions: Decision[] = [];
  plan.deletions.forEach((deletion, i) => {
    const { pod, reason, policy, markFailed } = deletion;
    counts.goes(reason);
    const known = { unit: 'podgc', verdict: 'Delete', reason, object: objectOf(pod) } as const;
    if (!isListed(options, known)) return;
    const told = deletedPodTold(deletion, i + 1, context);
    decisions.push({ ...decision({ ...known, ...told }, { policy, order: i + 1 }), markFailed });
  });
  plan.eachKept((pod, { reason, eligibleAtMs }, policy) => {
    counts.stays(reason, eligibleAtMs !== undefined);
    const known = { unit: 'podgc', verdict: 'Keep', reason, object: objectOf(pod) } as const;
    if (!isListed(options, known)) return;
    const told = keptPodTold({ pod, reason, policy }, context);
    const eligibleAt = eligibleAtMs === undefined ? undefined : new Date(eligibleAtMs);
    const governor = reason === 'InvalidPolicy' ? invalid : policy;
    decisions.push(decision({ ...known, ...told }, { policy: governor, eligibleAt }));
  });
  return { decisions, totals: plan.policies.length === 0 ? undefined : totalsOf(plan, counts, world) };
}

/** Long enough for every quarantine, and still a time. */
const longAgoMs = 1e14;

/** What the controller would see in its first pass. */
function factsOf(world: World, { assumeElapsed, now }: PlanOptions): PodGcFacts {
  const { facts } = observe(
    {
      pods: store(world.pods),
      nodes: store(world.nodes),
      namespaces: store(world.namespaces),
      jobs: () => store(world.jobs),
      replicaSets: () => store(world.replicaSets),
    },
    world.policies ?? [],
    { missing: noneMissing, seenFinished: noneSeen, monotonicMs: 0, maxGapMs: Infinity, now },
  );
  if (world.nodes === undefined) return { ...facts, nodes: undefined, missingForMs: new Map() };
  if (!assumeElapsed) return facts;
  return { ...facts, missingForMs: new Map([...facts.missingForMs.keys()].map((name) => [name, longAgoMs])) };
}

const store = <T>(items: ByUid<T> | undefined): { readonly items: ByUid<T>; readonly synced: boolean } => ({
  items: items ?? new Map<string, T>(),
  synced: items !== undefined,
});

const objectOf = ({ namespace, name, uid, nodeName }: PodFacts): PodObject => ({
  kind: 'Pod',
  namespace,
  name,
  uid,
  node: nodeName ?? null,
});

function totalsOf(plan: PodGcPlan, { planned, kept, waiting, reasons }: Counts, { pods }: World): Totals {
  const tripped = plan.policies.flatMap(({ policy, trippedPercent }: PolicyPercent) =>
    trippedPercent === undefined ? [] : [[policy.name, Math.round(trippedPercent)] as const],
  );
  return {
    ...{ unit: 'podgc', node: null, planned, kept, waiting, reasons },
    ...(pods === undefined && { state: 'Unknown' }),
    ...(tripped.length > 0 && { tripped: Object.fromEntries(tripped) }),
  };
}

interface PolicyPercent {
  readonly policy: Policy;
  readonly trippedPercent: number | undefined;
}
