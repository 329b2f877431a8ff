import type { NodeSignal, SignalReading } from '../../api/node-pressure.ts';
import { asObject } from '../../kube/codec/json.ts';
import { count, fileSystemOf, timeOf } from './json.ts';

/**
 * Reads the signals of a node from the field `node` of a kubelet's `/stats/summary`, as the kubelet's eviction manager does
 * (pkg/kubelet/eviction/helpers.go, makeSignalObservations). A signal without both values is missing: some runtimes report no inodes, and an impossible value is unknown.
 */
export function signalsOf(node: unknown, nowMs: number): readonly SignalReading[] {
  const { memory, fs, runtime } = asObject(node);
  const { imageFs, containerFs } = asObject(runtime);
  return [
    ...fileSystem('nodefs', fs, nowMs),
    ...fileSystem('imagefs', imageFs, nowMs),
    ...fileSystem('containerfs', containerFs, nowMs),
    ...memoryOf(memory, nowMs),
  ];
}

function fileSystem(
  name: 'nodefs' | 'imagefs' | 'containerfs',
  stats: unknown,
  nowMs: number,
): readonly SignalReading[] {
  const { availableBytes, capacityBytes, inodesFree, inodes } = fileSystemOf(stats);
  const measuredAtMs = timeOf(asObject(stats)['time']) ?? nowMs;
  return [
    ...reading(`${name}.available`, { available: availableBytes, capacity: capacityBytes, measuredAtMs }),
    ...reading(`${name}.inodesFree`, { available: inodesFree, capacity: inodes, measuredAtMs }),
  ];
}

function memoryOf(memory: unknown, nowMs: number): readonly SignalReading[] {
  const { time, availableBytes, workingSetBytes } = asObject(memory);
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
    measuredAtMs,
  }: {
    readonly available: number | undefined;
    readonly capacity: number | undefined;
    readonly measuredAtMs: number;
  },
): readonly SignalReading[] {
  if (available === undefined || capacity === undefined || capacity === 0) return [];
  return [{ signal, available, capacity, measuredAtMs }];
}
