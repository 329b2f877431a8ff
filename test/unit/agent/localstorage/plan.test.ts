import { describe, expect, test } from 'vitest';
import { planLocalStorage } from '../../../../src/agent/localstorage/plan.ts';
import { minutesAgo, now } from '../../../builders.ts';
import {
  container,
  emptyDir,
  governedBy,
  limited,
  mib,
  overVolume,
  planOf,
  scratch,
  storagePod,
  storagePolicy,
  usage,
  verdicts,
  type PlanRow,
} from './builders.ts';

test.each<PlanRow & { readonly name: string; readonly expected: string }>([
  // evictAtPercent
  {
    name: 'ahead of the kubelet',
    storage: scratch,
    used: { volumes: { tmp: 91 } },
    policy: { evictAtPercent: 90 },
    expected: 'Evict p emptydirfs.limit tmp',
  },
  {
    name: 'exactly that part',
    storage: scratch,
    used: { volumes: { tmp: 90 } },
    policy: { evictAtPercent: 90 },
    expected: 'Keep p UnderLimit',
  },
  // defaults
  {
    name: 'a default for volumes',
    storage: { emptyDirs: [emptyDir('tmp')] },
    used: { volumes: { tmp: 8 } },
    policy: { defaultLimits: { emptyDirBytes: 7 * mib } },
    expected: 'Evict p emptydirfs.limit tmp',
  },
  {
    name: 'a default for pods',
    used: { total: 8 },
    policy: { defaultLimits: { podBytes: 7 * mib } },
    expected: 'Evict p ephemeralpodfs.limit',
  },
  {
    name: 'a default for containers',
    used: { total: 8, containers: { main: { layer: 8 } } },
    policy: { defaultLimits: { containerBytes: 7 * mib } },
    expected: 'Evict p ephemeralcontainerfs.limit main',
  },
  {
    name: 'a default does not bind what has a limit',
    storage: scratch,
    used: { volumes: { tmp: 8 } },
    policy: { defaultLimits: { emptyDirBytes: 7 * mib } },
    expected: 'Keep p UnderLimit',
  },
  // who is never evicted
  {
    name: 'a mirror pod',
    storage: scratch,
    pod: { configHash: 'abc' },
    used: overVolume,
    expected: 'Keep p CriticalPod',
  },
  {
    name: 'the lowest of the critical priorities',
    storage: scratch,
    pod: { priority: 2_000_000_000 },
    used: overVolume,
    expected: 'Keep p CriticalPod',
  },
  {
    name: 'the priority right below it',
    storage: scratch,
    pod: { priority: 1_999_999_999 },
    used: overVolume,
    expected: 'Evict p emptydirfs.limit tmp',
  },
  {
    name: 'no priority at all',
    storage: scratch,
    pod: { priority: undefined },
    used: overVolume,
    expected: 'Evict p emptydirfs.limit tmp',
  },
  {
    name: 'a critical pod within its limits, or that nobody has measured',
    storage: scratch,
    pod: { configHash: 'abc' },
    expected: 'Keep p CriticalPod',
  },
  {
    name: 'marked',
    storage: scratch,
    pod: { keepMarked: true },
    used: overVolume,
    expected: 'Keep p KeepMarked',
  },
  {
    name: 'done',
    storage: scratch,
    pod: { phase: 'Succeeded' },
    used: overVolume,
    expected: 'Keep p Finished',
  },
  {
    name: 'failed',
    storage: scratch,
    pod: { phase: 'Failed' },
    used: overVolume,
    expected: 'Keep p Finished',
  },
  {
    name: 'on its way out',
    storage: scratch,
    pod: { deletionAtMs: minutesAgo(1) },
    used: overVolume,
    expected: 'Keep p Terminating',
  },
  {
    name: 'pending pods hold volumes too',
    storage: scratch,
    pod: { phase: 'Pending' },
    used: overVolume,
    expected: 'Evict p emptydirfs.limit tmp',
  },
  {
    name: 'a pod of a lost node still runs here',
    storage: scratch,
    pod: { phase: 'Unknown' },
    used: overVolume,
    expected: 'Evict p emptydirfs.limit tmp',
  },
  // what is not known
  { name: 'no statistics of it', storage: scratch, expected: 'Keep p UsageUnknown' },
  {
    name: 'no figure of what is limited',
    storage: scratch,
    used: { total: 900 },
    expected: 'Keep p UsageUnknown',
  },
  { name: 'no limit', used: { total: 9e6, volumes: { tmp: 9e6 } }, expected: 'Keep p NoLimit' },
  { name: 'no limit, and no statistics', expected: 'Keep p NoLimit' },
  {
    name: 'a figure that is too old decides nothing',
    storage: scratch,
    used: { ...overVolume, atMs: minutesAgo(6) },
    staleAfterMs: 5 * 60_000,
    expected: 'Keep p UsageUnknown',
  },
  {
    name: 'one of five minutes does',
    storage: scratch,
    used: { ...overVolume, atMs: minutesAgo(5) },
    staleAfterMs: 5 * 60_000,
    expected: 'Evict p emptydirfs.limit tmp',
  },
  {
    name: 'nor does one of a future from which the clock was set back',
    storage: scratch,
    used: { ...overVolume, atMs: minutesAgo(-6) },
    staleAfterMs: 5 * 60_000,
    expected: 'Keep p UsageUnknown',
  },
  {
    name: 'where no age is too old, every age is good',
    storage: scratch,
    used: { ...overVolume, atMs: 0 },
    expected: 'Evict p emptydirfs.limit tmp',
  },
  {
    name: 'what is no number',
    storage: scratch,
    used: { volumes: { tmp: NaN } },
    expected: 'Keep p UsageUnknown',
  },
])('$name: $expected', ({ expected, ...row }) => {
  expect(verdicts(planOf(row))).toEqual([expected]);
});

