import type { GCPolicyStatusHold } from '../../api/gen/gcpolicy.gen.ts';
import type { Policy } from '../../api/policy/policy.ts';
import type { ReportedHold } from '../../api/report/pass-report.ts';
import { counted } from '../../gc/reasons/words.ts';
import { holdCommands, holdText } from '../../gc/reasons/hold-words.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import { invalid, no, noPassYet, yes, type Claim, type PolicyStatus, type StatusFacts } from './status.ts';

/** Decides status.hold. Before the first pass after a restart the stored value remains: the pass continues from it. */
export function holdOf({ policy, stored, report }: StatusFacts): PolicyStatus['hold'] {
  if ('problems' in policy || policy.mode === 'DryRun' || policy.pods === undefined) return undefined;
  return report?.hold === undefined ? stored?.hold : statusHold(report.hold);
}

const statusHold = ({ rulesId, since, held }: ReportedHold): GCPolicyStatusHold => ({
  rulesId,
  since: metaTime(since),
  until: held && metaTime(held.until),
  due: held?.due,
});

/** Whether a large removal under the policy waits, of pods or on nodes. */
export function holdingClaim(facts: StatusFacts, hold: PolicyStatus['hold']): Claim {
  const { policy } = facts;
  if ('problems' in policy) return invalid;
  if (policy.mode === 'DryRun') return no('ModeDryRun', 'Mode DryRun: nothing waits');
  const isCurrent = hold?.rulesId === policy.rulesId;
  const held = (isCurrent ? heldPods(policy, facts, hold) : undefined) ?? heldOnNodes(policy, facts);
  if (held !== undefined) return held;
  if (policy.pods !== undefined && !isCurrent) return noPassYet;
  return no('NothingHeld', 'No large removal waits');
}

function heldPods(
  policy: Policy,
  { report, stored }: StatusFacts,
  { until, due }: Pick<GCPolicyStatusHold, 'until' | 'due'>,
): Claim | undefined {
  if (until === undefined || due === undefined) return undefined;
  const { governed = 0 } = report ?? stored?.pods ?? {};
  const removal = `delete ${due} of the ${governed} pods that it governs`;
  return yes('Holding', holdText(policy, removal, new Date(until)));
}

function heldOnNodes(policy: Policy, { nodes }: StatusFacts): Claim | undefined {
  if (nodes === undefined || nodes.holding === 0) return undefined;
  const where = `On ${nodes.holding} of ${counted(nodes.desired, 'node')}`;
  const message = `${where} a large removal of images waits, because the rules of the policy are new; their NodeGCReports show until when. ${holdCommands(policy)}`;
  return yes('NodesHolding', message);
}
