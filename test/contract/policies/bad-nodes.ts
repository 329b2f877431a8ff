import { miswritten, rowsOf, type BadPolicy } from './rows.ts';

const ages = (...maximumAgeByImage: readonly object[]): object => ({ maximumAgeByImage });
const ofFirstImage = 'maximumAgeByImage[0].maximumAge';
/** A budget of some namespaces, and before it a correct one. */
const budget = (over: object): object => ({
  namespaceBudgets: [
    { namespaceSelector: large, perNode: '1Gi' },
    { namespaceSelector: large, ...over },
  ],
});
const large = { matchLabels: { tier: 'large' } };

const oneImage = 'must be one image name without scheme, or a glob such as registry.example.com/base/*';
const miswrittenImages = {
  ' nginx ': 'nginx',
  'https://registry.example.com/base/*': 'registry.example.com/base/*',
  '^foo.*$': 'foo*',
  '.*': '*',
  'docker.io/library/.*': 'docker.io/library/*',
  'registry\\.example\\.com/app': 'registry.example.com/app',
  '^foo': '',
  'nginx, redis': '',
  'nginx|redis': '',
  '': '',
};
const end = '2026-12-01T00:00:00Z';
const removing = (image: string, until = end): object => ({ remove: [{ image, until }] });

/** Policies that are wrong about nodes. */
export const badForNodes: readonly BadPolicy[] = [
  ...rowsOf('nodes', [
    ['a budget without sizes', budget({}), 'namespaceBudgets[1]'],
    ['a budget with two empty sizes', budget({ perNode: '', cluster: '' }), 'namespaceBudgets[1]'],
    [
      'a budget with a wrong selector',
      budget({ perNode: '1Gi', namespaceSelector: { matchLabels: { '-': 'a' } } }),
      'namespaceBudgets[1].namespaceSelector.matchLabels',
    ],
  ]),
  ...miswritten(
    ['nodes', 'namespaceBudgets[1].perNode'],
    (perNode) => budget({ perNode }),
    'must be a quantity above 0, such as 20Gi',
    { '0': '', '0.0Gi': '' },
  ),
  ...miswritten(
    ['nodes', 'namespaceBudgets[1].cluster'],
    (cluster) => budget({ cluster }),
    'must be a quantity such as 10Gi or 10G',
    { '10GB': '10G', '-1Gi': '', '20%': '' },
  ),
  ...rowsOf('nodes.imageGC', [
    ['a high threshold over 100', { highThresholdPercent: 101 }, 'highThresholdPercent'],
    ['a negative low threshold', { lowThresholdPercent: -1 }, 'lowThresholdPercent'],
    ['equal thresholds', { highThresholdPercent: 80, lowThresholdPercent: 80 }, 'lowThresholdPercent'],
    ['a high threshold below the default low one', { highThresholdPercent: 70 }, 'lowThresholdPercent'],
    ['a maximum age below the default minimum age', { maximumAge: '1m' }, 'maximumAge'],
    [
      'a maximum age of an image below the default minimum age',
      ages({ image: 'a', maximumAge: '24h' }, { image: 'b', maximumAge: '1m' }),
      'maximumAgeByImage',
    ],
    ['a maximum age that is the minimum age in hours', { minimumAge: '24h', maximumAge: '1d' }, 'maximumAge'],
    ['a maximum age of an image over ten years', ages({ image: 'a', maximumAge: '87601h' }), ofFirstImage],
    ['a maximum age without an image', ages({ maximumAge: '24h' }), 'maximumAgeByImage[0].image'],
    ['an image pattern twice', { keep: ['nginx', 'nginx'] }, 'keep[1]'],
    ['an overlong image pattern', { keep: ['x'.repeat(513)] }, 'keep[0]'],
    ['an empty pattern of a selected image', { only: [''] }, 'only[0]'],
    ['an image to remove without an end', { remove: [{ image: 'a' }] }, 'remove[0].until'],
    ['an end without an image to remove', { remove: [{ until: end }] }, 'remove[0].image'],
    ...[
      '*',
      '*:*',
      '*/*',
      '??*',
      '*@sha256:*',
      '*@sha256*',
      '*sha*',
      '*@s?a*6:*',
      '*256:*',
      '*@SHA256:*',
      '*/*:1.2',
      '*@sha256:0123',
    ].map((image) => [`all images to remove, as ${image}`, removing(image), 'remove[0].image'] as const),
    ['an end that is a date', removing('a', '2026-12-01'), 'remove[0].until'],
    ['an end in the last century', removing('a', '1999-12-01T00:00:00Z'), 'remove[0].until'],
  ]),
  ...miswritten(
    ['nodes.imageGC', 'remove[0].until'],
    (until) => removing('a', until),
    'must be a time in UTC, such as 2026-12-01T00:00:00Z',
    {
      '2026-12-01T00:00:00+01:00': '',
      '2028-02-29T23:30:00-05:30': '',
      '2026-02-30T00:00:00Z': '',
      '2026-02-29T00:00:00+01:00': '',
      '2026-11-31T00:00:00Z': '',
      '2026-12-01T24:00:00Z': '',
      '2026-03-01t00:00:00.5z': '',
      '2000-01-01T00:30:00+01:00': '',
      '9999-12-31T23:59:59-01:00': '',
    },
  ),
  ...miswritten(
    ['nodes.imageGC', 'keep[1]'],
    (image) => ({ keep: ['a', image] }),
    oneImage,
    miswrittenImages,
  ),
  ...miswritten(
    ['nodes.imageGC', 'remove[0].image'],
    (image) => removing(image),
    'must name a repository, such as registry.example.com/app:* or */app, or a complete digest',
    { '*1*': '*/1*', '*app': '*/app', '?ci-*:v1': '*/ci-*:v1', '*:2': '', '*/?1': '', '*1*@sha256:*': '' },
  ),
  ...rowsOf('nodes.imageGC.inodes', [
    ['a high threshold of inodes below the low one', { highThresholdPercent: 70 }, 'lowThresholdPercent'],
  ]),
  ...miswritten(
    ['nodes.containerGC.logs', 'warnBytesPerContainer'],
    (warnBytesPerContainer) => ({ warnBytesPerContainer }),
    'must be a quantity such as 10Gi or 10G',
    {
      '10GB': '10G',
      '10GiB': '10Gi',
      '1 Gi': '1Gi',
      '1.5KB': '1.5k',
      '500m': '500M',
      '1000 B': '1000',
      '1e3': '',
    },
  ),
  ...miswritten(
    ['nodes.nodePressure.thresholds', 'nodefs.available'],
    (amount) => ({ 'nodefs.available': amount }),
    'must be a percentage such as 15%, or a quantity above 0 such as 10Gi',
    { '15 %': '15%', '10GB': '10G', '0': '', '0 GB': '', '120%': '', '': '' },
  ),
  ...rowsOf('nodes.localStorageEviction', [
    ['a warning over 100 percent', { warnAtPercent: [80, 120] }, 'warnAtPercent[1]'],
    ['negative bytes', { defaultLimits: { emptyDir: '-1Gi' } }, 'defaultLimits.emptyDir'],
    ['no evictions', { maxEvictionsPerMinute: 0 }, 'maxEvictionsPerMinute'],
    ['an eviction at 0 percent', { evictAtPercent: 0 }, 'evictAtPercent'],
    ['a grace period of less than the own', { gracePeriodSeconds: -2 }, 'gracePeriodSeconds'],
  ]),
];
