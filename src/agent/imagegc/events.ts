import type { EventSpec, ObjectRef } from '../../kube/events/recorder.ts';
import { kubeletSizeText, sizeText } from '../../runtime/text/size-text.ts';
import type { DiskAttribution } from './attribution.ts';
import { usedPercentOf, type DiskSpace } from './disk.ts';

/** The node the agent runs on. */
export interface NodeIdentity {
  readonly name: string;
  readonly uid: string;
}

const nodeRef = ({ name, uid }: NodeIdentity): ObjectRef => ({
  apiVersion: 'v1',
  kind: 'Node',
  namespace: undefined,
  name,
  uid,
});

const warning = (node: NodeIdentity, reason: string, note: string): EventSpec => ({
  regarding: nodeRef(node),
  type: 'Warning',
  reason,
  action: 'CollectImages',
  note,
});

/** The image file system claims to have no capacity (pkg/kubelet/images/image_gc_manager.go, GarbageCollect). */
export const invalidDiskCapacity = (node: NodeIdentity): EventSpec =>
  warning(node, 'InvalidDiskCapacity', invalidCapacityMessage);

export const invalidCapacityMessage = 'invalid capacity 0 on image filesystem';

/** From the second failure in a row on (pkg/kubelet/kubelet.go, StartGarbageCollection). */
export const imageGcFailed = (node: NodeIdentity, message: string): EventSpec =>
  warning(node, 'ImageGCFailed', message);

/** All that may go is gone and the target is still not met: upstream's words, then what the disk is full of. */
export function freeDiskSpaceFailed(
  node: NodeIdentity,
  message: string,
  attribution: DiskAttribution | undefined,
): EventSpec {
  const cause = attribution === undefined ? '' : ` ${attributionText(attribution)}`;
  return warning(node, 'FreeDiskSpaceFailed', `${message}${cause}`);
}

/** In the words of Kubernetes 1.36, then the target; `disk` is as it was before the pass. */
export const shortMessage = (
  disk: DiskSpace | undefined,
  { wantedBytes, freedBytes }: { readonly wantedBytes: number; readonly freedBytes: number },
): string =>
  `${insufficient(disk)} Failed to free sufficient space by deleting unused images (freed ${freedBytes} bytes). Wanted ${wantedBytes} bytes.`;

/** The same of a pass that removes nothing. */
export const dryShortMessage = (
  disk: DiskSpace | undefined,
  { wantedBytes, plannedBytes }: { readonly wantedBytes: number; readonly plannedBytes: number },
): string =>
  `${insufficient(disk)} Deleting unused images would free ${plannedBytes} of ${wantedBytes} bytes.`;

function insufficient(disk: DiskSpace | undefined): string {
  const usedPercent = usedPercentOf(disk);
  const used =
    disk === undefined || usedPercent === undefined
      ? ''
      : ` (${usedPercent}% of ${kubeletSizeText(disk.capacityBytes)} used)`;
  return `Insufficient free disk space on the node's image filesystem${used}.`;
}

function attributionText({ images, ...disk }: DiskAttribution): string {
  const parts = [
    ...images.map(({ reason, count, bytes }) => `images ${reason} ${sizeText(bytes)} (${count})`),
    `writable layers ${known(disk.writableLayerBytes)}`,
    `logs ${known(disk.logBytes)}`,
    `rest ${sizeText(disk.restBytes)}`,
  ];
  return `Used: ${sizeText(disk.usedBytes)} of ${sizeText(disk.capacityBytes)}: ${parts.join(', ')}.`;
}

const known = (bytes: number | undefined): string => (bytes === undefined ? 'unknown' : sizeText(bytes));