test('says by how much', () => {
  expect(planOf({ storage: scratch, used: overVolume }).evictions[0]?.evidence.excess).toEqual({
    ...{ signal: 'emptydirfs.limit', subject: 'tmp', isDefault: false },
    ...{ usedBytes: 130 * mib, limit: { bytes: 100 * mib, text: '100Mi' } },
    measuredAtMs: now.getTime(),
  });
});

test('of what it keeps it tells the fullest limit', () => {
  const storage = { ...limited, emptyDirs: [emptyDir('a', '100Mi'), emptyDir('b', '100Mi')] };
  const { kept } = planOf({ storage, used: { volumes: { a: 20, b: 70 }, total: 50 } });
  expect(kept[0]?.evidence).toMatchObject({ fullest: { subject: 'b', usedBytes: 70 * mib } });
});

describe('many pods', () => {
  const pods = [
    storagePod('scratch', { emptyDirs: [emptyDir('tmp', '100Mi')] }),
    storagePod('logger', { containers: [container('main', '200Mi')] }),
    storagePod('fine', { containers: [container('main', '1Gi')] }),
    storagePod('critical', { containers: [container('main', '10Mi')] }, { priority: 2_000_001_000 }),
  ];
  const used = usage({
    scratch: { total: 150, volumes: { tmp: 130 }, containers: { main: { layer: 10, logs: 10 } } },
    logger: { total: 230, containers: { main: { layer: 30, logs: 200 } } },
    fine: { total: 50, containers: { main: { layer: 25, logs: 25 } } },
    critical: { total: 50, containers: { main: { layer: 25, logs: 25 } } },
  });

  test('keep the order they are listed in', () => {
    const given = { governance: governedBy(storagePolicy({ warnAtPercent: [] })), now };
    const plan = planLocalStorage({ pods, usage: used }, given);
    expect(verdicts(plan)).toEqual([
      'Evict scratch emptydirfs.limit tmp',
      'Evict logger ephemeralpodfs.limit',
      'Keep fine UnderLimit',
      'Keep critical CriticalPod',
    ]);
    expect(plan.warnings).toEqual([]);
    const reversed = planLocalStorage({ pods: pods.toReversed(), usage: used }, given);
    expect(reversed.evictions.map(({ target }) => target.name)).toEqual(['logger', 'scratch']);
  });

  test('of a static pod the kubelet has the UID that its mirror carries', () => {
    const mirror = storagePod(
      'kube-proxy',
      { emptyDirs: [emptyDir('tmp', '100Mi')] },
      { configHash: 'uid-static' },
    );
    const given = { governance: governedBy(storagePolicy()), now };
    const { warnings } = planLocalStorage({ pods: [mirror], usage: usage({ static: overVolume }) }, given);
    expect(warnings.map(({ target }) => target.name)).toEqual(['kube-proxy']);
  });

  test('without statistics all stay; without pods there is nothing to tell', () => {
    const given = { governance: governedBy(storagePolicy()), now };
    expect(verdicts(planLocalStorage({ pods, usage: undefined }, given))).toEqual([
      'Keep scratch UsageUnknown',
      'Keep logger UsageUnknown',
      'Keep fine UsageUnknown',
      'Keep critical CriticalPod',
    ]);
    const nothing = { evictions: [], kept: [], warnings: [], readings: [] };
    expect(planLocalStorage({ pods: undefined, usage: used }, given)).toEqual(nothing);
  });

  test('stay for one reason where nothing may be touched', () => {
    const given = { governance: governedBy(undefined), now };
    expect(verdicts(planLocalStorage({ pods: pods.slice(0, 2), usage: used }, given))).toEqual([
      'Keep scratch RuleOff',
      'Keep logger RuleOff',
    ]);
  });
});
