import type { Policy } from '../../api/policy/policy.ts';
import { heldImagesText } from '../../gc/reasons/hold-words.ts';
import type { RuntimeContainerStats } from '../../cri/runtime.ts';
import type { ObjectRef } from '../../api/event-refs.ts';
import type { HeldImages } from '../../gc/hold.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import type { DiskSpace } from '../../node/disk/filesystem.ts';
import { shortSizeText, sizeText } from '../../runtime/text/size-text.ts';
import { amountOf, hasCapacity, usedPercentOf } from './disk.ts';
import type { ImageDecision, ImageGcPlan, SpaceUnit } from './facts.ts';
import { bytesOnDisk } from './space.ts';

const warning = (node: ObjectRef, reason: string, note: string): EventSpec => ({
  regarding: node,
  type: 'Warning',
  reason,
  action: 'CollectImages',
  note,
});

/** The first large removal by new rules waits on this node. */
export const holding = (node: ObjectRef, policy: Policy, held: HeldImages): EventSpec => ({
  ...warning(node, 'ImagesHolding', heldImagesText(policy, held)),
  occasion: policy.rulesId,
});

/** The image file system reports a capacity of 0 (pkg/kubelet/images/image_gc_manager.go, GarbageCollect). */
export const invalidDiskCapacity = (node: ObjectRef): EventSpec =>
  warning(node, 'InvalidDiskCapacity', invalidCapacityMessage);

export const invalidCapacityMessage = 'invalid capacity 0 on image filesystem';

/** Recorded from the second consecutive failure on, as in pkg/kubelet/kubelet.go, StartGarbageCollection. */
export const imageGcFailed = (node: ObjectRef, message: string): EventSpec =>
  warning(node, 'ImageGCFailed', message);

/** Every removable image was removed and usage is still above the low threshold: the kubelet's words, then the disk usage, unless it is unknown. */
export const freeDiskSpaceFailed = (node: ObjectRef, message: string, measured: Measured): EventSpec =>
  warning(node, 'FreeDiskSpaceFailed', [message, ...usageText(measured)].join(' '));

type Shortage = Pick<ImageGcPlan, 'crossed' | 'wantedBytes' | 'wantedInodes'>;

/** The words of Kubernetes 1.36 with readable sizes, then the target, for bytes, inodes or both; `disk` was measured before the pass. */
export function shortMessage(
  disk: DiskSpace | undefined,
  { crossed, wantedBytes, wantedInodes }: Shortage,
  freed: { readonly bytes: number; readonly inodes: number },
): string {
  const texts = {
    bytes: `Failed to free sufficient space by deleting unused images (freed ${shortSizeText(freed.bytes)}). Wanted ${shortSizeText(wantedBytes)}.`,
    inodes: `Failed to free sufficient inodes by deleting unused images (freed ${freed.inodes} inodes). Wanted ${wantedInodes} inodes.`,
  };
  return crossed.map((unit) => `${insufficient(unit, disk)} ${texts[unit]}`).join(' ');
}

/** The same for a dry run. */
export function dryShortMessage(
  disk: DiskSpace | undefined,
  { crossed, ...plan }: Shortage & Pick<ImageGcPlan, 'plannedBytes' | 'plannedInodes'>,
): string {
  const texts = {
    bytes: `Deleting unused images would free ${shortSizeText(plan.plannedBytes)} of ${shortSizeText(plan.wantedBytes)}.`,
    inodes: `Deleting unused images would free an estimated ${plan.plannedInodes} of ${plan.wantedInodes} inodes.`,
  };
  return crossed.map((unit) => `${insufficient(unit, disk)} ${texts[unit]}`).join(' ');
}

function insufficient(unit: SpaceUnit, disk: DiskSpace | undefined): string {
  const amount = amountOf(unit, disk);
  const [what, sizeOf] = unit === 'bytes' ? ['disk space', shortSizeText] : ['inodes', String];
  const used = amount && ` (${usedPercentOf(amount)}% of ${sizeOf(amount.total)} used)`;
  return `Insufficient free ${what} on the node's image filesystem${used ?? ''}.`;
}

/** What uses the image file system; undefined = unknown. */
interface Measured {
  readonly kept: readonly ImageDecision[];
  readonly space: ImageGcPlan['space'];
  readonly disk: DiskSpace | undefined;
  readonly stats: readonly RuntimeContainerStats[] | undefined;
  readonly logBytes: number | undefined;
}

/** Sums up the usage of the image file system in bytes: kept images by reason, largest first, and what else is known of it. */
function usageText({ kept, space, disk, stats, logBytes }: Measured): readonly string[] {
  if (!hasCapacity(disk)) return [];
  const { capacityBytes, availableBytes } = disk;
  const usedBytes = Math.max(0, capacityBytes - availableBytes);
  const layerBytes = stats?.reduce((sum, layer) => sum + (layer.writableLayerBytes ?? 0), 0);
  const explained = bytesOnDisk(kept, space) + (layerBytes ?? 0) + (logBytes ?? 0);
  const images = [...Map.groupBy(kept, ({ reason }) => reason)]
    .map(([reason, of]) => ({ reason, count: of.length, bytes: bytesOnDisk(of, space) }))
    .toSorted((a, b) => b.bytes - a.bytes);
  const parts = [
    ...images.map(({ reason, count, bytes }) => `images ${reason} ${sizeText(bytes)} (${count})`),
    `writable layers ${sizeOrUnknown(layerBytes)}`,
    `logs ${sizeOrUnknown(logBytes)}`,
    `rest ${sizeText(Math.max(0, usedBytes - explained))}`,
  ];
  return [`Used: ${sizeText(usedBytes)} of ${sizeText(capacityBytes)}: ${parts.join(', ')}.`];
}

const sizeOrUnknown = (bytes: number | undefined): string =>
  bytes === undefined ? 'unknown' : sizeText(bytes);
