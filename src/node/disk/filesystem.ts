import { statfs } from 'node:fs/promises';
import type { ImageDisk } from '../../api/report/node-pass.ts';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import { within } from './within.ts';

/** What a file system has and has left. `availableBytes` is what an ordinary user may still write, as the kubelet counts. */
export interface FileSystemFigures {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  /** undefined = the file system does not count them (btrfs). */
  readonly inodes: number | undefined;
  readonly inodesFree: number | undefined;
}

/** Reads the figures of the file system that `path` is on; rejects within some seconds, in one line that names the path. */
export type StatFs = (path: string, signal: AbortSignal) => Promise<FileSystemFigures>;

type RawFigures = Readonly<Record<'bsize' | 'blocks' | 'bavail' | 'files' | 'ffree', bigint>>;

interface StatFsOptions {
  readonly read?: (path: string) => Promise<RawFigures>;
  readonly deadline?: () => AbortSignal;
}

/** A local file system answers in microseconds; one that takes longer is a network mount that hangs. */
const timeoutMs = 5_000;

/** A StatFs on this machine. A mount that hangs holds one thread of the process for ever, so it is asked once at a time. */
export function statFsReader({
  read = (path) => statfs(path, { bigint: true }),
  deadline = () => AbortSignal.timeout(timeoutMs),
}: StatFsOptions = {}): StatFs {
  const underWay = new Map<string, Promise<RawFigures>>();
  const ask = (path: string): Promise<RawFigures> => {
    const known = underWay.get(path);
    if (known !== undefined) return known;
    const asked = read(path).finally(() => underWay.delete(path));
    underWay.set(path, asked);
    return asked;
  };
  return async (path, signal) => {
    signal.throwIfAborted();
    try {
      const late = (): Error => new Error('no answer, the mount hangs');
      return figures(await within(ask(path), { deadline: deadline(), late }, signal));
    } catch (err) {
      signal.throwIfAborted();
      throw new Error(`reading the file system of ${path}`, { cause: err });
    }
  };
}

/** In doubt less is available: more than the capacity is impossible, as is less than nothing (some network file systems say so). */
function figures({ bsize, blocks, bavail, files, ffree }: RawFigures): FileSystemFigures {
  const counted = files > 0n;
  return {
    capacityBytes: Number(blocks * bsize),
    availableBytes: Number(clamp(bavail, blocks) * bsize),
    inodes: counted ? Number(files) : undefined,
    inodesFree: counted ? Number(clamp(ffree, files)) : undefined,
  };
}

const clamp = (value: bigint, max: bigint): bigint => (value < 0n ? 0n : value > max ? max : value);

/** The image file system: the disk, where it is mounted, and what the runtime's images take of it. */
export interface MountedImageDisk extends ImageDisk {
  readonly mountpoint: string;
  /** As the runtime counts: unpacked images, without the packed blobs. */
  readonly usedBytes: number;
  readonly inodesUsed: number;
}

interface ImageDiskDeps {
  readonly runtime: Pick<ContainerRuntime, 'fileSystems'>;
  readonly statFs: StatFs;
}

/** The disk of the first image file system that the runtime names, as the kubelet takes it; its path must be the same here as on the node. */
export async function imageDisk(
  { runtime, statFs }: ImageDiskDeps,
  signal: AbortSignal,
): Promise<MountedImageDisk> {
  const [first] = (await runtime.fileSystems(signal)).images;
  if (first === undefined || first.mountpoint === '')
    throw new Error('reading the image disk: the runtime names no image file system');
  const { mountpoint, usedBytes, inodesUsed } = first;
  const disk = await statFs(mountpoint, signal);
  return { ...disk, usedPercent: usedPercent(disk), mountpoint, usedBytes, inodesUsed };
}

/** In the kubelet's integer arithmetic; 0 of a disk without capacity, of which nothing can be said. */
export function usedPercent({
  capacityBytes,
  availableBytes,
}: Pick<FileSystemFigures, 'capacityBytes' | 'availableBytes'>): number {
  if (capacityBytes <= 0) return 0;
  const percent = 100 - Number((BigInt(availableBytes) * 100n) / BigInt(capacityBytes));
  return Math.min(Math.max(percent, 0), 100);
}
