import type { NodeConfirmation } from '../../api/node-confirmation.ts';
import { isSamePolicy, nodeRule, type NodeGovernance } from '../../api/policy/node-governance.ts';
import type { ImageGcPolicy, Policy } from '../../api/policy/policy.ts';
import { hasAllFor } from '../../api/wanted-images.ts';
import type { ImageName, Labels } from '../../containerd/store.ts';
import type { DiskSpace } from '../../node/disk/filesystem.ts';
import {
  unpinnedReasons,
  type CountAndBytes,
  type ImageDecision,
  type ImageGcFacts,
  type ImageGcPlan,
  type PinState,
  type UnpinnedReason,
} from './facts.ts';
import { isRequested } from './plan.ts';
import { isManaged, isOfOthers, isOwn, storedNamesBy, ownLabel, pinLabel, unpinned } from './pin-labels.ts';
import { bytesOnDisk } from './space.ts';

type PlannedImages = Pick<ImageGcPlan, 'rule' | 'space' | 'kept' | 'removals'>;

/** The names of the kubelet's images. Unsupported: the runtime is not containerd; unknown: it could not be read. */
export type StoredNames = readonly ImageName[] | 'unsupported' | 'unknown';

interface PinFacts {
  readonly plan: PlannedImages;
  readonly names: StoredNames;
  readonly disk: DiskSpace | undefined;
  readonly governance: NodeGovernance;
}

/** A change of the labels of a name. */
export interface PinChange {
  readonly kind: 'pin' | 'unpin';
  readonly name: string;
  /** A label with the value '' is removed. */
  readonly labels: Labels;
}

export const isUnpin = ({ kind }: PinChange): boolean => kind === 'unpin';

export interface PinPlan {
  readonly changes: readonly PinChange[];
  /** As listed in this pass: what it pins is shown by the runtime in the next one. */
  readonly state: Omit<PinState, 'own'>;
}

/**
 * Decides which names of images get a pin, so that the kubelet keeps the image too, and which lose the pin that dustpan has set; pins of others
 * are not touched. All names get it: a pull of a tag drops the labels of the tag, and of no other name.
 */
export function planPins({ plan, names, disk, governance }: PinFacts): PinPlan {
  const acting = actingPolicy(governance);
  if (acting === 'unsure') return { changes: [], state: { bound: 0, unbound: [] } };
  const images = plan.rule === undefined ? [] : allOf(plan).filter(isToPin);
  const named = images.map(namedBy(typeof names === 'string' ? [] : names));
  const chosen = acting === undefined ? [] : chosenOf(named, plan, { disk, acting });
  const changes = typeof names === 'string' ? [] : changesOf(names, chosen, acting);
  const reasonOf = (one: NamedImage): UnpinnedReason | undefined => {
    const isChosen = chosen.includes(one);
    if (one.image.target.image.pinned && (isChosen || !one.isOwn)) return undefined;
    if (typeof names === 'string') return names === 'unknown' ? 'NotRead' : 'NotContainerd';
    if (isChosen) return one.isOwn ? 'NotShown' : 'NotYet';
    return acting === undefined ? 'Off' : notChosenBecause(one, plan, limitOf(disk, acting));
  };
  const byReason = Map.groupBy(named, reasonOf);
  return {
    changes,
    state: {
      bound: (byReason.get(undefined) ?? []).filter(({ image }) => isKept(image)).length,
      unbound: unpinnedReasons.flatMap((reason) => {
        const some = byReason.get(reason);
        return some === undefined ? [] : [{ reason, ...sizeOf(some, plan) }];
      }),
    },
  };
}

/** The images that dustpan has pinned after these changes. */
export function pinnedAfter(
  names: readonly ImageName[],
  changes: readonly PinChange[],
  plan: PlannedImages,
): CountAndBytes {
  const kindOf = new Map(changes.map(({ name, kind }) => [name, kind]));
  const isPinned = (one: ImageName): boolean => (kindOf.get(one.name) ?? (isOwn(one) && 'pin')) === 'pin';
  const named = allOf(plan).map(namedBy(names.filter(isPinned)));
  return sizeOf(
    named.filter((one) => one.names.length > 0),
    plan,
  );
}

/** An image with those of its names that containerd has. */
interface NamedImage {
  readonly image: ImageDecision;
  readonly names: readonly ImageName[];
  /** Whether dustpan has pinned a name of it. */
  readonly isOwn: boolean;
}

const allOf = ({ kept, removals }: PlannedImages): readonly ImageDecision[] => [...kept, ...removals];

function namedBy(names: readonly ImageName[]): (image: ImageDecision) => NamedImage {
  const storedOf = storedNamesBy(names);
  return (image) => {
    const found = storedOf(image.target.image);
    return { image, names: found, isOwn: found.some(isOwn) };
  };
}

interface Acting {
  readonly policy: Policy;
  readonly rule: ImageGcPolicy;
}

