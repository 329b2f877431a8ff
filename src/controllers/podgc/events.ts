import type { EventSpec } from '../../kube/events/recorder.ts';
import type { Policy } from '../../api/policy/policy.ts';
import type { RankedPolicies } from '../../api/policy/policy-set.ts';
import type { OpenBreakers } from '../../gc/open-breaker.ts';
import {
  eventAnnotations as keys,
  ownerRef,
  podRef,
  policyRef,
  type ObjectRef,
} from '../../api/event-refs.ts';
import { holdText } from '../../gc/reasons/hold-words.ts';
import type { PodDeletion, PodGcFacts, PodGcPlan, PolicyVerdicts } from './facts.ts';
import type { StuckPod } from './stuck.ts';
import { ownerOf } from './terminated.ts';

/** How many pods an Event names. */
const namesShown = 5;

type DeletedPod = Pick<PodDeletion, 'reason' | 'policy'> & {
  readonly target: Pick<PodDeletion['target'], 'pod'>;
};

/** Pods of one owner that were deleted for one reason. */
interface Collected {
  readonly regarding: ObjectRef;
  readonly first: DeletedPod;
  /** The names of all pods. */
  readonly names: string[];
}

/** The recorder accepts 200 new Events at once, and earlier passes may have used some of them. */
const fewGroups = 100;

/** The pods that a pass deleted, by owner and reason. */
export class CollectedByOwner {
  readonly #owners: PodGcFacts['owners'];
  readonly #groups = new Map<string, Collected>();

  constructor(owners: PodGcFacts['owners']) {
    this.#owners = owners;
  }

  add(deletion: DeletedPod): void {
    const { reason } = deletion;
    const { pod } = deletion.target;
    const owner = ownerOf(pod, this.#owners);
    const regarding = ownerRef(owner, pod.namespace) ?? podRef(pod);
    // Pods of two namespaces may name one owner UID.
    const key = `${regarding.namespace ?? ''}/${regarding.uid} ${reason}`;
    const known = this.#groups.get(key);
    if (known === undefined) this.#groups.set(key, { regarding, first: deletion, names: [pod.name] });
    else known.names.push(pod.name);
  }

  /** Whether there are so many groups that the recorder may drop some of their Events. */
  get isBacklog(): boolean {
    return this.#groups.size > fewGroups;
  }

  groups(): Iterable<Collected> {
    return this.#groups.values();
  }
}

/**
 * One Event for each owner and reason of a pass, however many pods were deleted. It is about the owner, which outlives them, or about a pod without
 * one. A series of several passes would name the pods of the first alone.
 */
export function podsCollected({ regarding, first, names }: Collected, at: Date): EventSpec {
  const { reason, policy } = first;
  const shown = names.slice(0, namesShown);
  const more = names.length - shown.length;
  const others = more > 0 ? ` and ${more} more` : '';
  return {
    regarding,
    type: 'Normal',
    reason: 'PodCollected',
    action: 'Collect',
    note: `Deleted ${podCount(names.length)} (${reason}, policy ${policy.name}): ${shown.join(', ')}${others}`,
    annotations: {
      [keys.reason]: reason,
      [keys.policy]: policy.name,
      [keys.names]: shown.join(),
      [keys.more]: String(more),
    },
    occasion: at.toISOString(),
    joins: true,
  };
}

/** One summary Event per policy when a pass deleted pods of too many owners to report each. */
export const backlogCollected = (policy: Policy, pods: number): EventSpec => ({
  regarding: policyRef(policy),
  type: 'Normal',
  reason: 'BacklogCollected',
  action: 'Collect',
  note: `Deleted ${podCount(pods)} in one pass; not every owner has an Event. The controller logs every pod`,
});

const podCount = (count: number): string => `${count} ${count === 1 ? 'pod' : 'pods'}`;

/** An Event of a pass that is recorded once, when its condition begins. */
interface Notice {
  /** Identifies the condition. */
  readonly key: string;
  readonly event: EventSpec;
}

/** The Events of a pass besides those of its deletions: circuit breakers that are open, and large deletions that wait. */
export const notices = ({ policies }: PodGcPlan, now: Date): readonly Notice[] => [
  ...policies.flatMap(tripped),
  ...policies.flatMap((verdicts) => holding(verdicts, now)),
];

/** What an earlier controller has recorded: the circuit breakers that it left open. */
export const noticedBefore = (policies: RankedPolicies, open: OpenBreakers): readonly string[] =>
  policies.filter(({ name }) => open.has(name)).map(keyOfOpen);

const keyOfOpen = ({ uid }: Pick<Policy, 'uid'>): string => `open ${uid}`;

/** The circuit breaker for orphans is open: no orphan is deleted until fewer nodes are missing and another quarantine has passed. */
function tripped({ policy, missingNodes, trippedPercent: percent }: PolicyVerdicts): readonly Notice[] {
  if (percent === undefined) return [];
  const limit = String(policy.pods?.safety.maxOrphanedNodesPercent);
  const event: EventSpec = {
    regarding: policyRef(policy),
    type: 'Warning',
    reason: 'Tripped',
    action: 'KeepOrphans',
    note: `Nodes missing, now or lost within an hour: ${missingNodes}, ${Math.round(percent)} % of all; above ${limit} % (safety.maxOrphanedNodesPercent) dustpan deletes no orphaned pod`,
  };
  return [{ key: keyOfOpen(policy), event }];
}

/** The first large deletion by new rules waits. */
function holding(
  { policy, selected, governed, holdLeftMs: leftMs }: PolicyVerdicts,
  now: Date,
): readonly Notice[] {
  if (leftMs === undefined) return [];
  const removal = `delete ${selected} of ${podCount(governed)}`;
  const event: EventSpec = {
    regarding: policyRef(policy),
    type: 'Warning',
    reason: 'Holding',
    action: 'Hold',
    note: holdText(policy, removal, new Date(now.getTime() + leftMs)),
    occasion: policy.rulesId,
  };
  return [{ key: `hold ${policy.rulesId}`, event }];
}

/** A pod that is stuck; a series while it is for one cause. */
export const podStuck = ({ pod, obstacle: { cause } }: StuckPod, detail: string): EventSpec => ({
  regarding: podRef(pod),
  type: 'Warning',
  reason: 'PodStuck',
  action: 'Keep',
  note: `${cause}: ${detail} dustpan does not delete a pod because it is stuck; dustpan why pod ${pod.namespace}/${pod.name} prints the command that helps`,
  annotations: { [keys.cause]: cause },
  occasion: cause,
});
