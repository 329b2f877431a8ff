import { describe, expect, test } from 'vitest';
import type { LocalStoragePlan } from '../../../../src/agent/localstorage/facts.ts';
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

const overTmp = 'Evict p emptydirfs.limit tmp';
const overTotal = 'Evict p ephemeralpodfs.limit';
const overMain = 'Evict p ephemeralcontainerfs.limit main';
const [underLimit, noLimit, unknown] = ['Keep p UnderLimit', 'Keep p NoLimit', 'Keep p UsageUnknown'];
const critical = 'Keep p CriticalPod';

/** The container `main` has a limit that the other one keeps the pod away from. */
const mainAndOther = { containers: [container('main', '10Mi'), container('other', '100Mi')] };
const twoVolumes = { emptyDirs: [emptyDir('b', '10Mi'), emptyDir('a', '10Mi')] };
const staleAfterMs = 5 * 60_000;

test.each<PlanRow & { readonly name: string; readonly expected: string }>([
  // volumes
  { name: 'a volume above its limit', storage: scratch, used: overVolume, expected: overTmp },
  {
    name: 'exactly the limit of a volume',
    storage: scratch,
    used: { volumes: { tmp: 100 } },
    expected: underLimit,
  },
  { name: 'one byte more', storage: scratch, used: { volumes: { tmp: 100 + 1 / mib } }, expected: overTmp },
  ...[
    { name: 'a volume in memory above its limit', shm: '10Mi', expected: 'Evict p emptydirfs.limit shm' },
    { name: 'a volume in memory between evictAtPercent and its limit', shm: '12Mi', expected: underLimit },
    { name: 'a volume in memory without a limit', shm: undefined, expected: noLimit },
  ].map(({ shm, ...row }) => ({
    ...row,
    storage: { emptyDirs: [emptyDir('shm', shm, true)] },
    used: { volumes: { shm: 11 }, total: 0 },
    policy: { evictAtPercent: 90, defaultLimits: { emptyDirBytes: 7 * mib } },
  })),
  {
    name: 'two volumes above their limits: the first of the spec decides',
    storage: twoVolumes,
    used: { volumes: { a: 900, b: 11 } },
    expected: 'Evict p emptydirfs.limit b',
  },
  {
    name: 'a volume that is not measured is skipped',
    storage: twoVolumes,
    used: { volumes: { b: 9 } },
    expected: underLimit,
  },
  {
    name: 'a volume is checked before the pod',
    storage: { ...scratch, ...limited },
    used: { ...overPod, volumes: { tmp: 101 } },
    expected: overTmp,
  },
  // the whole pod
  { name: 'a pod above the sum of its limits', storage: limited, used: overPod, expected: overTotal },
  { name: 'exactly the limit of the pod', storage: limited, used: { total: 100 }, expected: underLimit },
  {
    name: 'a limit of 0 without usage',
    storage: { containers: [container('main', '0')] },
    used: { total: 0 },
    expected: underLimit,
  },
  {
    name: 'the total is not measured: the containers are still checked',
    storage: limited,
    used: { containers: { main: { layer: 50, logs: 51 } } },
    expected: overMain,
  },
  // containers
  {
    name: 'a container above its limit in a pod below it',
    storage: mainAndOther,
    used: { total: 20, containers: { main: { layer: 5, logs: 6 } } },
    expected: overMain,
  },
  {
    name: 'exactly the limit of a container',
    storage: mainAndOther,
    used: { total: 10, containers: { main: { layer: 5, logs: 5 } } },
    expected: underLimit,
  },
  {
    name: 'two containers above their limits: the first of the statistics decides',
    storage: { containers: [container('a', '10Mi'), container('main', '10Mi'), container('c', '900Mi')] },
    used: { total: 40, containers: { main: { logs: 20 }, a: { logs: 20 } } },
    expected: overMain,
  },
  {
    name: 'layers do not count if images have a file system of their own',
    storage: mainAndOther,
    used: { total: 20, containers: { main: { layer: 50, logs: 9 } } },
    stats: { dedicatedImageFs: true },
    expected: underLimit,
  },
  {
    name: 'logs count if images have a file system of their own',
    storage: mainAndOther,
    used: { total: 20, containers: { main: { layer: 0, logs: 11 } } },
    stats: { dedicatedImageFs: true },
    expected: overMain,
  },
  {
    name: 'a sidecar above the limit that it declares',
    storage: { ...limited, initContainers: [sidecar('s', '10Mi')] },
    used: { total: 90, containers: { s: { logs: 80 } } },
    expected: 'Evict p ephemeralcontainerfs.limit s',
  },
  {
    name: 'a container that is not in the spec is ignored',
    storage: limited,
    used: { total: 9, containers: { ghost: { logs: 800 } } },
    expected: underLimit,
  },
  // evictAtPercent
  {
    name: 'above evictAtPercent',
    storage: scratch,
    used: { volumes: { tmp: 91 } },
    policy: { evictAtPercent: 90 },
    expected: overTmp,
  },
  {
    name: 'exactly evictAtPercent',
    storage: scratch,
    used: { volumes: { tmp: 90 } },
    policy: { evictAtPercent: 90 },
    expected: underLimit,
  },
  { name: 'no limit', used: { total: 9e6, volumes: { tmp: 9e6 } }, expected: noLimit },
  { name: 'no limit and no statistics', expected: noLimit },
  // usage that is not known
  { name: 'no statistics of the pod', storage: scratch, expected: unknown },
  { name: 'no measurement of the limit', storage: scratch, used: { total: 900 }, expected: unknown },
  { name: 'NaN as usage', storage: scratch, used: { volumes: { tmp: NaN } }, expected: unknown },
  ...[
    { name: 'a stale measurement', atMs: minutesAgo(6), expected: unknown },
    { name: 'a measurement that is just fresh', atMs: minutesAgo(5), expected: overTmp },
    { name: 'a measurement in the future', atMs: minutesAgo(-6), expected: unknown },
  ].map(({ atMs, ...row }) => ({ ...row, storage: scratch, used: { ...overVolume, atMs }, staleAfterMs })),
])('$name: $expected', ({ expected, ...row }) => {
  expect(verdicts(planOf(row))).toEqual([expected]);
});

