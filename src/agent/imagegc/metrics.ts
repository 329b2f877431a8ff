import { Counter, Gauge, type Registry } from 'prom-client';
import {
  imageKeepReasons,
  imageRemoveReasons,
  nodeKeepReasons,
  type ImageRemoveReason,
} from '../../api/reasons.ts';
import { byDiskSignal } from '../../api/node-pressure.ts';
import type { Policy } from '../../api/policy/policy.ts';
import type { ImageGcPlan } from './facts.ts';

export type ImageGcMetrics = ReturnType<typeof imageGcMetrics>;

type Registers = [Registry];

/** The reasons as values of the kubelet's label in kubelet_image_garbage_collected_total. */
export const upstreamReason: Readonly<Record<ImageRemoveReason, string>> = {
  Age: 'age',
  Space: 'space',
  ...byDiskSignal(() => 'space'),
};

/** The stages in which a pass can fail. */
const stages = ['observe', 'disk', 'remove', 'state', 'attribution'] as const;
export type Stage = (typeof stages)[number];

const keepReasons = [...imageKeepReasons, ...nodeKeepReasons];
const modes = ['DryRun', 'Enforce'] as const;

/** The metrics of imagegc, counted from 0. */
export function imageGcMetrics(registry: Registry) {
  const metrics = { ...removalMetrics([registry]), ...planMetrics([registry]) };
  for (const reason of Object.values(upstreamReason)) metrics.removed.inc({ reason }, 0);
  for (const stage of stages) metrics.errors.inc({ stage }, 0);
  for (const reason of keepReasons) metrics.skipped.inc({ reason }, 0);
  clearPlan(metrics);
  return metrics;
}

function removalMetrics(registers: Registers) {
  return {
    removed: new Counter({
      name: 'dustpan_image_garbage_collected_total',
      help: '[ALPHA] Images removed (as kubelet_image_garbage_collected_total).',
      labelNames: ['reason'],
      registers,
    }),
    freedBytes: new Counter({
      name: 'dustpan_image_garbage_collected_bytes_total',
      help: '[ALPHA] Bytes freed on the image file system by removing images, measured if possible.',
      registers,
    }),
    repulled: new Counter({
      name: 'dustpan_image_repulled_after_gc_total',
      help: '[ALPHA] Images that were pulled again within 24 hours of their removal.',
      registers,
    }),
    repulledBytes: new Counter({
      name: 'dustpan_image_repulled_after_gc_bytes_total',
      help: '[ALPHA] Bytes of the images that were pulled again within 24 hours of their removal.',
      registers,
    }),
    errors: new Counter({
      name: 'dustpan_image_gc_errors_total',
      help: '[ALPHA] Failures in passes of imagegc, by stage.',
      labelNames: ['stage'],
      registers,
    }),
    skipped: new Counter({
      name: 'dustpan_image_gc_skipped_images_total',
      help: '[ALPHA] Planned removals that the live re-check right before them prevented, by reason.',
      labelNames: ['reason'],
      registers,
    }),
  };
}

function planMetrics(registers: Registers) {
  return {
    due: new Gauge({
      name: 'dustpan_image_gc_due_images',
      help: '[ALPHA] Images that the last plan would remove, by reason and the mode of the policy.',
      labelNames: ['reason', 'mode'],
      registers,
    }),
    kept: new Gauge({
      name: 'dustpan_image_gc_kept_images',
      help: '[ALPHA] Images that the last plan keeps, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    wantedBytes: new Gauge({
      name: 'dustpan_image_gc_wanted_bytes',
      help: '[ALPHA] Bytes that the last plan had to free for space.',
      registers,
    }),
    wantedInodes: new Gauge({
      name: 'dustpan_image_gc_wanted_inodes',
      help: '[ALPHA] Inodes that the last plan had to free for space.',
      registers,
    }),
    usedInodesRatio: new Gauge({
      name: 'dustpan_image_filesystem_used_inodes_ratio',
      help: '[ALPHA] Used inodes of the image file system as a ratio, 0 to 1, in steps of a percent; 0 if it reports no inodes.',
      registers,
    }),
    usedRatio: new Gauge({
      name: 'dustpan_image_filesystem_used_ratio',
      help: '[ALPHA] Usage of the image file system as a ratio, 0 to 1, in steps of a percent, as compared with the thresholds; 0 if unknown.',
      registers,
    }),
  };
}

/** Resets the metrics of the plan: the node could not be observed. */
export function clearPlan({ due, kept, ...rest }: ReturnType<typeof planMetrics>): void {
  for (const reason of imageRemoveReasons) for (const mode of modes) due.set({ reason, mode }, 0);
  for (const reason of keepReasons) kept.set({ reason }, 0);
  for (const gauge of [rest.wantedBytes, rest.wantedInodes, rest.usedInodesRatio, rest.usedRatio])
    gauge.set(0);
}

/** Shows a plan: due and kept images by reason. */
export function showPlan(
  metrics: ImageGcMetrics,
  { removals, kept, wantedBytes, wantedInodes, usedPercent = 0, usedInodesPercent = 0 }: ImageGcPlan,
  mode: Policy['mode'] | undefined,
): void {
  clearPlan(metrics);
  if (mode !== undefined) for (const { reason } of removals) metrics.due.inc({ reason, mode });
  for (const { reason } of kept) metrics.kept.inc({ reason });
  metrics.wantedBytes.set(wantedBytes);
  metrics.wantedInodes.set(wantedInodes);
  metrics.usedInodesRatio.set(usedInodesPercent / 100);
  metrics.usedRatio.set(usedPercent / 100);
}
