import type { BadRow } from './table.ts';

const imageGC = (fields: object): object => ({ nodes: { imageGC: fields } });
const containerGC = (fields: object): object => ({ nodes: { containerGC: fields } });
const eviction = (fields: object): object => ({ nodes: { localStorageEviction: fields } });

/** Policies that are wrong about nodes. */
export const badForNodes: readonly BadRow[] = [
  [
    'a high threshold over 100',
    imageGC({ highThresholdPercent: 101 }),
    'spec.nodes.imageGC.highThresholdPercent',
  ],
  [
    'a negative low threshold',
    imageGC({ lowThresholdPercent: -1 }),
    'spec.nodes.imageGC.lowThresholdPercent',
  ],
  [
    'a low threshold above the high one',
    imageGC({ highThresholdPercent: 70, lowThresholdPercent: 75 }),
    'spec.nodes.imageGC.lowThresholdPercent',
  ],
  [
    'equal thresholds',
    imageGC({ highThresholdPercent: 80, lowThresholdPercent: 80 }),
    'spec.nodes.imageGC.lowThresholdPercent',
  ],
  [
    'a high threshold below the default low one',
    imageGC({ highThresholdPercent: 70 }),
    'spec.nodes.imageGC.lowThresholdPercent',
  ],
  [
    'a maximum age below the default minimum age',
    imageGC({ maximumAge: '1m' }),
    'spec.nodes.imageGC.maximumAge',
  ],
  [
    'a maximum age that is the minimum age',
    imageGC({ minimumAge: '24h', maximumAge: '1440m' }),
    'spec.nodes.imageGC.maximumAge',
  ],
  [
    'a maximum age of an image below the default minimum age',
    imageGC({
      maximumAgeByImage: [
        { image: 'a', maximumAge: '24h' },
        { image: 'b', maximumAge: '1m' },
      ],
    }),
    'spec.nodes.imageGC.maximumAgeByImage',
  ],
  [
    'a maximum age of an image that is no duration',
    imageGC({ maximumAgeByImage: [{ image: 'a', maximumAge: '1d' }] }),
    'spec.nodes.imageGC.maximumAgeByImage[0].maximumAge',
  ],
  [
    'a maximum age of an image of more than ten years',
    imageGC({ maximumAgeByImage: [{ image: 'a', maximumAge: '87601h' }] }),
    'spec.nodes.imageGC.maximumAgeByImage[0].maximumAge',
  ],
  [
    'a maximum age without an image',
    imageGC({ maximumAgeByImage: [{ maximumAge: '24h' }] }),
    'spec.nodes.imageGC.maximumAgeByImage[0].image',
  ],
  [
    'an image without a maximum age',
    imageGC({ maximumAgeByImage: [{ image: 'a' }] }),
    'spec.nodes.imageGC.maximumAgeByImage[0].maximumAge',
  ],
  [
    'an empty pattern of a maximum age',
    imageGC({ maximumAgeByImage: [{ image: '', maximumAge: '24h' }] }),
    'spec.nodes.imageGC.maximumAgeByImage[0].image',
  ],
  [
    'too many maximum ages by image',
    imageGC({ maximumAgeByImage: Array(65).fill({ image: 'a', maximumAge: '24h' }) }),
    'spec.nodes.imageGC.maximumAgeByImage',
  ],
  [
    'a high threshold of inodes over 100',
    imageGC({ inodes: { highThresholdPercent: 101 } }),
    'spec.nodes.imageGC.inodes.highThresholdPercent',
  ],
  [
    'a low threshold of inodes above the high one',
    imageGC({ inodes: { highThresholdPercent: 70, lowThresholdPercent: 75 } }),
    'spec.nodes.imageGC.inodes.lowThresholdPercent',
  ],
  [
    'a high threshold of inodes below the default low one',
    imageGC({ inodes: { highThresholdPercent: 70 } }),
    'spec.nodes.imageGC.inodes.lowThresholdPercent',
  ],
  ['inodes as a number', imageGC({ inodes: 85 }), 'spec.nodes.imageGC.inodes'],
  ['an empty image pattern', imageGC({ keep: ['nginx', ''] }), 'spec.nodes.imageGC.keep[1]'],
  ['an image pattern twice', imageGC({ keep: ['nginx', 'nginx'] }), 'spec.nodes.imageGC.keep[1]'],
  ['an overlong image pattern', imageGC({ keep: ['x'.repeat(513)] }), 'spec.nodes.imageGC.keep[0]'],
  ['a keep list that is a text', imageGC({ keep: 'nginx' }), 'spec.nodes.imageGC.keep'],
  ['fewer than no containers', containerGC({ maxContainers: -2 }), 'spec.nodes.containerGC.maxContainers'],
  [
    'a null among the warnings',
    eviction({ warnAtPercent: [null] }),
    'spec.nodes.localStorageEviction.warnAtPercent[0]',
  ],
  [
    'bytes with a unit of decibels',
    containerGC({ logs: { maxBytesPerPod: '10dB' } }),
    'spec.nodes.containerGC.logs.maxBytesPerPod',
  ],
  [
    'a log size with a space',
    containerGC({ logs: { warnBytesPerContainer: '1 Gi' } }),
    'spec.nodes.containerGC.logs.warnBytesPerContainer',
  ],
  [
    'bytes as a number',
    containerGC({ logs: { maxBytesPerPod: 1024 } }),
    'spec.nodes.containerGC.logs.maxBytesPerPod',
  ],
  [
    'negative bytes',
    eviction({ defaultLimits: { emptyDir: '-1Gi' } }),
    'spec.nodes.localStorageEviction.defaultLimits.emptyDir',
  ],
  [
    'no evictions',
    eviction({ maxEvictionsPerMinute: 0 }),
    'spec.nodes.localStorageEviction.maxEvictionsPerMinute',
  ],
  [
    'a pattern as an excluded namespace of nodes',
    { nodes: { excludeNamespaces: ['kube-*'] } },
    'spec.nodes.excludeNamespaces[0]',
  ],
  [
    'an eviction at 0 percent',
    eviction({ evictAtPercent: 0 }),
    'spec.nodes.localStorageEviction.evictAtPercent',
  ],
  [
    'a warning over 100 percent',
    eviction({ warnAtPercent: [80, 120] }),
    'spec.nodes.localStorageEviction.warnAtPercent[1]',
  ],
  [
    'a warning twice',
    eviction({ warnAtPercent: [80, 80] }),
    'spec.nodes.localStorageEviction.warnAtPercent[1]',
  ],
  [
    'a grace period of less than the own',
    eviction({ gracePeriodSeconds: -2 }),
    'spec.nodes.localStorageEviction.gracePeriodSeconds',
  ],
];
