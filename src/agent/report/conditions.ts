import type { NodePassReport } from '../../gc/pass.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import type { CountAndBytes } from '../imagegc/facts.ts';
import type { Claim, ReportFacts } from './facts.ts';
import type { NodeGCReportStatusCondition } from '../../api/gen/nodegcreport.gen.ts';
import type { NodesPolicy } from '../../api/policy/policy.ts';
import { heldImagesText } from '../../gc/reasons/hold-words.ts';
import { counted, readOnlyText } from '../../gc/reasons/words.ts';
import { keepListClaim } from './keep-list-risk.ts';

type Stored = readonly NodeGCReportStatusCondition[];

/** Decides the conditions of a report. lastTransitionTime changes only with the status. */
export function planConditions(facts: ReportFacts, stored: Stored, now: Date): NodeGCReportStatusCondition[] {
  const before = new Map(stored.map((condition) => [condition.type, condition]));
  const degraded = degradedFinding(facts);
  const atRisk = keepListClaim(facts, before.get('KeepListAtRisk')?.reason);
  const generation = facts.governance.policy?.generation;
  const claims: readonly Claim[] = [
    { type: 'Ready', ...readyFinding(facts, degraded) },
    atRisk,
    ...pressureClaims(facts),
    ...holdingClaims(facts),
    { type: 'Degraded', ...degraded },
  ];
  return claims.map((claim) => {
    const old = before.get(claim.type);
    return {
      ...claim,
      lastTransitionTime: old?.status === claim.status ? old.lastTransitionTime : metaTime(now),
      observedGeneration: generation,
    };
  });
}

type Finding = Omit<Claim, 'type'>;

const yes = (reason: string, message: string): Finding => ({ status: 'True', reason, message });
const no = (reason: string, message: string): Finding => ({ status: 'False', reason, message });
const unknown = (reason: string, message: string): Finding => ({ status: 'Unknown', reason, message });

function readyFinding({ governance }: ReportFacts, degraded: Finding): Finding {
  if (degraded.status === 'True') return { ...degraded, status: 'False' };
  if (degraded.status === 'Unknown') return degraded;
  return governance.kind === 'governed'
    ? yes('AsPlanned', 'The agent applies the policy')
    : yes(governance.reason, 'The agent removes nothing from this node');
}

/** Whether the node is short of something, or will be soon. Absent without a policy for it. */
function pressureClaims({ governance, pressure }: ReportFacts): readonly Claim[] {
  if (governance.kind !== 'governed' || governance.nodes.nodePressure === undefined) return [];
  return [{ type: 'PressureAhead', ...pressureFinding(pressure) }];
}

function pressureFinding(pressure: ReportFacts['pressure']): Finding {
  if (pressure === undefined)
    return unknown('SignalsUnknown', 'The agent has not read the signals from the kubelet');
  const { warnings, states } = pressure;
  const isAnyUnknown = pressure.unknown.length > 0;
  const unknownText = `No current value of ${pressure.unknown.join(', ')}: neither the kubelet nor the agent has measured it in the last two minutes`;
  const lasting = states
    .filter(({ isUnderPressure }) => isUnderPressure)
    .map(({ reading }) => reading.signal);
  if (warnings.length > 0)
    return yes(
      lasting.length > 0 ? 'ThresholdCrossed' : 'ThresholdAhead',
      [...warnings, ...(isAnyUnknown ? [unknownText] : [])].join(' '),
    );
  if (lasting.length > 0)
    return yes(
      'TransitionPeriod',
      `Enough is available again, but for less than the transition period: ${lasting.join(', ')}${isAnyUnknown ? `. ${unknownText}` : ''}`,
    );
  return isAnyUnknown
    ? unknown('SignalsUnknown', unknownText)
    : no('EnoughAvailable', 'No threshold is crossed or will be soon');
}

/** Whether a large removal of images waits. Absent without a rule for images. */
function holdingClaims({ governance, images }: ReportFacts): readonly Claim[] {
  if (governance.kind !== 'governed' || governance.nodes.imageGC === undefined) return [];
  const held = images?.held;
  const finding =
    held === undefined
      ? no('NothingHeld', 'No large removal waits')
      : yes('Holding', heldImagesText(governance.policy, held));
  return [{ type: 'Holding', ...finding }];
}

