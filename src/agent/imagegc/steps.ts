import { isInodes, type DiskDemand, type DiskSignal, type ReclaimResult } from '../../api/node-pressure.ts';
import type { ImageGcPolicy, Policy } from '../../api/policy/policy.ts';
import type { ImageKeepReason, ImageRemoveReason } from '../../api/reasons.ts';
import type { ImageEvidence } from '../../gc/reasons/images.ts';
import type { SpaceEvidence, SpaceUnit } from '../../gc/reasons/space-words.ts';
import { dueByAge, isOldAt, oldAtMs } from './ages.ts';
import { inodeEstimate, spaceNeed, usageOf, type SpaceNeed } from './disk.ts';
import {
  bytesOf,
  decide,
  type Because,
  type Goal,
  type ImageDecision,
  type ImageGcFacts,
  type ImageGcPlan,
  type ImageRemoval,
  type JudgedImage,
} from './facts.ts';
import { distinctImages } from './holds.ts';

/** The policy's rule, and what is known. */
export interface Steps {
  readonly rule: ImageGcPolicy;
  readonly now: Date;
  readonly facts: Pick<ImageGcFacts, 'listed' | 'disk'>;
  /** Too little is known to remove any image. */
  readonly isUnknown: boolean;
  readonly policy: Policy;
  readonly demands: readonly DiskDemand[];
}

/** Decides about the images that nothing holds: removals by age, then for space, then for node pressure. */
export function planSteps(
  { facts, isUnknown, policy, rule, now, demands }: Steps,
  eligible: readonly JudgedImage[],
  kept: readonly ImageDecision[],
): ImageGcPlan {
  const { maxImagesPerPass: maxImages = Infinity } = rule;
  const isOld = (image: JudgedImage): boolean => isOldAt(image, now);
  const old = eligible.filter(isOld);
  const aged = old.map((image) => decide(image, agedBecause(image), policy));
  const agedNow = aged.slice(0, maxImages);
  const inodesOf = inodeEstimate(facts.disk, imageBytes(facts));
  const freedByAge = amountsOf(bytesOf(agedNow), inodesOf);
  const need = spaceNeed(facts.disk, rule, freedByAge);
  const goals = [...spaceGoals(need), ...demandGoals(demands, freedByAge)];
  const rest = eligible.filter((image) => !isOld(image));
  const space = spaceEvidence(facts, rule, need, goals);
  const needed = untilEnough(rest, goals, inodesOf);
  const candidates = rest.map((image, i) => {
    const goal = needed[i] ?? goals.at(-1);
    const place = { ...image.record, place: agedNow.length + i + 1 };
    if (goal === undefined || goal.reason === 'Space') {
      const evidence = { ...space, ...place, hasAged: agedNow.length > 0 };
      return decide<ImageRemoveReason>(image, { reason: 'Space', evidence }, policy);
    }
    const { reason, wanted, threshold } = goal;
    return decide<ImageRemoveReason>(image, { reason, evidence: { ...place, wanted, threshold } }, policy);
  });
  const isNeeded = goals.length > 0;
  const restNow = candidates.slice(0, Math.min(needed.length, maxImages - agedNow.length));
  const removals = [...agedNow, ...restNow];
  const keptUntilOld = (because: (image: JudgedImage) => Because<ImageKeepReason>) => (image: JudgedImage) =>
    decide(image, { ...because(image), eligibleAtMs: oldAtMs(image) }, policy);
  const paced = { reason: 'PacingLimit', evidence: { maxImagesPerPass: maxImages } } as const;
  const isPaced = removals.length < aged.length + needed.length;
  return {
    ...summary(facts, need, { removals: restNow.filter(({ reason }) => reason === 'Space'), inodesOf }),
    ...(isUnknown && { state: 'Unknown' }),
    ...{ goals, maxImages, removals },
    reclaim: reclaimOf(demands, amountsOf(bytesOf(removals), inodesOf), isPaced || isUnknown),
    candidates: [...aged, ...(isNeeded ? candidates : [])],
    kept: [
      ...(isNeeded ? kept : kept.map((one) => ({ ...one, eligibleAt: dueByAge(one) }))),
      ...old.slice(agedNow.length).map((image) => decide(image, paced, policy)),
      ...rest.slice(restNow.length, needed.length).map(keptUntilOld(() => paced)),
      ...rest
        .slice(needed.length)
        .map(keptUntilOld(({ ageEntry }) => idleBecause(need, { ...space, ageEntry }))),
    ],
  };
}

type Amounts = SpaceNeed['wanted'];

const amountsOf = (bytes: number, inodesOf: ImageGcPlan['inodesOf']): Amounts => ({
  bytes,
  inodes: inodesOf(bytes),
});

