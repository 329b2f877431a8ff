import type { DiskDevices } from '../api/file-system.ts';
import type { StorageUsage } from '../api/local-storage.ts';
import { asObject } from '../kube/codec/json.ts';
import { count, fileSystemOf } from '../node/kubelet/node-stats.ts';
import { storageUsageOf } from '../node/kubelet/summary.ts';
import type { Field } from './field.ts';
import type { NodePart } from './plan-facts.ts';

/** The image file system of a kubelet's `/stats/summary`; undefined = not known, or a value that cannot be. */
export function diskOf(stats: Field): NodePart['disk'] {
  const imageFs = asObject(asObject(asObject(stats.object()['node'])['runtime'])['imageFs']);
  const { capacityBytes, availableBytes, inodes, inodesFree } = fileSystemOf(imageFs);
  if (capacityBytes === undefined || availableBytes === undefined) return undefined;
  const [usedBytes, inodesUsed] = [count(imageFs['usedBytes']), count(imageFs['inodesUsed'])];
  return { capacityBytes, availableBytes, inodes, inodesFree, usedBytes, inodesUsed };
}

/** The local storage usage of pods, from checked stats; undefined = not known. */
export function usageOf(stats: Field, devices: DiskDevices): StorageUsage | undefined {
  if (stats.at('pods').isAbsent) return undefined;
  const time = stats.at('node').maybeAt('fs').maybeAt('time');
  return storageUsageOf(stats.object(), time.isAbsent ? 0 : time.timeMs(), devices);
}

export function devicesOf(devices: Field): DiskDevices {
  const device = (name: string): number | undefined => {
    const field = devices.at(name);
    return field.isAbsent ? undefined : field.count();
  };
  return {
    kubeletRoot: device('kubeletRoot'),
    imageFs: device('imageFs'),
    containerFs: device('containerFs'),
  };
}

/** Throws InputError for the first field about the usage of the node or its pods that no kubelet would write. Missing values are not known, and neither are numbers that cannot be: a kubelet writes them. */
export function checkUsage(stats: Field): void {
  const node = stats.at('node');
  const runtime = node.maybeAt('runtime');
  for (const fs of [node.maybeAt('fs'), runtime.maybeAt('imageFs'), runtime.maybeAt('containerFs')])
    checkMeasured(fs, ['availableBytes', 'capacityBytes', 'inodesFree', 'inodes', 'inodesUsed']);
  checkMeasured(node.maybeAt('memory'), ['availableBytes', 'workingSetBytes']);
  for (const pod of listOf(stats.at('pods'))) checkPod(pod);
}

function checkPod(pod: Field): void {
  pod.at('podRef').at('uid').name();
  checkUsageOf(pod.at('ephemeral-storage'));
  checkMeasured(pod.at('memory'), ['workingSetBytes']);
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

const checkUsageOf = (usage: Field): void => checkMeasured(usage, ['usedBytes', 'inodesUsed']);

/** Checks the time and these numbers of a measurement, which may be absent. */
function checkMeasured(measured: Field, numbers: readonly string[]): void {
  const time = measured.maybeAt('time');
  if (!time.isAbsent) time.timeMs();
  for (const name of numbers) {
    const value = measured.maybeAt(name);
    if (!value.isAbsent) value.number();
  }
}
