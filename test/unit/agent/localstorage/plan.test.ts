import { expect, test } from 'vitest';
import type { LocalStorageFacts, LocalStoragePlan } from '../../../../src/agent/localstorage/facts.ts';
import { planLocalStorage } from '../../../../src/agent/localstorage/plan.ts';
import { minutesAgo, now } from '../../../builders.ts';
import {
  container,
  emptyDir,
  governedBy,
  limited,
  mib,
  overPod,
  overVolume,
  planOf,
  scratch,
  sidecar,
  storagePod,
  storagePolicy,
  usage,
  verdicts,
  type PlanRow,
} from './builders.ts';
import { anyAge, maxAges } from '../../../../src/agent/localstorage/pods.ts';

const evicts = (volume: string): string => `Evict p emptydirfs.limit ${volume}`;
const overTmp = evicts('tmp');
const overTotal = 'Evict p ephemeralpodfs.limit';
const overMain = 'Evict p ephemeralcontainerfs.limit main';
const [underLimit, noLimit, unknown] = ['Keep p UnderLimit', 'Keep p NoLimit', 'Keep p UsageUnknown'];
const critical = 'Keep p CriticalPod';

/** The container `main` has a limit that the other one keeps the pod away from. */
const mainAndOther = { containers: [container('main', '10Mi'), container('other', '100Mi')] };
const inMemory = { volumes: { shm: 11 }, total: 0 };
const ofMain = (layer: number, logs: number) => ({ containers: { main: { layer, logs } } });

type Row = [
  name: string,
  storage: NonNullable<PlanRow['storage']>,
  used: PlanRow['used'],
  expected: string,
  rest?: PlanRow,
];

const memory = (sizeLimit?: string) => ({ emptyDirs: [emptyDir('shm', sizeLimit, true)] });
const evictAt90 = { policy: { evictAtPercent: 90 } };
const evictMemoryAt90 = { policy: { evictAtPercent: 90, defaultLimits: { emptyDirBytes: 7 * mib } } };
const dedicated = { stats: { dedicatedImageFs: true } };
const withSidecar = { ...limited, initContainers: [sidecar('s', '10Mi')] };
const measuredAgo = (minutes: number) => ({ ...overVolume, atMs: minutesAgo(minutes) });
const stale = { maxAges };

test.each<Row>([
  // volumes
  ['a volume above its limit', scratch, overVolume, overTmp],
  ['exactly the limit of a volume', scratch, { volumes: { tmp: 100 } }, underLimit],
  ['a volume in memory above its limit', memory('10Mi'), inMemory, evicts('shm'), evictMemoryAt90],
  [
    'a volume in memory between evictAtPercent and its limit',
    memory('12Mi'),
    inMemory,
    underLimit,
    evictMemoryAt90,
  ],
  ['a volume in memory without a limit', memory(), inMemory, noLimit, evictMemoryAt90],
  // the whole pod
  ['a pod above the sum of its limits', limited, overPod, overTotal],
  ['exactly the limit of the pod', limited, { total: 100 }, underLimit],
  ['a limit of 0 without usage', { containers: [container('main', '0')] }, { total: 0 }, underLimit],
  ['the total is not measured: the containers are still checked', limited, ofMain(50, 51), overMain],
  ['exactly the limit of a container', mainAndOther, { total: 10, ...ofMain(5, 5) }, underLimit],
  [
    'layers do not count if images have a file system of their own',
    mainAndOther,
    { total: 20, ...ofMain(50, 9) },
    underLimit,
    dedicated,
  ],
  [
    'a sidecar above the limit that it declares',
    withSidecar,
    { total: 90, containers: { s: { logs: 80 } } },
    'Evict p ephemeralcontainerfs.limit s',
  ],
  [
    'a container that is not in the spec is ignored',
    limited,
    { total: 9, containers: { ghost: { layer: 0, logs: 800 } } },
    underLimit,
  ],
  ['exactly evictAtPercent', scratch, { volumes: { tmp: 90 } }, underLimit, evictAt90],
  ['no limit', {}, { total: 9e6, volumes: { tmp: 9e6 } }, noLimit],
  // usage that is not known
  ['no statistics of the pod', scratch, undefined, unknown],
  ['no measurement of the limit', scratch, { total: 900 }, unknown],
  ['NaN as usage', scratch, { volumes: { tmp: NaN } }, unknown],
  ['a stale measurement', scratch, measuredAgo(6), unknown, stale],
  ['a measurement that is just fresh', scratch, measuredAgo(5), overTmp, stale],
  ['a measurement in the future', scratch, measuredAgo(-6), unknown, stale],
])('%s', (_, storage, used, ...[expected, rest = {}]) =>
  expect(verdicts(planOf({ storage, used, ...rest }))).toEqual([expected]),
);

