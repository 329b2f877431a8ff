import { isSameFileSystem } from '../../api/file-system.ts';
import type { ImageGcPolicy } from '../../api/policy/policy.ts';
import type { DiskSpace } from '../../node/disk/filesystem.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import { counted } from '../../gc/reasons/words.ts';
import { sum } from '../../runtime/sum.ts';
import type { CountAndBytes, ImageInventory, UnpinnedReason } from '../imagegc/facts.ts';
import type { Claim, ReportFacts } from './facts.ts';

type Finding = Pick<Claim, 'status' | 'reason' | 'message'>;

/** The free parts of a file system below which the kubelet evicts and removes all unused images: its defaults on Linux (evictionHard). An agent cannot read the real settings before Kubernetes 1.36. */
const evictionThresholds = {
  imagefs: { availablePercent: 15, inodesFreePercent: 5 },
  nodefs: { availablePercent: 10, inodesFreePercent: 5 },
} as const;
/** Distance of the policy's low threshold to the kubelet's high one: the distance of the kubelet's own two by default. */
const safeDistancePercent = 5;
/** A disk this near to the kubelet's eviction signal is at risk, until it is twice as far away. */
const nearPercent = 2;

/**
 * Whether the kubelet may remove images that the policy keeps: by its keep list, or because `only` selects others. The kubelet has neither,
 * but it keeps what is pinned in the runtime. Above its high threshold it removes the least recently used images, and at a disk eviction signal every unused one.
 */
export function keepListClaim(facts: ReportFacts, before: string | undefined): Claim {
  return { type: 'KeepListAtRisk', ...find(facts, before) };
}

function find(facts: ReportFacts, before: string | undefined): Finding {
  const policy = keepingPolicy(facts);
  if (policy === undefined)
    return { status: 'False', reason: 'NoKeepList', message: 'No policy keeps images on this node' };
  const kept = facts.images?.kept;
  const disk = facts.imageDisk ?? facts.images?.disk;
  const pins = pinState(facts, policy);
  if (pins === 'Pinned') {
    const message = 'The kubelet keeps every image that the policy keeps: the runtime shows it as pinned';
    return { status: 'False', reason: pins, message };
  }
  const risk = thresholdRisk(policy) ?? keptRisk(policy, kept, disk) ?? diskRisk(facts, disk, before);
  if (risk === undefined) return noRisk(kept, disk);
  return 'pending' in pins
    ? { status: 'Unknown', reason: 'Undecided', message: `${pins.pending}. If not: ${risk.message}` }
    : { status: 'True', reason: risk.reason, message: `${risk.message}. ${pins.unpinned}` };
}

/** Whether all kept images are pinned; else why only the next pass shows it, or why the kubelet may remove one. */
function pinState(
  { governance, images }: ReportFacts,
  { only }: ImageGcPolicy,
): 'Pinned' | { readonly pending: string } | { readonly unpinned: string } {
  if (only.length > 0) return { unpinned: 'Images that only `only` protects are not pinned' };
  if (images === undefined || !isOfPolicy(images, governance))
    return { pending: 'No pass under this policy has shown yet whether the images are pinned' };
  const { bound, unbound } = images.pins;
  const worst = unbound[0]?.reason;
  // It is the last of the reasons: no image has another.
  if (worst === 'NotYet')
    return {
      pending:
        'The last pass has pinned the images, and the next one shows whether the runtime knows the pins',
    };
  if (worst !== undefined) {
    const count = sum(unbound.map((one) => one.count));
    return { unpinned: `${counted(count, 'image')} not pinned: ${unpinnedBecause[worst]}` };
  }
  if (images.wantedUnknown !== undefined)
    return { unpinned: `Not all images that workloads want are known: ${images.wantedUnknown}` };
  return bound === 0
    ? { unpinned: 'No image of the node is on the keep list or wanted by a workload' }
    : 'Pinned';
}

/** Whether the last pass over images was under the policy that the report names. */
export function isOfPolicy({ unmatched }: ImageInventory, { policy }: NodeGovernance): boolean {
  return unmatched?.policy.uid === policy?.uid && unmatched?.policy.generation === policy?.generation;
}

