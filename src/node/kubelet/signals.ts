import type { DiskDevices } from '../../api/file-system.ts';
import type { NodeSignal, SignalReading } from '../../api/node-pressure.ts';
import { asObject } from '../../kube/codec/json.ts';
import { count, fileSystemOf, partsOf, timeOf, type NodeStats } from './json.ts';

/**
 * Reads the signals of a node from the field `node` of a kubelet's `/stats/summary`, as the kubelet's eviction manager does
 * (pkg/kubelet/eviction/helpers.go, makeSignalObservations). A signal without both values is missing: some runtimes report no inodes, and an impossible value is unknown.
 */
export function signalsOf(node: unknown, nowMs: number, devices: DiskDevices): readonly SignalReading[] {
  const { memory, fs, imageFs, containerFs } = partsOf(node);
  return [
    ...fileSystem('nodefs', fs, { nowMs, device: devices.kubeletRoot }),
    ...fileSystem('imagefs', imageFs, { nowMs, device: devices.imageFs }),
    ...fileSystem('containerfs', containerFs, { nowMs, device: devices.containerFs }),
    ...memoryOf(memory, nowMs),
  ];
}

function fileSystem(
  name: 'nodefs' | 'imagefs' | 'containerfs',
  stats: unknown,
  { nowMs, device }: { readonly nowMs: number; readonly device: number | undefined },
): readonly SignalReading[] {
  const { availableBytes, capacityBytes, inodesFree, inodes } = fileSystemOf(stats);
  const measuredAtMs = timeOf(asObject(stats)['time']) ?? nowMs;
  const at = { measuredAtMs, device };
  return [
    ...reading(`${name}.available`, { available: availableBytes, capacity: capacityBytes, ...at }),
    ...reading(`${name}.inodesFree`, { available: inodesFree, capacity: inodes, ...at }),
  ];
}

/** The signals of inodes that a file system does not count (btrfs): the kubelet reports 0 of 0. */
export function uncountedOf(node: unknown): readonly NodeSignal[] {
  const { fs, imageFs, containerFs } = partsOf(node);
  const places = [
    ['nodefs.inodesFree', fs],
    ['imagefs.inodesFree', imageFs],
    ['containerfs.inodesFree', containerFs],
  ] as const;
  return places.flatMap(([signal, stats]) => (asObject(stats)['inodes'] === 0 ? [signal] : []));
}

function memoryOf(
  { time, availableBytes, workingSetBytes }: NodeStats['memory'],
  nowMs: number,
): readonly SignalReading[] {
  const [available, used] = [count(availableBytes), count(workingSetBytes)];
  if (available === undefined || used === undefined) return [];
  const measuredAtMs = timeOf(time) ?? nowMs;
  return reading('memory.available', { available, capacity: available + used, measuredAtMs });
}

/** A capacity of 0 is how a file system without inodes reports them (btrfs): not known. */
function reading(
  signal: NodeSignal,
  {
    available,
    capacity,
    ...at
  }: {
    readonly available: number | undefined;
    readonly capacity: number | undefined;
    readonly measuredAtMs: number;
    readonly device?: number | undefined;
  },
): readonly SignalReading[] {
  if (available === undefined || capacity === undefined || capacity === 0) return [];
  return [{ signal, available, capacity, ...at }];
}