test.each<[name: string, pod: NonNullable<PlanRow['pod']>, expected: string]>([
  ['a mirror pod', { configHash: 'abc' }, critical],
  ['the lowest critical priority', { priority: 2_000_000_000 }, critical],
  ['no priority', { priority: undefined }, overTmp],
  ['a pod with the keep label', { isOptedOut: true }, 'Keep p KeepMarked'],
  ['a succeeded pod', { phase: 'Succeeded' }, 'Keep p Finished'],
  ['a deleted pod', { deletionAtMs: minutesAgo(1) }, 'Keep p Terminating'],
])('above its limit, %s', (_, pod, expected) =>
  expect(verdicts(planOf({ storage: scratch, used: overVolume, pod }))).toEqual([expected]),
);

const refusing = { doNotDisrupt: 'karpenter.sh/do-not-disrupt: "true"' };
const refused = 'Keep p DoNotDisrupt';
const scratchAndTotal = { emptyDirs: [emptyDir('tmp', '100Mi')], containers: [container('main', '100Mi')] };
const by = (defaultLimits: object) => ({ policy: { defaultLimits } });

test.each<Row>([
  ['95 % of a limit with evictAtPercent: 90', scratch, { volumes: { tmp: 95 } }, refused, evictAt90],
  ['exactly the limit', scratch, { volumes: { tmp: 100 } }, refused, evictAt90],
  ['more than the limit', scratch, { volumes: { tmp: 101 } }, overTmp, evictAt90],
  [
    '95 % of one limit, more than another',
    scratchAndTotal,
    { volumes: { tmp: 95 }, total: 101 },
    overTotal,
    evictAt90,
  ],
  ['less than evictAtPercent', scratch, { volumes: { tmp: 80 } }, underLimit, evictAt90],
  [
    'more than a default for volumes',
    { emptyDirs: [emptyDir('tmp')] },
    overVolume,
    refused,
    by({ emptyDirBytes: mib }),
  ],
  ['more than a default for pods', {}, { total: 9 }, refused, by({ podBytes: mib })],
  [
    'more than a limit of its own that is as large as the default',
    scratch,
    overVolume,
    overTmp,
    by({ emptyDirBytes: 100 * mib }),
  ],
  [
    '95 %, where the policy does not respect it',
    scratch,
    { volumes: { tmp: 95 } },
    overTmp,
    { ...evictAt90, respectDoNotDisrupt: false },
  ],
])('a pod whose owner refuses evictions, with %s', (_, storage, used, ...[expected, rest = {}]) =>
  expect(verdicts(planOf({ storage, used, pod: refusing, ...rest }))).toEqual([expected]),
);

test('a kept pod has its fullest limit', () => {
  const storage = { ...limited, emptyDirs: [emptyDir('a', '100Mi'), emptyDir('b', '100Mi')] };
  const { kept } = planOf({ storage, used: { volumes: { a: 20, b: 70 }, total: 50 } });
  expect(kept[0]).toMatchObject({ fullest: { subject: 'b', usedBytes: 70 * mib } });
});

test('a measurement without a time is as old as the read of the statistics', () => {
  const undated = { bytes: 130 * mib, atMs: undefined };
  const main = { name: 'main', layer: undated, logs: undated };
  const idle = { name: 'idle', layer: undefined, logs: undefined };
  const used = { total: undated, volumes: new Map([['tmp', undated]]), containers: [main, idle] };
  const stats = { atMs: minutesAgo(3), pods: new Map([['uid-p', used]]) };
  const { readings } = planOf({ storage: { ...limited, ...scratch }, stats });
  expect(readings.map(({ reading: { subject, measuredAtMs } }) => [subject, measuredAtMs])).toEqual([
    ['tmp', minutesAgo(3)],
    [undefined, minutesAgo(3)],
    ['main', minutesAgo(3)],
  ]);
});

