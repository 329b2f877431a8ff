import type { Manifest } from '../../sandbox/api/direct-store.ts';

const gib = 1024 ** 3;

interface Size {
  readonly namespaces: number;
  readonly images: number;
  readonly workloads: number;
}

/** With 64 namespaces, 64 images and 20 workloads the lists of a report are full. */
export function usageReport(number: number, now: Date, size: Size): Manifest {
  const time = (seconds: number): string =>
    new Date(now.getTime() + seconds * 1_000).toISOString().replace(/\.\d+Z$/, 'Z');
  const share = (index: number): number => Math.round((4 * gib) / (index + 1 + (number % 7)));
  const classes = (index: number): object => {
    const [layersBytes, volumesBytes] = [Math.round(share(index) / 2), Math.round(share(index) / 4)];
    return {
      bytes: share(index),
      layersBytes,
      volumesBytes,
      logsBytes: share(index) - layersBytes - volumesBytes,
    };
  };
  const digits = (index: number, count: number): string => String(index).padStart(count, '0');
  const usedBytes = 120 * gib + (number % 60) * gib;
  return {
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'NodeGCReport',
    metadata: { name: `node-${digits(number, 4)}` },
    status: {
      reportTime: time(-60),
      usage: {
        measuredTime: time(-75),
        forecast: `At 1.5 GiB/h, nodefs is full in 53 h; collection gives back 20.0 GiB, then in 3 days. Logs of namespace team-${digits(number % 64, 2)} grow 1.2 GiB/h.`,
        fileSystems: [
          {
            name: 'nodefs',
            capacityBytes: 200 * gib,
            availableBytes: 200 * gib - usedBytes,
            usedBytes,
            imagesInUseBytes: 30 * gib,
            imagesUnusedBytes: 20 * gib,
            layersBytes: 9 * gib,
            volumesBytes: 11 * gib,
            logsBytes: 7 * gib,
            orphansBytes: 0,
            otherBytes: usedBytes - 77 * gib,
            collectableBytes: 20 * gib,
            growthBytesPerHour: 1.5 * gib,
            fullTime: time(53 * 3_600),
            fullAfterCollectionTime: time(70 * 3_600),
            forecastErrorPercent: 12,
          },
        ],
        podCount: 110,
        pods: Array.from({ length: 20 }, (_, i) => ({
          namespace: `team-${digits(i, 2)}`,
          name: `service-${digits(i, 2)}-7d9f8b6c5d-${digits(number, 4)}x`,
          uid: `7d0a8f61-33f4-4d0e-9a1b-${digits(number, 6)}${digits(i, 6)}`,
          ...classes(i),
          limitBytes: 8 * gib,
        })),
        namespaces: Array.from({ length: size.namespaces }, (_, i) => ({
          name: `team-${digits(i, 2)}`,
          pods: 2,
          ...classes(i),
          ...(i % 3 === 0 && { growthBytesPerHour: 30_000_000 + i }),
        })),
        workloads: Array.from({ length: size.workloads }, (_, i) => ({
          ...{ namespace: `team-${digits(i, 2)}`, kind: 'Deployment', name: `service-${digits(i, 2)}` },
          ...{ pods: 1, bytes: share(i), highestBytes: 2 * share(i), watchedSeconds: 604_800 },
          highestPod: `service-${digits(i, 2)}-7d9f8b6c5d-${digits(number, 4)}x`,
          limitBytes: 8 * gib,
          parts: [
            { kind: 'container', name: 'main', highestBytes: share(i), limitBytes: 8 * gib },
            { kind: 'volume', name: 'data', highestBytes: share(i) },
          ],
        })),
        watchedSeconds: 7 * 86_400,
        otherWorkloads: { count: 30, highestBytes: 60_000_000 },
        otherNamespaces: { count: 3, bytes: 1_000_000 },
        images: Array.from({ length: size.images }, (_, i) => ({
          id: `sha256:${digits(i, 4).repeat(16)}`,
          name: `registry.example.com/platform/service-${digits(i, 2)}:2026.11.${digits(i, 2)}`,
          bytes: share(i),
          inUse: (i + number) % 3 === 0,
          isKept: (i + number) % 7 === 0,
          ...((i + number) % 3 !== 0 && { unusedSince: time(-86_400 * (1 + (i % 30))) }),
        })),
        otherImages: { count: 40, bytes: 2 * gib },
      },
    },
  };
}
