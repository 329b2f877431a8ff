import { describe, expect, test } from 'vitest';
import { nextStep, resultAfter, noContainers } from '../../../../src/agent/nodepressure/demands.ts';
import { planNodePressure } from '../../../../src/agent/nodepressure/plan.ts';
import type { StoragePod } from '../../../../src/api/local-storage.ts';
import { now, selectingAll } from '../../../builders.ts';
import { governedNode } from '../builders.ts';
import { container, emptyDir, mib, storagePod, usage } from '../localstorage/builders.ts';
import {
  crossed,
  crossedOf,
  governedBy,
  planOf,
  pressurePolicy,
  reclaimed,
  reclaims,
  verdicts,
} from './builders.ts';
import { maxAges } from '../../../../src/agent/localstorage/pods.ts';
import type { ReclaimResult } from '../../../../src/agent/nodepressure/facts.ts';

const nowMs = now.getTime();
const minuteMs = 60_000;
const big = storagePod('big');
const small = storagePod('small');
const pods = [small, big];
const used = usage({
  big: { containers: { main: { layer: 10, logs: 20 } } },
  small: { containers: { main: { layer: 5, logs: 5 } } },
});

test('a disk that neither containers nor images use has nothing to remove', () => {
  const demand = {
    signal: 'nodefs.available',
    threshold: '10%',
    wanted: mib,
    until: mib,
    kubeletInMs: undefined,
    containers: false,
    logs: true,
    images: false,
  } as const;
  expect(nextStep(demand, mib, { planned: noContainers })).toEqual({ result: 'Exhausted' });
});

test.each<[containers: ReclaimResult | undefined, images: ReclaimResult, result: ReclaimResult]>([
  [undefined, 'Exhausted', 'Exhausted'],
  [undefined, 'Ungoverned', 'Ungoverned'],
  ['MoreLeft', 'Exhausted', 'MoreLeft'],
  ['MoreLeft', 'Ungoverned', 'MoreLeft'],
  ['Exhausted', 'Ungoverned', 'Ungoverned'],
  ['MoreLeft', 'Enough', 'Enough'],
])('a pass over containers with %s, then one over images with %s: %s', (containers, images, result) =>
  expect(resultAfter(containers === undefined ? {} : { containers }, images)).toBe(result),
);

test('a threshold that an empty disk would not meet removes nothing, and another one still does', () => {
  const tooHigh = crossed({ wanted: 1000, crossedSinceMs: nowMs - 9 * minuteMs });
  expect(planOf({ signals: [tooHigh], pods, usage: used })).toMatchObject({ demands: [], evictions: [] });
  const plan = planOf({ signals: [tooHigh, crossed()], pods, usage: used });
  expect(plan.demands).toHaveLength(1);
  expect(verdicts(plan)[0]).toBe('Evict big nodefs.available');
});

