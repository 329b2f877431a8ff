import type { StorageUsage } from '../api/local-storage.ts';
import { storageUsageOf } from '../node/kubelet/summary.ts';
import type { Field } from './field.ts';
import type { NodePart } from './world.ts';

/** The disk of a kubelet's `/stats/summary`; undefined where it says nothing of the image file system. */
export function diskOf(stats: Field): NodePart['disk'] {
  const imageFs = stats.at('node').maybeAt('runtime').maybeAt('imageFs');
  const [capacity, available] = [imageFs.maybeAt('capacityBytes'), imageFs.maybeAt('availableBytes')];
  if (capacity.isAbsent || available.isAbsent) return undefined;
  return { capacityBytes: capacity.count(), availableBytes: available.count() };
}

/** What its pods use, of stats that were checked; undefined where nothing is said of pods. */
export function usageOf(stats: Field): StorageUsage | undefined {
  if (stats.at('pods').isAbsent) return undefined;
  const time = stats.at('node').maybeAt('fs').maybeAt('time');
  return storageUsageOf(stats.object(), time.isAbsent ? 0 : time.timeMs());
}

/** Throws InputError for the first thing that says what pods use and is not as a kubelet writes it. */
export function checkUsage(stats: Field): void {
  const fs = stats.at('node').maybeAt('fs');
  const time = fs.maybeAt('time');
  if (!time.isAbsent) time.timeMs();
  checkBytes(fs.maybeAt('capacityBytes'));
  for (const pod of listOf(stats.at('pods'))) checkPod(pod);
}

function checkPod(pod: Field): void {
  pod.at('podRef').at('uid').name();
  checkFigure(pod.at('ephemeral-storage'));
  for (const volume of listOf(pod.at('volume'))) {
    volume.at('name').name();
    checkFigure(volume);
  }
  for (const container of listOf(pod.at('containers'))) {
    container.at('name').name();
    checkFigure(container.at('rootfs'));
    checkFigure(container.at('logs'));
  }
}

const listOf = (field: Field): readonly Field[] => (field.isAbsent ? [] : field.list());

function checkFigure(figure: Field): void {
  const time = figure.maybeAt('time');
  if (!time.isAbsent) time.timeMs();
  checkBytes(figure.maybeAt('usedBytes'));
}

function checkBytes(bytes: Field): void {
  if (!bytes.isAbsent) bytes.size();
}
