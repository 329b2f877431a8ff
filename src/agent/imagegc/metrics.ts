import type { Gauge, Registry } from 'prom-client';
import { byDiskSignal } from '../../api/node-pressure.ts';
import {
  imageKeepReasons,
  imageRemoveReasons,
  nodeKeepReasons,
  type ImageRemoveReason,
} from '../../api/reasons.ts';
import type { UnitReasons } from '../../gc/metrics.ts';
import { metricRows } from '../../runtime/serving/metric-rows.ts';
import type { CountAndBytes, ImageGcPlan } from './facts.ts';

export type ImageGcMetrics = ReturnType<typeof imageGcMetrics>;

/** Where a pass can fail, besides in a removal. */
export type Stage = 'observe' | 'layers' | 'pins' | 'disk' | 'state' | 'attribution';

export const imageGcReasons: UnitReasons & { readonly stages: readonly Stage[] } = {
  due: imageRemoveReasons,
  kept: [...imageKeepReasons, ...nodeKeepReasons],
  stages: ['observe', 'layers', 'pins', 'disk', 'state', 'attribution'],
};

/** The reasons as values of the kubelet's label in kubelet_image_garbage_collected_total. */
export const upstreamReason: Readonly<Record<ImageRemoveReason, string>> = {
  RemoveListed: 'requested',
  Age: 'age',
  Space: 'space',
  PullHeadroom: 'space',
  ...byDiskSignal(() => 'space'),
};

/** The metrics of this unit alone, counted from 0. */
export function imageGcMetrics(registry: Registry) {
  const { counter, gauge } = metricRows(registry);
  const metrics = {
    collected: counter(
      'image_garbage_collected_total',
      'Images removed (as kubelet_image_garbage_collected_total).',
      'reason',
    ),
    collectedBytes: counter(
      'image_garbage_collected_bytes_total',
      'Bytes freed on the image file system by removing images, measured if possible.',
    ),
    pinned: gauge(
      'image_pinned_images',
      'Images that dustpan has pinned in the runtime for the kubelet. No series if unknown.',
    ),
    pinnedBytes: gauge(
      'image_pinned_bytes',
      'Bytes of the images that dustpan has pinned in the runtime. No series if unknown.',
    ),
    repulled: counter(
      'image_repulled_after_gc_total',
      'Images that were pulled again within 24 hours of their removal.',
    ),
    wantedBytes: gauge('image_gc_wanted_bytes', 'Bytes that the last plan had to free for space.'),
    wantedInodes: gauge('image_gc_wanted_inodes', 'Inodes that the last plan had to free for space.'),
    usedInodesRatio: gauge(
      'image_filesystem_used_inodes_ratio',
      'Used inodes of the image file system as a ratio, 0 to 1, in steps of a percent; 0 if it reports no inodes.',
    ),
    usedRatio: gauge(
      'image_filesystem_used_ratio',
      'Usage of the image file system as a ratio, 0 to 1, in steps of a percent, as compared with the thresholds; 0 if unknown.',
    ),
  };
  for (const reason of Object.values(upstreamReason)) metrics.collected.inc({ reason }, 0);
  showPinned(metrics, undefined);
  return metrics;
}

/** undefined = unknown: then the metrics have no series. */
export function showPinned(
  { pinned, pinnedBytes }: Readonly<Record<'pinned' | 'pinnedBytes', Gauge>>,
  own: CountAndBytes | undefined,
): void {
  if (own === undefined) {
    pinned.remove();
    pinnedBytes.remove();
    return;
  }
  pinned.set(own.count);
  pinnedBytes.set(own.bytes);
}

type Shown = Pick<ImageGcPlan, 'wantedBytes' | 'wantedInodes' | 'usedPercent' | 'usedInodesPercent'>;

/** Shows what the space step of a plan wants; undefined = the node could not be observed. */
export function showSpace(metrics: ImageGcMetrics, plan: Shown | undefined): void {
  metrics.wantedBytes.set(plan?.wantedBytes ?? 0);
  metrics.wantedInodes.set(plan?.wantedInodes ?? 0);
  metrics.usedInodesRatio.set((plan?.usedInodesPercent ?? 0) / 100);
  metrics.usedRatio.set((plan?.usedPercent ?? 0) / 100);
}