describe('evictions', () => {
  /** A removal that ended so many minutes ago. */
  const after = (minutes: number, result?: ReclaimResult) => ({
    reclaimed: reclaims({ 'nodefs.available': nowMs - minutes * minuteMs }, result),
  });
  const beyondDisk = { signals: [crossed({ wanted: 1000 })] };
  const ofBigAt = (atMs: number) => usage({ big: { containers: { main: { layer: 10, logs: 20 } }, atMs } });
  const ofBig = (over: Partial<StoragePod>) => ({ pods: [storagePod('big', {}, over)] });

  test.each<readonly [string, Parameters<typeof planOf>[0], Parameters<typeof pressurePolicy>[0], string]>([
    ['no threshold is crossed', { signals: [crossed({ crossedSinceMs: undefined })] }, {}, 'NoPressure'],
    ['the policy evicts nobody', {}, { evictPods: false }, 'EvictionOff'],
    ['even an empty disk would not be enough', beyondDisk, {}, 'ThresholdBeyondDisk'],
    ['the grace period has not passed', {}, { gracePeriodMs: 2 * minuteMs + 1 }, 'Reclaiming'],
    ['nothing was removed yet', { reclaimed: new Map() }, {}, 'Reclaiming'],
    ['the removal was for an earlier crossing', after(3), {}, 'Reclaiming'],
    ['nothing was measured after the removal', after(0), {}, 'Reclaiming'],
    ['memory evicts nobody', { signals: [crossedOf('memory.available')] }, {}, 'NoPressure'],
    ['removing images and containers has freed enough', after(1, 'Enough'), {}, 'ReclaimSuffices'],
    ['images or containers are left to remove', after(1, 'MoreLeft'), {}, 'Reclaiming'],
    ['images stay that the policy does not select', after(1, 'Ungoverned'), {}, 'ImagesUngoverned'],
    [
      'images stay, and no pod is evicted anyway',
      after(1, 'Ungoverned'),
      { evictPods: false },
      'EvictionOff',
    ],
    ['usage is unknown', { usage: undefined }, {}, 'UsageUnknown'],
    ['the pod is not measured', { usage: usage({}) }, {}, 'UsageUnknown'],
    ['the pod was measured long ago', { usage: ofBigAt(nowMs - 50 * minuteMs) }, {}, 'UsageUnknown'],
    ['the pod uses nothing', { usage: usage({ big: { total: 5 } }) }, {}, 'NoUsage'],
    ['the pod is kept', ofBig({ isOptedOut: true }), {}, 'KeepMarked'],
    ['the pod has finished', ofBig({ phase: 'Failed' }), {}, 'Finished'],
    ['the pod is being deleted', ofBig({ deletionAtMs: nowMs + 3 * minuteMs }), {}, 'Terminating'],
    ['the pod is critical', ofBig({ priority: 2_000_000_000 }), {}, 'CriticalPod'],
    ['its owner refuses', ofBig({ doNotDisrupt: 'karpenter.sh/do-not-disrupt: "true"' }), {}, 'DoNotDisrupt'],
  ])('%s: the pod is kept', (_, facts, rule, reason) => {
    const plan = planOf({ pods: [big], usage: used, ...facts }, pressurePolicy(rule));
    expect(verdicts(plan)).toEqual([`Keep big ${reason}`]);
  });

  test('the next pod is evicted in place of one whose owner refuses, unless the policy does not respect it', () => {
    const refusing = storagePod('big', {}, { doNotDisrupt: 'karpenter.sh/do-not-disrupt: "true"' });
    const facts = { pods: [refusing, small], usage: used, ...after(1) };
    expect(verdicts(planOf(facts))).toEqual(['Evict small nodefs.available', 'Keep big DoNotDisrupt']);
    const rule = pressurePolicy();
    const notRespected = governedNode({ nodePressure: rule, respectDoNotDisrupt: false });
    expect(verdicts(planOf(facts, rule, notRespected))[0]).toBe('Evict big nodefs.available');
  });

  test('the end of the grace period is when the pod becomes due', () => {
    const rule = pressurePolicy({ gracePeriodMs: 5 * minuteMs });
    const { kept } = planOf({ pods: [big], usage: used }, rule);
    expect(kept[0]?.eligibleAt).toEqual(new Date(nowMs + 3 * minuteMs));
  });

  test.each<readonly [string, number, boolean]>([
    ['ends soon', 2 * minuteMs, true],
    ['should have ended just now', -30_000, true],
    ['should have ended long ago', -30_001, false],
  ])('another pod that %s', (_, leftMs, isKept) => {
    const ending = storagePod('ending', {}, { deletionAtMs: nowMs + leftMs });
    const plan = planOf({ pods: [big, ending], usage: used });
    expect(verdicts(plan)).toContain(isKept ? 'Keep big PodEnding' : 'Evict big nodefs.available');
  });

  test('a finished pod ends nothing', () => {
    const over = storagePod('over', {}, { phase: 'Succeeded', deletionAtMs: nowMs });
    expect(verdicts(planOf({ pods: [big, over], usage: used }))).toContain('Evict big nodefs.available');
  });

  test('a request has the time of the oldest measurement that it is made of', () => {
    const timeOf = (facts: Parameters<typeof planOf>[0]) => planOf(facts).evictions[0]?.target.measuredAtMs;
    expect(timeOf({ pods: [big], usage: ofBigAt(nowMs - 4 * minuteMs) })).toBe(nowMs - 4 * minuteMs);
    expect(timeOf({ pods: [big], usage: ofBigAt(nowMs + minuteMs) })).toBe(nowMs);
  });

  test('four at most are requested', () => {
    const many = Array.from({ length: 6 }, (_, i) => storagePod(`p${i}`));
    const sizes = Object.fromEntries(
      many.map(({ name }, i) => [name, { containers: { main: { logs: 9 - i } } }]),
    );
    expect(verdicts(planOf({ pods: many, usage: usage(sizes) }))).toEqual([
      ...[0, 1, 2, 3].map((i) => `Evict p${i} nodefs.available`),
      ...[4, 5].map((i) => `Keep p${i} RankedLater`),
    ]);
  });

  test('by the signal that is crossed longest', () => {
    const later = crossed({ crossedSinceMs: nowMs - minuteMs - 1 });
    const inodes = crossedOf('nodefs.inodesFree', { crossedSinceMs: nowMs - 3 * minuteMs });
    const both = new Map([...reclaimed, ...reclaims({ 'nodefs.inodesFree': nowMs - 1 })]);
    const facts = { pods, usage: used, signals: [later, inodes], reclaimed: both };
    const { demands, evictions, kept } = planOf(facts);
    expect(demands.map(({ signal }) => signal)).toEqual(['nodefs.inodesFree', 'nodefs.available']);
    expect(evictions).toEqual([]);
    // Nobody's inodes are measured.
    expect(kept.map(({ reason }) => reason)).toEqual(['UsageUnknown', 'UsageUnknown']);
  });

  test('without a rule every pod is kept, and nothing is wanted', () => {
    const facts = { node: 'a', signals: [crossed()], pods, usage: used, reclaimed, consumers: [] };
    const plan = planNodePressure(facts, { governance: governedBy(undefined), now, maxAges });
    expect(verdicts(plan)).toEqual(['Keep small RuleOff', 'Keep big RuleOff']);
    expect([plan.warnings, plan.demands]).toEqual([[], []]);
  });

  test('an invalid policy keeps every pod, and so does a label on the node', () => {
    const invalid = {
      ...{ name: 'p', uid: 'u', generation: 1, priority: 0, problems: ['spec: is wrong'] },
      ...selectingAll,
    };
    const facts = { node: 'a', signals: [], pods: [big], usage: used, reclaimed, consumers: [] };
    const keptBy = (reason: 'InvalidPolicy' | 'KeepMarked') =>
      planNodePressure(facts, { governance: { kind: 'keep', reason, policy: invalid }, now, maxAges })
        .kept[0];
    expect(keptBy('InvalidPolicy')).toMatchObject({ reason: 'InvalidPolicy', policy: invalid });
    expect(keptBy('KeepMarked')).toMatchObject({ reason: 'KeepMarked', on: 'node' });
  });
});

