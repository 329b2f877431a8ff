import { rightText, valuesThatGrant } from '../../api/policy/needs.ts';
import { hasNamespaceBudgets, selectsEvery } from '../../api/policy/matching.ts';
import { reasonDoubts } from '../../api/policy/reason-doubts.ts';
import { unmatchedNames, unmatchedSelectors } from '../../api/policy/unmatched.ts';
import type { PolicyPassReport } from '../../api/report/pass-report.ts';
import { invalidPolicyText, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import { counted, noImageText, staleText } from '../../gc/reasons/words.ts';
import { printable } from '../../runtime/text/printable.ts';
import { holdingClaim } from './hold.ts';
import { removeEntriesOf, type NodeRollup, type RemovalProgress, type UnmatchedImages } from './nodes.ts';
import {
  invalid,
  no,
  noPassYet,
  unknown,
  yes,
  type Claim,
  type Obstacles,
  type PolicyStatus,
  type StatusFacts,
} from './status.ts';

interface Decided {
  /** Of the last pass, or as stored. */
  readonly hold: PolicyStatus['hold'];
  /** `removeMatched`. */
  readonly matched: readonly string[];
}

/** The conditions of a policy by type, without their transition times. */
export function claims(
  known: StatusFacts,
  { hold, matched }: Decided,
): Readonly<Record<string, Claim | undefined>> {
  const { policy } = known;
  // A pass of another generation says nothing about this one.
  const report = known.report?.generation === policy.generation ? known.report : undefined;
  const facts: StatusFacts = { ...known, report };
  const accepted = acceptedClaim(facts, matched);
  const degraded = degradedClaim(facts);
  const holding = holdingClaim(facts, hold);
  return {
    Ready: readyClaim(accepted, degraded, holding),
    Accepted: accepted,
    Enforcing: enforcingClaim(policy, report),
    Holding: holding,
    Degraded: degraded,
    BudgetsExceeded: budgetsClaim(facts),
    ImagesRemoved: removalsClaim(facts, matched),
  };
}

function readyClaim(accepted: Claim, degraded: Claim, holding: Claim): Claim {
  if (accepted.status !== 'True') return accepted;
  if (degraded.status !== 'False')
    return { ...degraded, status: degraded.status === 'True' ? 'False' : 'Unknown' };
  // `kubectl get gcpolicies -o wide` shows the reason of Ready.
  return holding.status === 'True' ? holding : yes('AsPlanned', 'The policy is applied as planned');
}

function acceptedClaim(facts: StatusFacts, matched: readonly string[]): Claim {
  const { policy, selectable, unmatched, removals = [] } = facts;
  if ('problems' in policy) return no('InvalidPolicy', cut(printable(invalidPolicyText(policy))));
  const doubts = reasonDoubts(policy);
  const reasons = doubts.map(
    ({ entry, advice, isCertain }) =>
      `${entry} ${isCertain ? 'matches' : 'probably matches'} no pod: ${advice.replace(/\.$/, '')}`,
  );
  const selectors = selectingNothing(policy, facts);
  const images = [
    ...(unmatched === undefined ? [] : matchingNoImage(unmatched)),
    ...neverMatching(removals, matched),
  ];
  // Those of other clusters may be meant: they are no problem.
  const names = unmatchedNames(policy, selectable?.namespaces).map(
    ({ field, entries }) =>
      `no namespace matches ${entries.map((name) => JSON.stringify(name)).join(', ')} of ${field}`,
  );
  const message = cut(
    printable(['The policy is valid', ...reasons, ...selectors, ...images, ...names].join('; ')),
  );
  if (doubts.some(({ isCertain }) => isCertain)) return yes('MatchesNothing', message);
  const isDoubtful = selectors.length + images.length > 0;
  return yes(isDoubtful ? 'SelectsNothing' : 'Valid', message);
}

const matchingNoImage = ({ nodes, lists }: UnmatchedImages): readonly string[] =>
  lists.map(({ list, patterns }) => noImageText(`on ${counted(nodes, 'node')}`, list, patterns));

function neverMatching(removals: readonly RemovalProgress[], matched: readonly string[]): readonly string[] {
  const never = removals.filter((one) => isGone(one) && !matched.includes(one.image));
  const [first] = never;
  if (first === undefined) return [];
  const patterns = never.map(({ image }) => image);
  return [
    `${noImageText(`on ${counted(first.nodes, 'node')}`, 'remove', patterns)}, and no removal for ${never.length === 1 ? 'it' : 'them'} is known`,
  ];
}

/** By the selectors for nodes and namespaces; whether the rest selects pods, only a pass shows. */
function selectingNothing(
  policy: Policy,
  { selectable, report, stored, deletedSince }: StatusFacts,
): readonly string[] {
  const { nodes, namespaces } = selectable ?? { nodes: undefined, namespaces: undefined };
  const found = unmatchedSelectors(policy, { nodes, namespaces, pods: undefined });
  const texts = found.map(({ field, selects }) => `${field} selects ${selects} now`);
  const isExplained = found.some(({ field }) => field === 'pods.namespaceSelector');
  // A policy that has deleted pods selects the right ones.
  const hasDeleted = deletedSince + (stored?.pods?.deletedTotal ?? 0) > 0;
  return report?.governed === 0 && !hasDeleted && !isExplained && !selectsEvery('pods', policy)
    ? [...texts, 'pods governs no pod now']
    : texts;
}

function enforcingClaim(policy: Policy | InvalidPolicy, report: PolicyPassReport | undefined): Claim {
  if ('problems' in policy) return invalid;
  if (policy.mode === 'Enforce')
    return yes('ModeEnforce', 'Mode Enforce: dustpan removes objects that are due');
  const due = report === undefined ? '' : `; ${report.due} pods are due for deletion`;
  return no('ModeDryRun', `Mode DryRun: dustpan removes nothing${due}`);
}

function degradedClaim({ policy, stored, report, nodes, obstacles }: StatusFacts): Claim {
  if ('problems' in policy) return noPassYet;
  // The next controller reads an open circuit breaker from the status: nothing else may take its place.
  const open = openBreaker(report) ?? leftOpen({ policy, stored, report });
  const obstacle = obstacleOf(obstacles);
  const trouble = withObstacle(open, obstacle) ?? obstacle ?? podTrouble(report) ?? nodeTrouble(nodes);
  if (trouble !== undefined) return trouble;
  const undecided = undecidedText(obstacles, report);
  if (undecided !== undefined) return { ...noPassYet, message: undecided };
  if (policy.pods === undefined && policy.nodes !== undefined) return nodesOnlyClaim(nodes);
  if (report === undefined && policy.pods !== undefined) return noPassYet;
  return no('AsPlanned', 'The last pass did everything that it planned');
}

/** What the controller did not know when it applied the policy; undefined = nothing. */
function undecidedText(
  { unknownRights }: Obstacles,
  report: PolicyPassReport | undefined,
): string | undefined {
  if (unknownRights.length > 0)
    return cut(
      `The controller does not know yet whether it may ${unknownRights.map(rightText).join(', ')}, which the policy needs`,
    );
  const lists = report?.unknownOwners ?? [];
  return lists.length === 0
    ? undefined
    : `The last pass had no current list of ${lists.join(', ')}, and kept the pods that need it`;
}

/** undefined = none. */
type Trouble = Claim | undefined;

const openBreaker = (report: PolicyPassReport | undefined): Trouble =>
  report?.trippedPercent === undefined
    ? undefined
    : yes(
        'Tripped',
        `Nodes missing, now or lost within an hour: ${report.missingNodes}, ${Math.round(report.trippedPercent)} % of all; the circuit breaker is open, and orphaned pods are kept`,
      );

const withObstacle = (open: Trouble, obstacle: Trouble): Trouble =>
  open && { ...open, message: [open.message, obstacle?.message].filter(Boolean).join('. ') };

/** Why the controller decides nothing, or cannot do what it decides. */
function obstacleOf({ missingRights, staleCaches }: Obstacles): Trouble {
  const texts = [
    missingRights.length > 0 ? missingText(missingRights) : [],
    staleCaches.length > 0
      ? `The controller has had no current list for more than two minutes, and removes nothing that needs it: ${staleText(staleCaches)}`
      : [],
  ].flat();
  if (texts.length === 0) return undefined;
  return yes(missingRights.length > 0 ? 'MissingRights' : 'CacheStale', cut(texts.join('. ')));
}

function missingText(missing: Obstacles['missingRights']): string {
  const values = valuesThatGrant(missing).map((value) => `${value}=true`);
  const advice =
    values.length === 0
      ? ''
      : `. Set ${values.join(' and ')} in the values of the chart, or remove from the policy what needs the rights`;
  return `The ServiceAccount of the controller may not ${missing.map(rightText).join(', ')}; what needs these rights is not done${advice}`;
}

function podTrouble(report: PolicyPassReport | undefined): Trouble {
  if (report === undefined) return undefined;
  const { failed, unverified, clockUnsure } = report;
  if (failed > 0)
    return yes(
      'DeletesFailed',
      `${failed} pods that are due could not be deleted; dustpan tries them again, after all others`,
    );
  if (unverified > 0)
    return yes(
      'NotVerified',
      `${unverified} deletions were skipped, because the namespaces or nodes of the pods could not be confirmed live`,
    );
  if (clockUnsure === 0) return undefined;
  return yes(
    'ClockUnsure',
    `${clockUnsure} deletions by ttl were skipped, because the controller's clock differs from the API server's`,
  );
}

/** Before the first pass of a controller the circuit breaker remains as the one before has left it: the first pass reads that from the status. */
function leftOpen({ policy, stored, report }: Pick<StatusFacts, 'policy' | 'stored' | 'report'>): Trouble {
  if (report !== undefined || 'problems' in policy || policy.pods === undefined) return undefined;
  const before = storedClaim(stored, 'Degraded');
  return before?.status === 'True' && before.reason === 'Tripped' ? before : undefined;
}

function nodeTrouble(nodes: NodeRollup | undefined): Trouble {
  if (nodes === undefined || nodes.degraded === 0) return undefined;
  const message = `${nodes.degraded} of ${counted(nodes.desired, 'node')} ${nodes.degraded === 1 ? 'is' : 'are'} degraded; see their NodeGCReports`;
  return yes('NodesDegraded', message);
}

/** Whether a namespace exceeds its budget. Absent without a valid policy with budgets; before the first pass of a controller as it was. */
function budgetsClaim({ policy, stored, budgets }: StatusFacts): Claim | undefined {
  if (!hasNamespaceBudgets([policy])) return undefined;
  const message = 'The controller has not compared the usage of namespaces with the budgets yet';
  return budgets ?? storedClaim(stored, 'BudgetsExceeded') ?? unknown('NotCompared', message);
}

/** The entries of nodes.imageGC.remove that have matched an image, as the reports show now, or once did. */
export function removeMatched({ policy, stored, removals = [] }: StatusFacts): readonly string[] {
  const known = new Set([
    ...(stored?.removeMatched ?? []),
    ...removals.flatMap(({ image, matched }) => (matched ? [image] : [])),
  ]);
  return [...new Set(removeEntriesOf(policy).map(({ image }) => image))].filter((image) => known.has(image));
}

/** Whether no governed node has an image that nodes.imageGC.remove selects. Absent without entries; while the reports are not known as it was. */
function removalsClaim(
  { policy, stored, removals }: StatusFacts,
  matched: readonly string[],
): Claim | undefined {
  if ('problems' in policy || removeEntriesOf(policy).length === 0) return undefined;
  if (removals === undefined) {
    // Another generation may have other entries.
    const current = stored?.observedGeneration === policy.generation ? stored : undefined;
    const reported = storedClaim(current, 'ImagesRemoved');
    return reported ?? unknown('NoReportYet', 'The reports of the nodes are not known yet');
  }
  return removals.length === 0
    ? unknown('Ended', 'Every entry of nodes.imageGC.remove has ended')
    : progressClaim(policy, removals, matched);
}

function progressClaim(
  { mode }: Policy,
  removals: readonly RemovalProgress[],
  matched: readonly string[],
): Claim {
  const left = removals.filter((entry) => !isGone(entry));
  const gone = removals.filter(isGone);
  const never = gone.filter(({ image }) => !matched.includes(image));
  const removed = gone.filter(({ image }) => matched.includes(image));
  const texts = printable([...[...left, ...removed].map(removalText), ...never.map(neverText)].join('; '));
  if (mode === 'DryRun') return no('ModeDryRun', cut(`Mode DryRun: dustpan removes nothing; ${texts}`));
  const message = cut(texts);
  // Only after a match it is known that the entry is not misspelt.
  if (left.length + never.length === 0) return yes('Removed', message);
  if (left.length === 0) return unknown('NothingMatched', message);
  if (!left.every(isUnsure)) return no('ImagesLeft', message);
  const isUntagged = left.some(({ untagged }) => untagged > 0);
  return unknown(isUntagged ? 'TagsUnknown' : 'NodesNotReported', message);
}

const isGone = ({ nodes, gone }: RemovalProgress): boolean => nodes > 0 && gone === nodes;

const neverText = ({ image, nodes }: RemovalProgress): string =>
  `${image}: matches no image on ${counted(nodes, 'node')}, and no removal for it is known: is it misspelt?`;

/** No node is known to have the images, but some may. */
const isUnsure = ({ inUse, kept, untagged, unknown: unreported }: RemovalProgress): boolean =>
  inUse + kept === 0 && untagged + unreported > 0;

function removalText(progress: RemovalProgress): string {
  const { image, nodes, gone, inUse, kept, untagged, unknown: unreported } = progress;
  if (isGone(progress)) return `${image}: matches no image on ${counted(nodes, 'node')}`;
  const others = [
    inUse > 0 ? `in use on ${inUse}` : [],
    kept > 0 ? `kept on ${kept} for another reason` : [],
    untagged > 0
      ? `perhaps left on ${untagged} without its tag (add an entry with its digest, *@sha256:…)`
      : [],
    unreported > 0 ? `not reported by ${unreported}` : [],
  ].flat();
  return [`${image}: gone from ${gone} of ${counted(nodes, 'node')}`, ...others].join(', ');
}

/** The stored condition: after a restart the controller knows less than before. */
function storedClaim(stored: PolicyStatus | undefined, type: string): Claim | undefined {
  const before = stored?.conditions.find((condition) => condition.type === type);
  return before && { status: before.status, reason: before.reason, message: before.message };
}

/** A policy without rules for pods: only the reports of nodes count. */
const nodesOnlyClaim = (nodes: NodeRollup | undefined): Claim =>
  nodes === undefined || (nodes.desired > 0 && nodes.upToDate === 0)
    ? unknown('NoReportYet', 'No node has reported under this policy yet')
    : no('AsPlanned', 'The nodes that have reported did everything that they planned');

/** metav1.Condition allows 32768 characters; a reader needs fewer. */
const cut = (message: string): string => (message.length > 1024 ? `${message.slice(0, 1023)}…` : message);
