import type { EventSpec, ObjectRef } from '../../kube/recorder.ts';
import { sizeText } from '../../runtime/size-text.ts';
import type { DiskAttribution } from './attribution.ts';

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

/** The image file system claims to have no capacity (upstream.md 2.3). */
export const invalidDiskCapacity = (node: NodeIdentity): EventSpec =>
  warning(node, 'InvalidDiskCapacity', invalidCapacityMessage);

export const invalidCapacityMessage = 'invalid capacity 0 on image filesystem';

/** From the second failure in a row on (upstream.md 2.6). */
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

/** In upstream's words. */
export const shortMessage = (wantedBytes: number, freedBytes: number): string =>
  `Failed to garbage collect required amount of images. Attempted to free ${wantedBytes} bytes, but only found ${freedBytes} bytes eligible to free.`;

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
