import type { StorageUsage } from '../api/local-storage.ts';
import { storageUsageOf } from '../node/kubelet/summary.ts';
import type { Field } from './field.ts';
import type { NodePart } from './plan-facts.ts';

/** The image file system of a kubelet's `/stats/summary`; undefined = not known. */
export function diskOf(stats: Field): NodePart['disk'] {
  const imageFs = stats.at('node').maybeAt('runtime').maybeAt('imageFs');
  const [capacity, available] = [imageFs.maybeAt('capacityBytes'), imageFs.maybeAt('availableBytes')];
  if (capacity.isAbsent || available.isAbsent) return undefined;
  const inodes = (name: 'inodes' | 'inodesFree' | 'inodesUsed'): number | undefined => {
    const field = imageFs.maybeAt(name);
    return field.isAbsent ? undefined : field.count();
  };
  return {
    ...{ capacityBytes: capacity.count(), availableBytes: available.count() },
    ...{ inodes: inodes('inodes'), inodesFree: inodes('inodesFree'), inodesUsed: inodes('inodesUsed') },
  };
}

/** The local storage usage of pods, from checked stats; undefined = not known. */
export function usageOf(stats: Field): StorageUsage | undefined {
  if (stats.at('pods').isAbsent) return undefined;
  const time = stats.at('node').maybeAt('fs').maybeAt('time');
  return storageUsageOf(stats.object(), time.isAbsent ? 0 : time.timeMs());
}

/** Throws InputError for the first field about the usage of pods that no kubelet would write. */
export function checkUsage(stats: Field): void {
  const fs = stats.at('node').maybeAt('fs');
  const time = fs.maybeAt('time');
  if (!time.isAbsent) time.timeMs();
  checkBytes(fs.maybeAt('capacityBytes'));
  for (const pod of listOf(stats.at('pods'))) checkPod(pod);
}

function checkPod(pod: Field): void {
  pod.at('podRef').at('uid').name();
  checkUsageOf(pod.at('ephemeral-storage'));
  for (const volume of listOf(pod.at('volume'))) {
    volume.at('name').name();
    checkUsageOf(volume);
  }
  for (const container of listOf(pod.at('containers'))) {
    container.at('name').name();
    checkUsageOf(container.at('rootfs'));
    checkUsageOf(container.at('logs'));
  }
}

const listOf = (field: Field): readonly Field[] => (field.isAbsent ? [] : field.list());

function checkUsageOf(usage: Field): void {
  const time = usage.maybeAt('time');
  if (!time.isAbsent) time.timeMs();
  checkBytes(usage.maybeAt('usedBytes'));
}

function checkBytes(bytes: Field): void {
  if (!bytes.isAbsent) bytes.size();
}
