import { metaTime } from '../../runtime/text/rfc3339.ts';
import type { Claim, ReportFacts } from './facts.ts';
import type { NodeGCReportStatusCondition } from '../../api/gen/nodegcreport.gen.ts';
import type { NodePassReport } from '../../api/report/node-pass.ts';
import type { NodesPolicy } from '../../api/policy/policy.ts';
import { heldImagesText } from '../../gc/reasons/hold-words.ts';
import { readOnlyText } from '../../gc/reasons/words.ts';
import { keepListClaim } from './keep-list-risk.ts';

type Stored = readonly NodeGCReportStatusCondition[];

/** Decides the conditions of a report. lastTransitionTime changes only with the status. */
export function planConditions(facts: ReportFacts, stored: Stored, now: Date): NodeGCReportStatusCondition[] {
  const before = new Map(stored.map((condition) => [condition.type, condition]));
  const degraded = degradedClaim(facts);
  const atRisk = keepListClaim(facts, before.get('KeepListAtRisk')?.reason);
  const generation = facts.governance.policy?.generation;
  const claims = [
    readyClaim(facts, degraded),
    atRisk,
    ...pressureClaims(facts),
    ...holdingClaims(facts),
    degraded,
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

function readyClaim({ governance }: ReportFacts, degraded: Claim): Claim {
  if (degraded.status === 'True') return { ...degraded, type: 'Ready', status: 'False' };
  if (degraded.status === 'Unknown') return { ...degraded, type: 'Ready' };
  if (governance.kind === 'governed')
    return { type: 'Ready', status: 'True', reason: 'AsPlanned', message: 'The agent applies the policy' };
  const message = 'The agent removes nothing from this node';
  return { type: 'Ready', status: 'True', reason: governance.reason, message };
}

/** Whether the node is short of something, or will be soon. Absent without a policy for it. */
function pressureClaims({ governance, pressure }: ReportFacts): readonly Claim[] {
  if (governance.kind !== 'governed' || governance.nodes.nodePressure === undefined) return [];
  const type = 'PressureAhead';
  if (pressure === undefined)
    return [
      {
        type,
        status: 'Unknown',
        reason: 'SignalsUnknown',
        message: 'The agent has not read the signals from the kubelet',
      },
    ];
  const { warnings, states, unknown } = pressure;
  const unknownText = `No current value of ${unknown.join(', ')}: neither the kubelet nor the agent has measured it in the last two minutes`;
  const more = unknown.length === 0 ? '' : `. ${unknownText}`;
  const lasting = states
    .filter(({ isUnderPressure }) => isUnderPressure)
    .map(({ reading }) => reading.signal);
  if (warnings.length > 0)
    return [
      {
        type,
        status: 'True',
        reason: lasting.length > 0 ? 'ThresholdCrossed' : 'ThresholdAhead',
        message: [...warnings, ...(unknown.length === 0 ? [] : [unknownText])].join(' '),
      },
    ];
  if (lasting.length > 0)
    return [
      {
        type,
        status: 'True',
        reason: 'TransitionPeriod',
        message: `Enough is available again, but for less than the transition period: ${lasting.join(', ')}${more}`,
      },
    ];
  if (unknown.length > 0)
    return [{ type, status: 'Unknown', reason: 'SignalsUnknown', message: unknownText }];
  return [
    { type, status: 'False', reason: 'EnoughAvailable', message: 'No threshold is crossed or will be soon' },
  ];
}

/** Whether a large removal of images waits. Absent without a rule for images. */
function holdingClaims({ governance, images }: ReportFacts): readonly Claim[] {
  if (governance.kind !== 'governed' || governance.nodes.imageGC === undefined) return [];
  const { held } = images ?? {};
  if (held === undefined)
    return [{ type: 'Holding', status: 'False', reason: 'NothingHeld', message: 'No large removal waits' }];
  const message = heldImagesText(governance.policy, held);
  return [{ type: 'Holding', status: 'True', reason: 'Holding', message }];
}

/** The worst obstacle that keeps the agent from following the policy. */
function degradedClaim(facts: ReportFacts): Claim {
  const type = 'Degraded';
  const { governance, troubles } = facts;
  const [trouble] = troubles;
  if (trouble !== undefined) return { type, status: 'True', ...trouble };
  if (governance.kind === 'keep') return keptClaim(governance);
  const { capacityBytes } = facts.imageDisk ?? { capacityBytes: undefined };
  if (capacityBytes === 0) {
    const message = 'The capacity of the image file system is 0';
    return { type, status: 'True', reason: 'InvalidDiskCapacity', message };
  }
  return passesClaim(facts, governance.nodes);
}

function keptClaim({ reason, policy }: Extract<ReportFacts['governance'], { readonly kind: 'keep' }>): Claim {
  const type = 'Degraded';
  switch (reason) {
    case 'InvalidPolicy': {
      const problems = policy !== undefined && 'problems' in policy ? `: ${policy.problems.join('; ')}` : '';
      const message = `The policy that governs this node is invalid${problems}`;
      return { type, status: 'True', reason, message };
    }
    case 'NodeUnknown': {
      const message = 'The agent does not know the policy of this node: one of its watches fails';
      return { type, status: 'True', reason, message };
    }
    case 'NoPolicy':
      return { type, status: 'False', reason, message: 'No policy governs this node' };
    case 'KeepMarked':
      return { type, status: 'False', reason, message: 'The node has the label gc.dustpan.dev/keep' };
    case 'RuleOff':
      return { type, status: 'False', reason, message: 'The policy has no rules for this node' };
  }
}

function passesClaim({ passes, orphans }: ReportFacts, policy: NodesPolicy): Claim {
  const type = 'Degraded';
  const enabled = unitsOf(policy);
  const made = passes.map(({ last }) => last).filter(({ unit }) => enabled.includes(unit));
  for (const { result, reason } of troubledResults) {
    const pass = made.find((one) => one.result === result);
    if (pass !== undefined) return { type, status: 'True', reason, message: passMessage(pass) };
  }
  const missing = enabled.filter((unit) => !made.some((pass) => pass.unit === unit));
  if (missing.length > 0)
    return { type, status: 'Unknown', reason: 'NoPassYet', message: `No pass yet: ${missing.join(', ')}` };
  if (orphans !== undefined) {
    const readOnly = removable.filter(({ place }) => orphans[place]?.isReadOnly === true);
    const message = readOnly.map(({ kind }) => readOnlyText({ kind })).join(' ');
    if (message !== '') return { type, status: 'True', reason: 'ReadOnly', message };
  }
  return {
    type,
    status: 'False',
    reason: 'AsPlanned',
    message: 'The last passes did everything that they planned',
  };
}

const unitsOf = (policy: NodesPolicy): readonly NodePassReport['unit'][] => [
  ...(policy.imageGC === undefined ? [] : (['imagegc'] as const)),
  ...(policy.containerGC === undefined && policy.orphans === undefined ? [] : (['containergc'] as const)),
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