describe('a pod whose eviction frees next to nothing', () => {
  const gib = 1024 * mib;
  const missing = (wanted: number): Parameters<typeof planOf>[0] => ({
    signals: [crossed({ reading: { ...crossed().reading, available: 0, capacity: 100 * gib }, wanted })],
  });
  const logs = (mebi: number) => usage({ big: { containers: { main: { layer: 0, logs: mebi } } } });
  test.each<readonly [string, Parameters<typeof planOf>[0], string]>([
    ['just below 64 MiB of 10 GiB', { ...missing(10 * gib), usage: logs(63.9) }, 'Keep big NoUsage'],
    ['64 MiB of 10 GiB', { ...missing(10 * gib), usage: logs(64) }, 'Evict big nodefs.available'],
    ['just below 1 % of 100 MiB', { ...missing(100 * mib), usage: logs(0.99) }, 'Keep big NoUsage'],
    [
      'little, but its layer is not measured',
      { ...missing(10 * gib), usage: usage({ big: { containers: { main: { logs: 1 } } } }) },
      'Keep big UsageUnknown',
    ],
    [
      'its logs alone are enough',
      { ...missing(10 * gib), usage: usage({ big: { containers: { main: { logs: 200 } } } }) },
      'Evict big nodefs.available',
    ],
  ])('%s: %s', (_, facts, expected) =>
    expect(verdicts(planOf({ pods: [big], ...facts }))).toEqual([expected]),
  );

  const writing = (inodes: number | undefined) => ({
    ...{ total: undefined, volumes: new Map() },
    containers: [
      {
        name: 'main',
        layer: { bytes: 9 * gib, inodes, atMs: nowMs },
        logs: { bytes: 1, inodes: 1, atMs: nowMs },
      },
    ],
  });
  const inodesFree = (wanted: number, inodes: number | undefined): Parameters<typeof planOf>[0] => ({
    signals: [
      crossed({ reading: { ...crossed().reading, signal: 'nodefs.inodesFree', capacity: 1e6 }, wanted }),
    ],
    reclaimed: reclaims({ 'nodefs.inodesFree': nowMs - minuteMs }),
    usage: usage({}, { pods: new Map([['uid-big', writing(inodes)]]) }),
  });
  test.each<readonly [string, Parameters<typeof planOf>[0], string]>([
    ['98 inodes with its logs, 10000 are missing', inodesFree(10_000, 97), 'Keep big NoUsage'],
    ['its inodes are not measured', inodesFree(10_000, undefined), 'Keep big UsageUnknown'],
  ])('%s: %s', (_, facts, expected) =>
    expect(verdicts(planOf({ pods: [big], ...facts }))).toEqual([expected]),
  );
});