const spaceGoals = ({ crossed, wanted }: SpaceNeed): readonly Goal[] =>
  crossed.map((unit) => ({ reason: 'Space', unit, wanted: wanted[unit], threshold: '' }));

const unitOf = ({ signal }: DiskDemand): SpaceUnit => (isInodes(signal) ? 'inodes' : 'bytes');

const demandGoals = (demands: readonly DiskDemand[], freedByAge: Amounts): readonly Goal[] =>
  demands.map((demand) => {
    const { signal: reason, threshold, wanted } = demand;
    const unit = unitOf(demand);
    return { reason, threshold, unit, wanted: Math.max(0, wanted - freedByAge[unit]) };
  });

/** What the removals leave of each demand. */
const reclaimOf = (
  demands: readonly DiskDemand[],
  freed: Amounts,
  hasMoreLeft: boolean,
): ImageGcPlan['reclaim'] =>
  new Map(
    demands.map((demand): [DiskSignal, ReclaimResult] => {
      if (freed[unitOf(demand)] >= demand.wanted) return [demand.signal, 'Enough'];
      return [demand.signal, hasMoreLeft ? 'MoreLeft' : 'Exhausted'];
    }),
  );

const agedBecause = ({ record, ageEntry, maximumAgeMs = Infinity }: JudgedImage): Because<'Age'> => ({
  reason: 'Age',
  evidence: { ...record, maximumAgeMs, ageEntry },
});

/** Bytes of all images, each once. */
const imageBytes = ({ listed }: Steps['facts']): number =>
  distinctImages(listed).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);

/** The usage, the thresholds and the target that the sentences about the space step need. */
function spaceEvidence(
  { disk }: Steps['facts'],
  rule: ImageGcPolicy,
  { crossed, wanted }: SpaceNeed,
  goals: readonly Goal[],
): SpaceEvidence {
  const { highThresholdPercent, lowThresholdPercent, inodes } = rule;
  const { usedPercent, usedInodesPercent } = usageOf(disk);
  return {
    ...{ usedPercent, highThresholdPercent, lowThresholdPercent, crossed },
    inodes: inodes && { usedPercent: usedInodesPercent, ...inodes },
    ...{ wantedBytes: wanted.bytes, wantedInodes: wanted.inodes },
    demands: goals.flatMap(({ reason, ...goal }) =>
      reason === 'Space' ? [] : [{ signal: reason, ...goal }],
    ),
  };
}

/** Why removable images are kept: neither the disk nor the node needs the space. */
function idleBecause(
  { crossed, reason: idle }: SpaceNeed,
  evidence: ImageEvidence['TargetMet'],
): Because<'TargetMet' | 'BelowThreshold' | 'DiskUnknown'> {
  const reason = crossed.length + evidence.demands.length > 0 ? 'TargetMet' : idle;
  return reason === 'DiskUnknown' ? { reason, evidence: undefined } : { reason, evidence };
}

interface Removing {
  readonly removals: readonly ImageRemoval[];
  readonly inodesOf: ImageGcPlan['inodesOf'];
}

function summary(
  { disk }: Steps['facts'],
  { crossed, wanted, state: idleState, isUncounted }: SpaceNeed,
  { removals, inodesOf }: Removing,
): Omit<ImageGcPlan, 'goals' | 'reclaim' | 'maxImages' | 'candidates' | 'removals' | 'kept'> {
  const plannedBytes = bytesOf(removals);
  const plannedInodes = inodesOf(plannedBytes);
  const isShort = plannedBytes < wanted.bytes || plannedInodes < wanted.inodes || removals.length === 0;
  const state = crossed.length === 0 ? idleState : isShort ? 'Short' : 'Free';
  return {
    ...{ state, crossed, ...usageOf(disk), isUncounted, inodesOf },
    ...{ wantedBytes: wanted.bytes, plannedBytes, wantedInodes: wanted.inodes, plannedInodes },
  };
}

/** The goal that each of the first candidates is removed for, until all are met; the space step removes at least one: the kubelet compares the sum after a removal. */
function untilEnough(
  candidates: readonly JudgedImage[],
  goals: readonly Goal[],
  inodesOf: ImageGcPlan['inodesOf'],
): readonly Goal[] {
  const needed: Goal[] = [];
  let sum = 0;
  for (const { image } of candidates) {
    const freed = amountsOf(sum, inodesOf);
    const goal = goals.find(
      ({ reason, unit, wanted }) => freed[unit] < wanted || (reason === 'Space' && needed.length === 0),
    );
    if (goal === undefined) break;
    needed.push(goal);
    sum += image.sizeBytes;
  }
  return needed;
}
