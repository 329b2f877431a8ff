import type { FileSystemFacts } from '../../api/file-system.ts';
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
export interface NodeStats extends Readonly<Record<'fs' | 'imageFs' | 'containerFs', unknown>> {
  readonly memory: Readonly<Record<'time' | 'availableBytes' | 'workingSetBytes', unknown>>;
}

export function partsOf(node: unknown): NodeStats {
  const { fs, memory, runtime } = asObject(node);
  const { imageFs, containerFs } = asObject(runtime);
  const { time, availableBytes, workingSetBytes } = asObject(memory);
  return { fs, imageFs, containerFs, memory: { time, availableBytes, workingSetBytes } };
}
