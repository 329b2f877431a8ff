import type { FileSystemFigures } from '../../node/disk/filesystem.ts';
import { isImageFsDedicated } from '../../node/kubelet/summary.ts';
import { each, fields, isObject, named, type JsonObject } from './pick.ts';

const figure = fields(named('time', 'usedBytes'));
const fileSystem = fields(
  named('time', 'availableBytes', 'capacityBytes', 'usedBytes', 'inodesFree', 'inodes', 'inodesUsed'),
);

/** That it is a claim's says that it is no local storage; which claim nobody needs to know. */
const volume = fields({ ...named('name', 'time', 'usedBytes'), pvcRef: fields({}) });

/** What of a kubelet's summary goes into a snapshot: file systems, and what pods use of local storage. */
const summary = fields({
  node: fields({ ...named('nodeName'), fs: fileSystem, runtime: fields({ imageFs: fileSystem }) }),
  pods: each(
    fields({
      podRef: fields(named('name', 'namespace', 'uid')),
      'ephemeral-storage': figure,
      volume: each(volume),
      containers: each(fields({ ...named('name'), rootfs: figure, logs: figure })),
    }),
  ),
});

/** What a kubelet answered, without what no rule reads; throws for what is no summary. */
export function pickedSummary(answer: Buffer): JsonObject {
  const picked = summary(jsonOf(answer));
  if (!isObject(picked) || !isObject(picked['node'])) throw noSummary();
  // One without pods would look as if nobody had asked.
  return { node: picked['node'], pods: picked['pods'] ?? [] };
}

const noSummary = (cause?: unknown): Error =>
  new Error("the kubelet's answer is no stats summary (/stats/summary)", { cause });

function jsonOf(answer: Buffer): unknown {
  try {
    return JSON.parse(answer.toString());
  } catch (cause) {
    throw noSummary(cause);
  }
}

/** File systems as they were measured here; undefined = could not be. */
export interface MeasuredDisks {
  readonly imageFs:
    (FileSystemFigures & { readonly usedBytes: number; readonly inodesUsed: number }) | undefined;
  readonly fs: FileSystemFigures | undefined;
}

/** What can be said without the kubelet; that nothing is said of pods means that what they use is not known. */
export const ownStats = (nodeName: string, { imageFs, fs }: MeasuredDisks): JsonObject => ({
  node: {
    nodeName,
    ...(fs && { fs: statsJson(fs) }),
    runtime: { ...(imageFs && { imageFs: imageFsJson(imageFs) }) },
  },
});

/**
 * A summary with the image file system as it was measured here: the kubelet's figures are older, and the agent goes by its own. Whether images
 * have a file system of their own stays the kubelet's word.
 */
export function withDisk(picked: JsonObject, { imageFs }: MeasuredDisks): JsonObject {
  if (imageFs === undefined) return picked;
  const node = objectIn(picked, 'node');
  const fs = objectIn(node, 'fs');
  const measured = imageFsJson(imageFs);
  const isApart = isImageFsDedicated(node);
  const looksShared = fs['capacityBytes'] === imageFs.capacityBytes;
  const told = looksShared ? undefined : fs['capacityBytes'];
  const capacityBytes = isApart ? told : imageFs.capacityBytes;
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
  ...figures
}: NonNullable<MeasuredDisks['imageFs']>): JsonObject => ({
  ...statsJson(figures),
  ...{ usedBytes, inodesUsed },
});

const statsJson = ({ capacityBytes, availableBytes, inodes, inodesFree }: FileSystemFigures): JsonObject => ({
  ...{ capacityBytes, availableBytes },
  ...(inodes !== undefined && { inodes }),
  ...(inodesFree !== undefined && { inodesFree }),
});
