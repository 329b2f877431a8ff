import { stat, statfs } from 'node:fs/promises';
import { unknownDevices, type DiskDevices } from '../../api/file-system.ts';
import type { ContainerRuntime, RuntimeFileSystems } from '../../cri/runtime.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { within } from './within.ts';

/** Size and free space of a file system. `availableBytes` is available to ordinary users, as the kubelet counts. */
export interface FileSystemStats {
  /** `stat().dev`; undefined = not read. */
  readonly device?: number | undefined;
  readonly capacityBytes: number;
  readonly availableBytes: number;
  /** With those that are reserved for root, as df counts used bytes; undefined = not read. */
  readonly freeBytes?: number | undefined;
  /** undefined = the file system does not count them (btrfs). */
  readonly inodes: number | undefined;
  readonly inodesFree: number | undefined;
}

/** Reads size and free space of the file system that `path` is on; rejects after a few seconds, in one line that names the path. */
export type StatFs = (path: string, signal: AbortSignal) => Promise<FileSystemStats>;

type RawStats = Readonly<Record<'bsize' | 'blocks' | 'bavail' | 'bfree' | 'files' | 'ffree', bigint>> & {
  readonly dev?: number;
};

async function readStats(path: string): Promise<RawStats> {
  const { dev } = await stat(path);
  const { bsize, blocks, bavail, bfree, files, ffree } = await statfs(path, { bigint: true });
  return { dev, bsize, blocks, bavail, bfree, files, ffree };
}

interface StatFsOptions {
  readonly read?: (path: string) => Promise<RawStats>;
  readonly deadline?: () => AbortSignal;
}

/** A local file system responds in microseconds; one that needs longer is a network mount that hangs. A runtime that hangs must not delay what is known without it. */
const timeoutMs = 5_000;

/** A StatFs on this machine. A read of a mount that hangs blocks one thread for ever, so there is at most one read per path. */
export function statFsReader({
  read = readStats,
  deadline = () => AbortSignal.timeout(timeoutMs),
}: StatFsOptions = {}): StatFs {
  const underWay = new Map<string, Promise<RawStats>>();
  const readOnce = (path: string): Promise<RawStats> => {
    const reading = underWay.get(path) ?? read(path).finally(() => underWay.delete(path));
    underWay.set(path, reading);
    return reading;
  };
  return async (path, signal) => {
    signal.throwIfAborted();
    try {
      const late = (): Error => new Error('no response: the mount hangs');
      return converted(await within(readOnce(path), { deadline: deadline(), late }, signal));
    } catch (err) {
      signal.throwIfAborted();
      throw new Error(`reading the file system of ${path}`, { cause: err });
    }
  };
}

/** Throws for more available blocks than there are: some network file systems report them, and nobody knows what is available then. */
function converted({ dev, bsize, blocks, bavail, bfree, files, ffree }: RawStats): FileSystemStats {
  if (!isPart(bavail, blocks))
    throw new Error(`impossible values: ${bavail} of ${blocks} blocks are available`);
  const counted = files > 0n && isPart(ffree, files);
  return {
    device: dev,
    capacityBytes: Number(blocks * bsize),
    availableBytes: Number(bavail * bsize),
    freeBytes: isPart(bfree, blocks) ? Number(bfree * bsize) : undefined,
    inodes: counted ? Number(files) : undefined,
    inodesFree: counted ? Number(ffree) : undefined,
  };
}

const isPart = (value: bigint, whole: bigint): boolean => value >= 0n && value <= whole;

/** The usage of the image file system. Inodes are undefined where nobody counts them. */
export interface DiskSpace {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly inodes?: number | undefined;
  readonly inodesFree?: number | undefined;
  /** Bytes of the layers of all images together, unpacked, as the runtime counts them; 0 or undefined = unknown. */
  readonly usedBytes?: number | undefined;
  /** Inodes of all images together, as the runtime counts them. */
  readonly inodesUsed?: number | undefined;
}

export interface ImageDisk extends DiskSpace {
  readonly usedPercent: number;
  readonly inodes: number | undefined;
  readonly inodesFree: number | undefined;
}

