import type { FileSystemStats } from '../../node/disk/filesystem.ts';
import { isImageFsDedicated } from '../../node/kubelet/summary.ts';
import { each, fields, isObject, named, type JsonObject } from './pick.ts';

const usage = fields(named('time', 'usedBytes'));
const fileSystem = fields(
  named('time', 'availableBytes', 'capacityBytes', 'usedBytes', 'inodesFree', 'inodes', 'inodesUsed'),
);

/** `pvcRef` shows that the volume is not local storage; the name of the claim is not needed. */
const volume = fields({ ...named('name', 'time', 'usedBytes'), pvcRef: fields({}) });

/** The part of a kubelet's summary that a snapshot has: file systems, and the local storage usage of pods. */
const summary = fields({
  node: fields({ ...named('nodeName'), fs: fileSystem, runtime: fields({ imageFs: fileSystem }) }),
  pods: each(
    fields({
      podRef: fields(named('name', 'namespace', 'uid')),
      'ephemeral-storage': usage,
      volume: each(volume),
      containers: each(fields({ ...named('name'), rootfs: usage, logs: usage })),
    }),
  ),
});

/** The kubelet's response without fields that no rule reads; throws unless it is a summary. */
export function pickedSummary(answer: Buffer): JsonObject {
  const picked = summary(jsonOf(answer));
  if (!isObject(picked) || !isObject(picked['node'])) throw notSummary();
  // Without `pods`, the usage of pods would count as not known.
  return { node: picked['node'], pods: picked['pods'] ?? [] };
}

const notSummary = (cause?: unknown): Error =>
  new Error("the kubelet's response is not a stats summary (/stats/summary)", { cause });

function jsonOf(answer: Buffer): unknown {
  try {
    return JSON.parse(answer.toString());
  } catch (cause) {
    throw notSummary(cause);
  }
}

/** File systems as measured by this process; undefined = could not be measured. */
export interface MeasuredDisks {
  readonly imageFs:
    (FileSystemStats & { readonly usedBytes: number; readonly inodesUsed: number }) | undefined;
  readonly fs: FileSystemStats | undefined;
}

/** The stats without the kubelet's summary. Without `pods`, their usage is not known. */
export const ownStats = (nodeName: string, { imageFs, fs }: MeasuredDisks): JsonObject => ({
  node: {
    nodeName,
    ...(fs && { fs: statsJson(fs) }),
    runtime: { ...(imageFs && { imageFs: imageFsJson(imageFs) }) },
  },
});

/**
 * The summary with the image file system as measured by this process, as the agent does: the kubelet's values are older. Only the kubelet's
 * values show whether images have a file system of their own, so the result leads to the same conclusion.
 */
export function withDisk(picked: JsonObject, { imageFs }: MeasuredDisks): JsonObject {
  if (imageFs === undefined) return picked;
  const node = objectIn(picked, 'node');
  const fs = objectIn(node, 'fs');
  const measured = imageFsJson(imageFs);
  const looksShared = fs['capacityBytes'] === imageFs.capacityBytes;
  const distinct = looksShared ? undefined : fs['capacityBytes'];
  const capacityBytes = isImageFsDedicated(node) ? distinct : imageFs.capacityBytes;
  const runtime = { imageFs: { ...objectIn(objectIn(node, 'runtime'), 'imageFs'), ...measured } };
  return { ...picked, node: { ...node, fs: { ...fs, capacityBytes }, runtime } };
}

function objectIn(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isObject(value) ? value : {};
}

const imageFsJson = ({
  usedBytes,
  inodesUsed,
  ...values
}: NonNullable<MeasuredDisks['imageFs']>): JsonObject => ({
  ...statsJson(values),
  ...{ usedBytes, inodesUsed },
});

const statsJson = ({ capacityBytes, availableBytes, inodes, inodesFree }: FileSystemStats): JsonObject => ({
  ...{ capacityBytes, availableBytes },
  ...(inodes !== undefined && { inodes }),
  ...(inodesFree !== undefined && { inodesFree }),
});
