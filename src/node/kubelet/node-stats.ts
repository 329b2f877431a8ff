import type { DiskDevices, FileSystemFacts } from '../../api/file-system.ts';
import type { NodeSignal, SignalReading } from '../../api/node-pressure.ts';
import { asObject } from '../../kube/codec/json.ts';

/** The kubelet reads its unsigned numbers as signed ones (k8s.io/apimachinery/pkg/api/resource), so a larger one is negative: the difference of two measurements went below 0. */
export const largestCount = 2 ** 63;

/** A number from 0 to 2^63. */
export const count = (value: unknown): number | undefined =>
  typeof value === 'number' && value >= 0 && value <= largestCount ? value : undefined;

/** Unix milliseconds. Go writes the zero time as the year 1: not measured. */
export function timeOf(time: unknown): number | undefined {
  const ms = typeof time === 'string' ? Date.parse(time) : NaN;
  return ms > 0 ? ms : undefined;
}

/** Reads a file system of a stats summary. A value that cannot be is not known, as one that is missing; a capacity of 0 cannot be. */
export function fileSystemOf(stats: unknown): FileSystemFacts {
  const { capacityBytes, availableBytes, inodes, inodesFree } = asObject(stats);
  const [capacity, all] = [capacityBytes === 0 ? undefined : count(capacityBytes), count(inodes)];
  return {
    capacityBytes: capacity,
    availableBytes: atMost(capacity, count(availableBytes)),
    inodes: all,
    inodesFree: atMost(all, count(inodesFree)),
  };
}

const atMost = (max: number | undefined, value: number | undefined): number | undefined =>
  value !== undefined && value <= (max ?? largestCount) ? value : undefined;

/** The parts of the field `node` of a stats summary. */
interface NodeStats extends Readonly<Record<'fs' | 'imageFs' | 'containerFs', unknown>> {
  readonly memory: Readonly<Record<'time' | 'availableBytes' | 'workingSetBytes', unknown>>;
}

export function partsOf(node: unknown): NodeStats {
  const { fs, memory, runtime } = asObject(node);
  const { imageFs, containerFs } = asObject(runtime);
  const { time, availableBytes, workingSetBytes } = asObject(memory);
  return { fs, imageFs, containerFs, memory: { time, availableBytes, workingSetBytes } };
}

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