test('a pod with one stale measurement is UsageUnknown, not UnderLimit', () => {
  const { pods } = usage({ p: { volumes: { tmp: 10 } } });
  const total = { bytes: 200 * mib, atMs: minutesAgo(9) };
  const mixed = new Map([...pods].map(([uid, used]) => [uid, { ...used, total }]));
  const plan = planOf({ storage: { ...limited, ...scratch }, stats: { pods: mixed }, maxAges });
  expect(verdicts(plan)).toEqual([unknown]);
});

test.each<readonly [string, PlanRow['used'], unmeasured: readonly string[]]>([
  [
    'a volume',
    { total: 5, containers: { main: { layer: 2, logs: 3 } } },
    ['volume tmp', 'the pod as a whole'],
  ],
  [
    'a layer',
    { total: 3, volumes: { tmp: 1 }, containers: { main: { logs: 3 } } },
    ['the pod as a whole', 'container main'],
  ],
  ['the total', { volumes: { tmp: 1 }, containers: { main: { layer: 2, logs: 3 } } }, ['the pod as a whole']],
])(
  'a pod of which %s is not measured is UsageUnknown, with the limits that this concerns',
  (_, used, unmeasured) => {
    const { kept } = planOf({ storage: { ...limited, ...scratch }, used });
    expect(kept).toMatchObject([{ reason: 'UsageUnknown', unmeasured }]);
  },
);

test('what is measured of a pod is enough to exceed a limit', () => {
  const used = { total: 150, containers: { main: { logs: 3 } } };
  expect(verdicts(planOf({ storage: { ...limited, ...scratch }, used }))).toEqual([overTotal]);
});

const planBy = (storage: Parameters<typeof governedBy>[0], facts: LocalStorageFacts): LocalStoragePlan =>
  planLocalStorage(facts, { governance: governedBy(storage), now, maxAges: anyAge });

test('a static pod is measured under the UID that its mirror pod carries', () => {
  const pods = [storagePod('kube-proxy', scratch, { configHash: 'uid-static' })];
  const { warnings } = planBy(storagePolicy(), { pods, usage: usage({ static: overVolume }) });
  expect(warnings.map(({ target }) => target.name)).toEqual(['kube-proxy']);
});

test('without a rule every pod is kept', () => {
  const pods = [storagePod('scratch', scratch), storagePod('free')];
  const plan = planBy(undefined, { pods, usage: usage({ scratch: overVolume }) });
  expect(verdicts(plan)).toEqual(['Keep scratch RuleOff', 'Keep free RuleOff']);
});

const threeLimits = { ...scratch, containers: [container('main', '100Mi')] };

test.each<[name: string, row: PlanRow, ...expected: string[]]>([
  [
    'one for each limit',
    { storage: threeLimits, used: { volumes: { tmp: 85 }, total: 97, containers: { main: { logs: 81 } } } },
    'emptydirfs.limit tmp 80',
    'ephemeralpodfs.limit - 95',
    'ephemeralcontainerfs.limit main 80',
  ],
  ['a critical pod', { pod: { priority: 2_000_001_000 } }, 'emptydirfs.limit tmp 95'],
  ['none for a pod with the keep label', { pod: { isOptedOut: true } }],
  ['none for a finished pod', { pod: { phase: 'Failed' } }],
  ['none for a deleted pod', { pod: { deletionAtMs: minutesAgo(1) } }],
  [
    'any usage of a limit of 0',
    { storage: { containers: [container('main', '0')] }, used: { total: 1 } },
    'ephemeralpodfs.limit - 95',
  ],
])('warnings: %s', (_, row, ...expected) => {
  const lines = planOf({ storage: scratch, used: overVolume, ...row }).warnings.map(
    ({ reason, target: { excess, percent } }) => `${reason} ${excess.subject ?? '-'} ${percent}`,
  );
  expect(lines).toEqual(expected);
});