/** The image file system: the disk, its mount point, and the usage of the runtime's images. */
export interface MountedImageDisk extends ImageDisk, Pick<FileSystemStats, 'device' | 'freeBytes'> {
  readonly mountpoint: string;
  /** Bytes as the runtime counts: unpacked images, without compressed layers. */
  readonly usedBytes: number;
  readonly inodesUsed: number;
}

interface ImageDiskDeps {
  readonly runtime: Pick<ContainerRuntime, 'fileSystems'>;
  readonly statFs: StatFs;
}

/** Reads the first image file system that the runtime names, as the kubelet does; its path must be the same here as on the node. */
export async function imageDisk(
  { runtime, statFs }: ImageDiskDeps,
  signal: AbortSignal,
): Promise<MountedImageDisk> {
  return await imageDiskOf(await runtime.fileSystems(signal), statFs, signal);
}

/** The same from what the runtime has already reported. */
export async function imageDiskOf(
  { images: [first] }: RuntimeFileSystems,
  statFs: StatFs,
  signal: AbortSignal,
): Promise<MountedImageDisk> {
  if (first === undefined || first.mountpoint === '')
    throw new Error('reading the image disk: the runtime names no image file system');
  const { mountpoint, usedBytes, inodesUsed } = first;
  const disk = await statFs(mountpoint, signal);
  return { ...disk, usedPercent: usedPercent(disk), mountpoint, usedBytes, inodesUsed };
}

/** Returns the usage in percent in the kubelet's integer arithmetic; 0 for a disk without capacity. */
export function usedPercent({
  capacityBytes,
  availableBytes,
}: Pick<FileSystemStats, 'capacityBytes' | 'availableBytes'>): number {
  if (capacityBytes <= 0) return 0;
  const percent = 100 - Number((BigInt(availableBytes) * 100n) / BigInt(capacityBytes));
  return Math.min(Math.max(percent, 0), 100);
}

interface DevicesDeps {
  readonly runtime: Pick<ContainerRuntime, 'fileSystems'>;
  readonly statFs: StatFs;
  readonly kubeletRoot: string;
  readonly deadline?: () => AbortSignal;
}

/** Reads the devices of the kubelet's root directory and of the runtime's file systems, whose paths must be the same here as on the node. Rejects only when the signal aborts. */
export async function diskDevices(
  { runtime, statFs, kubeletRoot, deadline = () => AbortSignal.timeout(timeoutMs) }: DevicesDeps,
  signal: AbortSignal,
): Promise<DiskDevices> {
  const deviceOf = async (path: string): Promise<number | undefined> =>
    (await statFs(path, signal).catch(() => undefined))?.device;
  const read = async (): Promise<DiskDevices> => {
    const { images, containers } = await runtime.fileSystems(signal);
    const imageFs = images[0] && (await deviceOf(images[0].mountpoint));
    // A runtime that names no file system of containers has them on that of images.
    const containerFs = containers[0] ? await deviceOf(containers[0].mountpoint) : imageFs;
    return { kubeletRoot: await deviceOf(kubeletRoot), imageFs, containerFs };
  };
  try {
    const late = (): Error => new Error('no response');
    return await within(read(), { deadline: deadline(), late }, signal);
  } catch {
    signal.throwIfAborted();
    return unknownDevices;
  }
}

/** A node seldom mounts other file systems. */
const readEveryMs = 60_000;

/** Reads at most once a minute; while a read fails, the last devices count. */
export function cachedDevices(
  read: (signal: AbortSignal) => Promise<DiskDevices>,
  clock: Pick<Clock, 'monotonicMs'>,
): (signal: AbortSignal) => Promise<DiskDevices> {
  let last: { readonly devices: DiskDevices; readonly atMs: number } | undefined;
  return async (signal) => {
    const atMs = clock.monotonicMs();
    if (last !== undefined && atMs - last.atMs < readEveryMs) return last.devices;
    const devices = await read(signal);
    if (devices.kubeletRoot !== undefined && devices.imageFs !== undefined) last = { devices, atMs };
    return last?.devices ?? devices;
  };
}
