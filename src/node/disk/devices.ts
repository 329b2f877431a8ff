import { unknownDevices, type DiskDevices } from '../../api/file-system.ts';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import type { StatFs } from './filesystem.ts';
import { within } from './within.ts';

interface DevicesDeps {
  readonly runtime: Pick<ContainerRuntime, 'fileSystems'>;
  readonly statFs: StatFs;
  readonly kubeletRoot: string;
  readonly deadline?: () => AbortSignal;
}

/** A runtime that hangs must not delay what is known without it. */
const timeoutMs = 5_000;

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