const unpinnedBecause: Readonly<Record<Exclude<UnpinnedReason, 'NotYet'>, string>> = {
  Limit: 'more than maxPinnedPercent of the disk would be pinned',
  DiskUnknown: 'the size of the images or of the disk is unknown',
  NotRead: "containerd's own services could not be read, so whether they are pinned is unknown",
  NotContainerd:
    'the runtime is not containerd (CRI-O pins what pinned_images in its configuration names, cri-dockerd pins nothing)',
  NotManaged: 'the CRI of containerd does not manage them',
  NotShown: 'the runtime does not show the pins, which needs containerd 1.7.10, or 1.6.25, or later',
  Off: 'the policy is in mode DryRun, or maxPinnedPercent is 0',
};

function keepingPolicy({ governance }: ReportFacts): ImageGcPolicy | undefined {
  const policy = governance.kind === 'governed' ? governance.nodes.imageGC : undefined;
  return policy === undefined || (policy.keep.length + policy.only.length === 0 && !policy.pinWanted)
    ? undefined
    : policy;
}

function noRisk(kept: CountAndBytes | undefined, disk: DiskSpace | undefined): Finding {
  if (kept === undefined || disk === undefined || disk.capacityBytes <= 0) {
    const message = 'The size of the kept images or of the image file system is unknown';
    return { status: 'Unknown', reason: 'Undecided', message };
  }
  const message =
    "dustpan removes images well before the kubelet (as far as the kubelet's settings are known)";
  return { status: 'False', reason: 'AheadOfKubelet', message };
}

type Risk = Pick<Claim, 'reason' | 'message'> | undefined;

function thresholdRisk({
  highThresholdPercent: high,
  lowThresholdPercent: low,
  kubeletHighThresholdPercent: kubelet,
}: ImageGcPolicy): Risk {
  // 100 = the kubelet's image GC is off.
  if (kubelet >= 100 || (high < kubelet && low <= kubelet - safeDistancePercent)) return undefined;
  const own = high >= 100 ? 'at no usage (100 is off)' : `above ${high} % down to ${low} %`;
  const message =
    `The kubelet removes images above ${kubelet} %, this policy ${own}: set highThresholdPercent below ` +
    `${kubelet} and lowThresholdPercent to ${Math.max(kubelet - safeDistancePercent, 0)} or less, or raise the kubelet's imageGCHighThresholdPercent`;
  return { reason: 'ThresholdTooHigh', message };
}

function keptRisk(
  { kubeletHighThresholdPercent: kubelet }: ImageGcPolicy,
  kept: CountAndBytes | undefined,
  disk: DiskSpace | undefined,
): Risk {
  if (kept === undefined || disk === undefined || disk.capacityBytes <= 0) return undefined;
  const percent = Math.floor((100 * kept.bytes) / disk.capacityBytes);
  if (kubelet >= 100 || percent < kubelet) return undefined;
  const message = `The kept images alone (${kept.count}) use ${percent} % of the image file system, and the kubelet removes images above ${kubelet} %`;
  return { reason: 'KeepListTooLarge', message };
}

function diskRisk(
  { nodeDisk }: ReportFacts,
  imageDisk: DiskSpace | undefined,
  before: string | undefined,
): Risk {
  const reason = 'DiskNearSignal';
  const margin = before === reason ? 2 * nearPercent : nearPercent;
  const isDedicated =
    imageDisk !== undefined && nodeDisk !== undefined && !isSameFileSystem(nodeDisk, imageDisk);
  // The kubelet removes images for the node's file system only if they share it.
  const signal =
    nearSignal(imageDisk, 'imagefs', margin) ??
    (isDedicated ? undefined : nearSignal(nodeDisk, 'nodefs', margin));
  if (signal === undefined) return undefined;
  const name = signal.startsWith('imagefs') ? 'image file system' : 'file system of the node';
  const message = `The ${name} is near the kubelet's eviction signal (${signal}, its default), at which it removes every unused image`;
  return { reason, message };
}

/** Returns `imagefs.available below 15 %` when the file system is near that. */
function nearSignal(
  disk: DiskSpace | undefined,
  name: 'imagefs' | 'nodefs',
  margin: number,
): string | undefined {
  if (disk === undefined) return undefined;
  const { availablePercent, inodesFreePercent } = evictionThresholds[name];
  const isNear = (free: number, all: number, percent: number): boolean =>
    100 * free < (percent + margin) * all;
  if (isNear(disk.availableBytes, disk.capacityBytes, availablePercent))
    return `${name}.available below ${availablePercent} %`;
  const { inodes = 0, inodesFree = 0 } = disk;
  return isNear(inodesFree, inodes, inodesFreePercent)
    ? `${name}.inodesFree below ${inodesFreePercent} %`
    : undefined;
}
