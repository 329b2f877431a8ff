import { stuckDetail, stuckPods, type StuckCause } from '../../controllers/podgc/stuck.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';
import { byName, type PlanFacts } from '../../snapshot/plan-facts.ts';
import type { Decision } from './document.ts';

/** A stuck pod, as JSON has it. */
export interface StuckView {
  readonly cause: StuckCause;
  /** When its grace period ended; of a pod that has not started, its last progress. */
  readonly since: string;
  readonly detail: string;
  /** When the command helps; without a command, a sentence. */
  readonly advice: string;
  /** null = dustpan deletes the pod. */
  readonly command: string | null;
}

/** The stuck pods that `isShown` selects, longest first, with the decisions of the plan about them. */
export function stuckIn(
  { pods, nodes }: PlanFacts,
  decisions: readonly Decision[],
  now: Date,
  isShown: (pod: PodFacts) => boolean,
): readonly { readonly pod: PodFacts; readonly view: StuckView }[] {
  const shown = [...(pods?.values() ?? [])].filter(isShown);
  const found = stuckPods(shown, nodes && byName(nodes), now);
  const uids = new Set(found.map(({ pod }) => pod.uid));
  const deletions = new Map(decisions.flatMap((decision) => deletionOf(decision, uids)));
  return found.map((stuck) => {
    const { pod, sinceMs, obstacle } = stuck;
    const [since, detail] = [formatRfc3339(new Date(sinceMs)), stuckDetail(stuck)];
    const help = deletions.get(pod.uid) ?? obstacle.help(pod);
    return { pod, view: { cause: obstacle.cause, since, detail, ...help } };
  });
}

type Help = Pick<StuckView, 'advice' | 'command'>;

/** dustpan deletes the pod by itself, now or at a known time. */
function deletionOf(decision: Decision, uids: ReadonlySet<string>): readonly (readonly [string, Help])[] {
  const { unit, object, mode, order, eligibleAt, reason, policy } = decision;
  const isDeleted = mode === 'Enforce' && (order !== null || eligibleAt !== null);
  if (unit !== 'podgc' || object.kind !== 'Pod' || !isDeleted || !uids.has(object.uid)) return [];
  const time = eligibleAt === null ? 'in the next pass of the controller' : `at ${eligibleAt}`;
  return [
    [object.uid, { advice: `dustpan deletes it ${time}: ${reason}, GCPolicy ${policy}.`, command: null }],
  ];
}
