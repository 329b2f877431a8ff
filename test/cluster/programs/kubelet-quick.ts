import type { Patch } from './patched-module.ts';

/** Periods of the kubelet-quick, in place of a minute (containers) and five minutes (images). */
export const quickPeriods = { containerGcMs: 1_000, imageGcMs: 5_000, imageDetectionMs: 250 } as const;

const duration = (ms: number): string => `${ms} * time.Millisecond`;

/** Kubelet configuration: a kubelet-quick measures local storage and evicts no pod for it. */
export const onlyMeasures = { evictionPressureTransitionPeriod: '24h' } as const;

/** The differences between a kubelet and a kubelet-quick: three periods that no flag sets, and the switch `onlyMeasures`. */
export const quickPatches: readonly Patch[] = [
  {
    file: 'pkg/kubelet/kubelet.go',
    from: '\tContainerGCPeriod = time.Minute\n',
    to: `\tContainerGCPeriod = ${duration(quickPeriods.containerGcMs)}\n`,
  },
  {
    file: 'pkg/kubelet/kubelet.go',
    from: '\tImageGCPeriod = 5 * time.Minute\n',
    to: `\tImageGCPeriod = ${duration(quickPeriods.imageGcMs)}\n`,
  },
  {
    file: 'pkg/kubelet/images/image_gc_manager.go',
    from: '\t}, 5*time.Minute',
    to: `\t}, ${quickPeriods.imageDetectionMs}*time.Millisecond`,
  },
  {
    file: 'pkg/kubelet/eviction/eviction_manager.go',
    from: '\tif m.localStorageCapacityIsolation {\n',
    to: '\tif m.localStorageCapacityIsolation && m.config.PressureTransitionPeriod < 24*time.Hour {\n',
  },
];