/**
 * The policy that pins images; undefined = none does: there is none, it has no rule for images, it is in mode DryRun, or it pins nothing. Unsure:
 * it is not known or invalid, or the node is to be left as it is.
 */
function actingPolicy(governance: NodeGovernance): Acting | 'unsure' | undefined {
  const rule = nodeRule(governance, 'imageGC');
  if (rule.kind === 'keep')
    return rule.reason === 'NoPolicy' || rule.reason === 'RuleOff' ? undefined : 'unsure';
  return rule.policy.mode === 'DryRun' || rule.rule.maxPinnedPercent === 0 ? undefined : rule;
}

/** Whether policies and labels that were read live unpin what the plan unpins: a poll may have met older ones, or a policy while it was being replaced. */
export function confirmsUnpins(
  live: Pick<NodeConfirmation, 'governance' | 'labels'>,
  { governance, wanted }: Pick<ImageGcFacts, 'wanted'> & Pick<PinFacts, 'governance'>,
): boolean {
  const [now, before] = [nodeRule(live.governance, 'imageGC'), nodeRule(governance, 'imageGC')];
  if (before.kind === 'keep') return now.kind === 'keep' && now.reason === before.reason;
  if (now.kind === 'keep' || !isSamePolicy(now.policy, before.policy)) return false;
  return !now.rule.pinWanted || hasAllFor(live.labels, wanted);
}

/** Whether the keep list or a workload protects it. */
const isKept = ({ target }: ImageDecision): boolean =>
  target.keepPattern !== undefined || (target.wanted !== undefined && !isRequested(target));

const isToPin = (image: ImageDecision): boolean => image.target.isSandbox || isKept(image);

/**
 * Those of these images that fit below the limit: first the sandbox image, then the keep list, of it first those that are pinned already, then in
 * its order; then the images that workloads want, again first those that are pinned already.
 */
function chosenOf(
  named: readonly NamedImage[],
  plan: PlannedImages,
  { disk, acting }: { readonly disk: DiskSpace | undefined; readonly acting: Acting },
): readonly NamedImage[] {
  const { keep } = acting.rule;
  const rankOf = ({ image: { target }, isOwn }: NamedImage): number =>
    target.isSandbox ? 0 : (target.keepPattern === undefined ? 3 : 1) + (isOwn ? 0 : 1);
  const placeOf = ({ image }: NamedImage): number => keep.indexOf(image.target.keepPattern ?? '');
  const limit = limitOf(disk, acting);
  const chosen: NamedImage[] = [];
  for (const one of named.toSorted((a, b) => rankOf(a) - rankOf(b) || placeOf(a) - placeOf(b))) {
    const isPinnedByOthers = !one.isOwn && one.names.every(isOfOthers);
    if (isPinnedByOthers || !one.names.some(isManaged)) continue;
    const isKnown = limit !== undefined && isMeasured(one, plan);
    const fits = isKnown ? sizeOf([...chosen, one], plan).bytes <= limit : one.isOwn;
    if (fits) chosen.push(one);
  }
  return chosen;
}

/** Bytes; undefined = the disk is not known. */
const limitOf = (disk: DiskSpace | undefined, { rule }: Acting): number | undefined =>
  disk === undefined || disk.capacityBytes <= 0
    ? undefined
    : (disk.capacityBytes * rule.maxPinnedPercent) / 100;

const isMeasured = ({ image }: NamedImage, { space }: PlannedImages): boolean =>
  space?.images.has(image.target.id) === true;

const sizeOf = (some: readonly NamedImage[], { space }: PlannedImages): CountAndBytes => ({
  count: some.length,
  bytes: bytesOnDisk(
    some.map(({ image }) => image),
    space,
  ),
});

function notChosenBecause(
  one: NamedImage,
  plan: PlannedImages,
  limit: number | undefined,
): 'NotManaged' | 'DiskUnknown' | 'Limit' {
  if (!one.names.some(isManaged)) return 'NotManaged';
  return limit === undefined || !isMeasured(one, plan) ? 'DiskUnknown' : 'Limit';
}

function changesOf(
  names: readonly ImageName[],
  chosen: readonly NamedImage[],
  acting: Acting | undefined,
): readonly PinChange[] {
  const toPin = new Set(chosen.flatMap((one) => one.names));
  return names.flatMap((one): readonly PinChange[] => {
    const { name, labels } = one;
    if (acting === undefined || !toPin.has(one))
      return isOwn(one) ? [{ kind: 'unpin', name, labels: unpinned(one) }] : [];
    const wanted = { [pinLabel]: 'pinned', [ownLabel]: acting.policy.name };
    const isPinned = Object.entries(wanted).every(([key, value]) => labels[key] === value);
    return isPinned || isOfOthers(one) || !isManaged(one) ? [] : [{ kind: 'pin', name, labels: wanted }];
  });
}