describe('the rank', () => {
  const layered = { main: { layer: 40, logs: 1 } };
  const logged = { main: { layer: 1, logs: 20 } };
  const scratch = { emptyDirs: [emptyDir('tmp'), emptyDir('shm', undefined, true)] };
  const names = (facts: Parameters<typeof planOf>[0]): string[] =>
    planOf(facts).evictions.map(({ target }) => target.name);
  const rows: readonly StoragePod[] = [
    storagePod('layers'),
    storagePod('logs'),
    storagePod('volume', scratch),
  ];
  const sizes = {
    layers: { containers: layered },
    logs: { containers: logged },
    volume: { containers: { main: { layer: 2, logs: 3 } }, volumes: { tmp: 10, shm: 500 } },
  };
  const imagefs = crossedOf('imagefs.available');
  const both = new Map([...reclaimed, ...reclaims({ 'imagefs.available': nowMs - minuteMs })]);
  const alone = usage(sizes, { dedicatedImageFs: true });
  const elsewhere = usage(sizes, { dedicatedImageFs: true, splitContainerFs: true });

  test.each<readonly [string, Parameters<typeof planOf>[0], string]>([
    ['one file system: layers, logs and volumes on disk', { usage: usage(sizes) }, 'layers logs volume'],
    ['images on their own: nodefs has logs and volumes', { usage: alone }, 'logs volume layers'],
    ['images on their own: imagefs has layers', { usage: alone, signals: [imagefs] }, 'layers volume logs'],
    ['layers elsewhere: nodefs has all', { usage: elsewhere }, 'layers logs volume'],
    ['layers elsewhere: no pod uses imagefs', { usage: elsewhere, signals: [imagefs] }, ''],
  ])('%s', (_, facts, expected) =>
    expect(names({ pods: rows, reclaimed: both, ...facts }).join(' ')).toBe(expected),
  );

  test('over its request first, then the lower priority, then the larger excess', () => {
    const requesting = (name: string, request: string, priority = 0): StoragePod =>
      storagePod(name, { containers: [container('main', undefined, request)] }, { priority });
    const all = [
      requesting('within', '100Mi', -5),
      requesting('important', '1Mi', 10),
      requesting('slightly', '45Mi'),
      requesting('much', '10Mi'),
    ];
    const same = Object.fromEntries(all.map(({ name }) => [name, { containers: { main: { layer: 50 } } }]));
    expect(names({ pods: all, usage: usage(same) })).toEqual(['much', 'slightly', 'important', 'within']);
  });

  test('inodes are ranked by inodes, and nobody requests them', () => {
    const inodes = crossedOf('nodefs.inodesFree');
    const { pods: measured, ...rest } = usage({ big: {}, small: {} });
    const withInodes = new Map(
      [...measured].map(([uid, one]) => {
        const [bytes, inodes] = uid === 'uid-big' ? [100 * mib, 5] : [1, 7];
        const logs = { bytes, inodes, atMs: nowMs };
        return [uid, { ...one, containers: [{ name: 'main', layer: undefined, logs }] }];
      }),
    );
    const requesting = storagePod('big', { containers: [container('main', undefined, '1')] });
    const { evictions } = planOf({
      pods: [requesting, small],
      usage: { ...rest, pods: withInodes },
      signals: [inodes],
      reclaimed: reclaims({ 'nodefs.inodesFree': nowMs - minuteMs }),
    });
    expect(evictions.map(({ target: { name, used: bytes, request } }) => [name, bytes, request])).toEqual([
      ['small', 7, 0],
      ['big', 5, 0],
    ]);
  });
});

