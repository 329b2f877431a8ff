import { isObject } from '../../api/json.ts';
import type { FileSystemStats } from '../../node/disk/filesystem.ts';
import { unknownDevices } from '../../api/file-system.ts';
import { diskLayoutOf } from '../../node/kubelet/summary.ts';
import { each, fields, named, type JsonObject } from './pick.ts';

const usage = fields(named('time', 'usedBytes', 'inodesUsed'));
const fileSystem = fields(
  named('time', 'availableBytes', 'capacityBytes', 'usedBytes', 'inodesFree', 'inodes', 'inodesUsed'),
);

/** `pvcRef` shows that the volume is not local storage; the name of the claim is not needed. */
const volume = fields({ ...named('name', 'time', 'usedBytes', 'inodesUsed'), pvcRef: fields({}) });

/** The part of a kubelet's summary that a snapshot has: file systems and memory, and the usage of them by pods. */
const summary = fields({
  node: fields({
    ...named('nodeName'),
    fs: fileSystem,
    memory: fields(named('time', 'availableBytes', 'workingSetBytes')),
    runtime: fields({ imageFs: fileSystem, containerFs: fileSystem }),
  }),
  pods: each(
    fields({
      podRef: fields(named('name', 'namespace', 'uid')),
      'ephemeral-storage': usage,
      memory: fields(named('time', 'workingSetBytes')),
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

/** The summary with the image file system as measured by this process, as the agent does: the kubelet's values are older. */
export function withDisk(picked: JsonObject, { imageFs }: MeasuredDisks): JsonObject {
  if (imageFs === undefined) return picked;
  const node = objectIn(picked, 'node');
  const runtime = objectIn(node, 'runtime');
  const measured = imageFsJson(imageFs);
  const containerFs = objectIn(runtime, 'containerFs');
  // Values of two times would look like two file systems.
  const isShared =
    Object.keys(containerFs).length > 0 && !diskLayoutOf(node, unknownDevices).splitContainerFs;
  return {
    ...picked,
    node: {
      ...node,
      runtime: {
        ...runtime,
        imageFs: { ...objectIn(runtime, 'imageFs'), ...measured },
        ...(isShared && { containerFs: { ...containerFs, ...statsJson(imageFs) } }),
      },
    },
  };
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
  usedBytes,
  inodesUsed,
});

const statsJson = ({ capacityBytes, availableBytes, inodes, inodesFree }: FileSystemStats): JsonObject => ({
  capacityBytes,
  availableBytes,
  ...(inodes !== undefined && { inodes }),
  ...(inodesFree !== undefined && { inodesFree }),
});