/** The worst obstacle that keeps the agent from following the policy. */
function degradedFinding(facts: ReportFacts): Finding {
  const { governance, troubles, imageDisk } = facts;
  const [trouble] = troubles;
  if (trouble !== undefined) return yes(trouble.reason, trouble.message);
  if (governance.kind === 'keep') return keptFinding(governance);
  if (imageDisk?.capacityBytes === 0)
    return yes('InvalidDiskCapacity', 'The capacity of the image file system is 0');
  const pinned = facts.images?.pins;
  const limited = pinned?.unbound.find(({ reason }) => reason === 'Limit');
  const passes = passesFinding(facts, governance.nodes);
  if (passes.status === 'True') return passes;
  if (limited !== undefined) return pinLimitFinding(limited);
  const wantedUnknown = facts.images?.wantedUnknown;
  return wantedUnknown === undefined ? passes : wantedFinding(wantedUnknown);
}

function pinLimitFinding({ count, bytes }: CountAndBytes): Finding {
  const message =
    `${counted(count, 'image')} that the policy keeps (${sizeText(bytes)}) not pinned, because pinned images would use more of the image file system ` +
    'than maxPinnedPercent allows: the kubelet cannot remove them, and would evict pods instead';
  return yes('PinLimit', message);
}

const wantedFinding = (because: string): Finding =>
  yes(
    'WantedImagesUnknown',
    `Not all images that workloads want (pinWanted) are known, so the agent keeps its pins, and removes no image by age; for space it removes images that it has not pinned: ${because}`,
  );

function keptFinding({
  reason,
  policy,
}: Extract<ReportFacts['governance'], { readonly kind: 'keep' }>): Finding {
  switch (reason) {
    case 'InvalidPolicy': {
      const problems = policy !== undefined && 'problems' in policy ? `: ${policy.problems.join('; ')}` : '';
      return yes(reason, `The policy that governs this node is invalid${problems}`);
    }
    case 'NodeUnknown':
      return yes(
        reason,
        'The agent does not know the policy of this node: it cannot list the policies or the node',
      );
    case 'NoPolicy':
      return no(reason, 'No policy governs this node');
    case 'KeepMarked':
      return no(reason, 'The node has the label gc.dustpan.dev/keep');
    case 'RuleOff':
      return no(reason, 'The policy has no rules for this node');
  }
}

function passesFinding({ passes, orphans, containers }: ReportFacts, policy: NodesPolicy): Finding {
  const enabled = unitsOf(policy);
  const made = passes.map(({ last }) => last).filter(({ unit }) => enabled.includes(unit));
  for (const { result, reason } of troubledResults) {
    const pass = made.find((one) => one.result === result);
    if (pass !== undefined) return yes(reason, passMessage(pass));
  }
  const missing = enabled.filter((unit) => !made.some((pass) => pass.unit === unit));
  if (missing.length > 0) return unknown('NoPassYet', `No pass yet: ${missing.join(', ')}`);
  const readOnly = removable.filter(({ place }) => orphans?.[place]?.isReadOnly === true);
  const kinds = [
    ...readOnly.map(({ kind }) => kind),
    ...(containers?.checkpoints?.isReadOnly === true ? (['Checkpoint'] as const) : []),
  ];
  return kinds.length > 0
    ? yes('ReadOnly', kinds.map((kind) => readOnlyText({ kind })).join(' '))
    : no('AsPlanned', 'The last passes did everything that they planned');
}

const unitsOf = (policy: NodesPolicy): readonly NodePassReport['unit'][] => [
  ...(policy.imageGC === undefined ? [] : (['imagegc'] as const)),
  ...([policy.containerGC, policy.orphans, policy.checkpoints].every((rule) => rule === undefined)
    ? []
    : (['containergc'] as const)),
  ...(policy.leftovers === undefined ? [] : (['leftovers'] as const)),
  ...(policy.localStorageEviction === undefined ? [] : (['localstorage'] as const)),
  ...(policy.nodePressure === undefined ? [] : (['nodepressure'] as const)),
];

const removable = [
  { place: 'podDirectories', kind: 'PodDirectory' },
  { place: 'podCgroups', kind: 'PodCgroup' },
] as const;

const troubledResults = [
  { result: 'Failed', reason: 'PassFailed' },
  { result: 'Short', reason: 'TargetMissed' },
  { result: 'Unknown', reason: 'Undecided' },
] as const;

function passMessage({ unit, result, message, errors }: NodePassReport): string {
  const outcome = {
    Failed: 'failed',
    Short: 'missed its target',
    Unknown: 'could not decide',
    Idle: '',
    Succeeded: '',
  }[result];
  const failed = errors > 0 ? ` (${errors} removals failed)` : '';
  return `${unit} ${outcome}${failed}${message === undefined ? '' : `: ${message}`}`;
}