describe('warnings', () => {
  const warned = (facts: Parameters<typeof planOf>[0]) => planOf(facts).warnings[0]?.target.consumers;
  const consumers = [
    { kind: 'image' as const, name: 'ml:1', amount: 25 * mib },
    { kind: 'log' as const, name: '/var/log/pods/a', amount: 26 * mib },
    { kind: 'image' as const, name: 'tiny:1', amount: 1 },
  ];

  test('about the node, with the three largest consumers', () => {
    const { warnings } = planOf({ pods, usage: used, consumers });
    expect(warnings).toMatchObject([
      {
        unit: 'nodepressure',
        verdict: 'Warn',
        reason: 'nodefs.available',
        target: { kind: 'Node', name: 'a' },
      },
    ]);
    const names = warnings[0]?.target.consumers.map(({ name }) => name);
    expect(names).toEqual(['web/big', '/var/log/pods/a', 'ml:1']);
  });

  test('only consumers of that file system', () => {
    const { pods: measured } = used;
    const alone = usage({}, { dedicatedImageFs: true, pods: measured });
    expect(warned({ consumers, usage: alone })?.map(({ name }) => name)).toEqual(['/var/log/pods/a']);
    const imagefs = crossedOf('imagefs.available');
    expect(warned({ consumers, usage: alone, signals: [imagefs] })?.map(({ name }) => name)).toEqual([
      'ml:1',
      'tiny:1',
    ]);
  });

  test('memory: pods by their working set', () => {
    const memory = crossedOf('memory.available');
    const measured = new Map(
      [...used.pods].map(([uid, one]) => [uid, { ...one, memoryBytes: uid === 'uid-small' ? 7 : undefined }]),
    );
    const facts = { pods, usage: { ...used, pods: measured }, signals: [memory], consumers };
    expect(warned(facts)).toEqual([{ kind: 'pod', name: 'web/small', amount: 7 }]);
  });
});

describe('demands', () => {
  const signals = [crossedOf('imagefs.available')];
  const alone = usage({}, { dedicatedImageFs: true });
  const elsewhere = usage({}, { dedicatedImageFs: true, splitContainerFs: true });
  test.each<readonly [string, Parameters<typeof planOf>[0], readonly string[]]>([
    ['one file system', { usage: usage({}) }, ['containers', 'logs', 'images']],
    ['images on their own, nodefs', { usage: alone }, ['containers', 'logs']],
    ['images on their own, imagefs', { usage: alone, signals }, ['containers', 'images']],
    ['layers elsewhere, imagefs', { usage: elsewhere, signals }, ['images']],
  ])('%s', (_, facts, removed) => {
    const [containers, logs, images] = ['containers', 'logs', 'images'].map((kind) => removed.includes(kind));
    const expected = { threshold: '15%', wanted: 50, until: 150, containers, logs, images };
    expect(planOf(facts).demands).toMatchObject([expected]);
  });

  test('have the time until the kubelet acts', () => {
    const signals = [crossed({ kubelets: { value: 10, text: '1%', secondsLeft: 60 } })];
    expect(planOf({ signals }).demands).toMatchObject([{ kubeletInMs: 60_000 }]);
  });
});
