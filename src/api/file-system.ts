/** Size and free space of a file system; undefined = not known. */
export interface FileSystemFacts {
  /** The device of its mount point (`stat(2)`, `st_dev`). */
  readonly device?: number | undefined;
  readonly capacityBytes: number | undefined;
  readonly availableBytes: number | undefined;
  readonly inodes?: number | undefined;
  readonly inodesFree?: number | undefined;
}

/** The devices of the file systems of a node; undefined = not known. */
export interface DiskDevices {
  readonly kubeletRoot: number | undefined;
  /** Of the runtime's images. */
  readonly imageFs: number | undefined;
  /** Of the writable layers of containers. */
  readonly containerFs: number | undefined;
}

export const unknownDevices: DiskDevices = {
  kubeletRoot: undefined,
  imageFs: undefined,
  containerFs: undefined,
};

/**
 * Whether two paths are on one file system. The kubelet compares their devices (pkg/kubelet/stats/provider.go, HasDedicatedImageFs). If one is unknown,
 * file systems are one if they have nearly the same size and amount available: both are measured at slightly different times, and the inodes of XFS and
 * the bytes of ZFS change with what is available.
 */
export function isSameFileSystem(a: FileSystemFacts, b: FileSystemFacts): boolean {
  if (a.device !== undefined && b.device !== undefined) return a.device === b.device;
  return (
    a.capacityBytes !== undefined &&
    isNear(a.capacityBytes, b.capacityBytes) &&
    isNear(a.inodes, b.inodes) &&
    isNear(a.availableBytes, b.availableBytes) &&
    isNear(a.inodesFree, b.inodesFree)
  );
}

/** Equal, or different by less than 1 %. */
const isNear = (a: number | undefined, b: number | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && Math.abs(a - b) * 100 < Math.max(a, b));