test.each<{ readonly name: string; readonly pod: NonNullable<PlanRow['pod']>; readonly expected: string }>([
  { name: 'a mirror pod', pod: { configHash: 'abc' }, expected: critical },
  { name: 'the lowest critical priority', pod: { priority: 2_000_000_000 }, expected: critical },
  { name: 'the priority below it', pod: { priority: 1_999_999_999 }, expected: overTmp },
  { name: 'no priority', pod: { priority: undefined }, expected: overTmp },
  { name: 'a pod with the keep label', pod: { isOptedOut: true }, expected: 'Keep p KeepMarked' },
  { name: 'a succeeded pod', pod: { phase: 'Succeeded' }, expected: 'Keep p Finished' },
  { name: 'a failed pod', pod: { phase: 'Failed' }, expected: 'Keep p Finished' },
  { name: 'a deleted pod', pod: { deletionAtMs: minutesAgo(1) }, expected: 'Keep p Terminating' },
  { name: 'a pending pod', pod: { phase: 'Pending' }, expected: overTmp },
  { name: 'a pod whose phase is Unknown', pod: { phase: 'Unknown' }, expected: overTmp },
])('above its limit, $name: $expected', ({ pod, expected }) => {
  expect(verdicts(planOf({ storage: scratch, used: overVolume, pod }))).toEqual([expected]);
});

test('an eviction has the limit and the usage', () => {
  expect(planOf({ storage: scratch, used: overVolume }).evictions[0]?.target.excess).toEqual({
    ...{ signal: 'emptydirfs.limit', subject: 'tmp', isDefault: false, evictAtPercent: 100 },
    ...{ usedBytes: 130 * mib, limit: { bytes: 100 * mib, text: '100Mi' } },
    measuredAtMs: now.getTime(),
  });
});

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
  const plan = planOf({ storage: { ...limited, ...scratch }, stats: { pods: mixed }, staleAfterMs });
  expect(verdicts(plan)).toEqual([unknown]);
});

describe('many pods', () => {
  const pods = [
    storagePod('scratch', scratch),
    storagePod('logger', { containers: [container('main', '200Mi')] }),
    storagePod('fine', { containers: [container('main', '1Gi')] }),
    storagePod('critical', { containers: [container('main', '10Mi')] }, { priority: 2_000_001_000 }),
  ];
  const used = usage({
    scratch: overVolume,
    logger: { total: 230 },
    fine: { total: 50 },
    critical: { total: 50 },
  });
  const planBy = (storage: Parameters<typeof governedBy>[0], over: object = {}): LocalStoragePlan =>
    planLocalStorage({ pods, usage: used, ...over }, { governance: governedBy(storage), now });

  test('a static pod is measured under the UID that its mirror pod carries', () => {
    const mirror = storagePod('kube-proxy', scratch, { configHash: 'uid-static' });
    const { warnings } = planBy(storagePolicy(), { pods: [mirror], usage: usage({ static: overVolume }) });
    expect(warnings.map(({ target }) => target.name)).toEqual(['kube-proxy']);
  });

  test('without pods the plan is empty', () => {
    const empty = { evictions: [], kept: [], warnings: [], readings: [] };
    expect(planBy(storagePolicy(), { pods: undefined })).toMatchObject(empty);
  });

  test('without a rule every pod is kept', () => {
    expect(verdicts(planBy(undefined))).toEqual(
      ['scratch', 'logger', 'fine', 'critical'].map((name) => `Keep ${name} RuleOff`),
    );
  });
});
