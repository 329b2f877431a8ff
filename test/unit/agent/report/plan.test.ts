import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import type { ReportFacts } from '../../../../src/agent/report/facts.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import type { HeldImages } from '../../../../src/gc/hold.ts';
import { now, policy, selectingAll } from '../../../builders.ts';
import { hostile } from '../../../hostile.ts';
import { governedNode, keptBy } from '../builders.ts';
import { noCheckpointLimits } from '../containergc/builders.ts';
import {
  containers,
  disk,
  evictionRequest,
  expectStorable,
  facts,
  gib,
  governed,
  images,
  leftovers,
  offender,
  orphanCount,
  orphanInventory,
  pass,
  passes,
  removedItem,
  storageWarning,
} from './builders.ts';

const reported = (over: Partial<ReportFacts> = {}) => planReport(facts(over), undefined, now);

const invalid = {
  ...{ name: 'broken', uid: 'u', generation: 3, priority: 0, problems: ['spec.nodes: bad'] },
  ...selectingAll,
};
const short = pass('containergc', { result: 'Short' });

describe('Ready and Degraded', () => {
  const [well, ill, unknown] = [
    ['True', 'False'],
    ['False', 'True'],
    ['Unknown', 'Unknown'],
  ] as const;
  const unavailable = { reason: 'RuntimeUnavailable', message: 'connect ENOENT' } as const;
  const undecided = passes(pass('imagegc'), pass('containergc', { result: 'Unknown' }));
  const failing = passes(pass('imagegc', { result: 'Failed' }), short);
  const noCapacity = disk(0, { capacityBytes: 0, availableBytes: 0 });

  const governance = governedNode({ orphans: { podCgroups: 'Remove', podDirectories: 'Remove' } });
  const readOnly = orphanCount({ isReadOnly: true });
  const unwritable = {
    governance,
    orphans: orphanInventory({ podDirectories: readOnly, podCgroups: readOnly }),
  };
  const checkpointing = governedNode({ checkpoints: noCheckpointLimits });
  const removingLeftovers = governedNode({
    leftovers: { downloads: 'Remove', leases: 'Report', snapshots: 'Report' },
  });
  const ofCheckpoints = {
    ...{ total: 1, bytes: 1, removable: 0, removableBytes: 0, isApart: false, isReadOnly: true },
  };
  const unwritableCheckpoints = {
    governance: checkpointing,
    containers: { ...containers, checkpoints: ofCheckpoints },
  };
  const writable = { governance, orphans: orphanInventory({ podCgroups: orphanCount() }) };

  test.each<readonly [string, Partial<ReportFacts>, reason: string, statuses: readonly [string, string]]>([
    ['no problem', {}, 'AsPlanned', well],
    ['a unit without a pass', { passes: passes(pass('imagegc')) }, 'NoPassYet', unknown],
    ['a failed pass and a missed target', { passes: failing }, 'PassFailed', ill],
    ['a pass that could not decide', { passes: undecided }, 'Undecided', ill],
    ['the runtime is not available', { troubles: [unavailable] }, 'RuntimeUnavailable', ill],
    ['a disk without capacity', { imageDisk: noCapacity }, 'InvalidDiskCapacity', ill],
    ['orphans in places that are read-only', unwritable, 'ReadOnly', ill],
    ['checkpoints in a directory that is read-only', unwritableCheckpoints, 'ReadOnly', ill],
    ['checkpoints that can be removed', { governance: checkpointing }, 'AsPlanned', well],
    ['checkpoints without a pass', { governance: checkpointing, passes: [] }, 'NoPassYet', unknown],
    ['leftovers without a pass', { governance: removingLeftovers, passes: [] }, 'NoPassYet', unknown],
    ['orphans in places that can be written', writable, 'AsPlanned', well],
    ['no policy', { governance: keptBy('NoPolicy'), passes: [] }, 'NoPolicy', well],
    ['the keep label on the node', { governance: keptBy('KeepMarked') }, 'KeepMarked', well],
    ['a policy without rules', { governance: keptBy('RuleOff') }, 'RuleOff', well],
    ['an unknown invalid policy', { governance: keptBy('InvalidPolicy') }, 'InvalidPolicy', ill],
    ['a watch that does not work', { governance: keptBy('NodeUnknown') }, 'NodeUnknown', ill],
    [
      'an invalid policy',
      { governance: { ...keptBy('InvalidPolicy'), policy: invalid } },
      'InvalidPolicy',
      ill,
    ],
  ])('%s', (_, over, reason, [ready, degradedStatus]) => {
    const status = reported(over);
    const states = new Map(status.conditions?.map((one) => [one.type, [one.status, one.reason]]));
    expect(states.get('Ready')).toEqual([ready, reason]);
    expect(states.get('Degraded')).toEqual([degradedStatus, reason]);
    expectStorable(status);
  });
});

test('lastTransitionTime changes only with the status of a condition', () => {
  const first = reported();
  const failed = { passes: passes(pass('imagegc', { result: 'Failed' }), pass('containergc')) };
  const second = planReport(facts(failed), first, new Date(now.getTime() + 60_000));
  const moved = second.conditions?.filter((one) => one.lastTransitionTime === '2026-01-15T12:01:00Z') ?? [];
  expect(moved.map(({ type }) => type)).toEqual(['Ready', 'Degraded']);
});

test('the report has all known facts', () => {
  const orphan = { path: '/pods/a', podUID: 'a', since: '2026-01-15T12:00:00Z', bytes: 3, reason: 'Mounted' };
  const bare = { path: '/pods/b', podUID: 'b', bytes: 0 };
  const podDirectories = orphanCount({ count: 2, bytes: 3, largest: [orphan, bare] });
  const orphans = orphanInventory({ podDirectories, podCgroups: orphanCount() });
  const full = reported({ orphans, leftovers: leftovers() });
  expect(full).toMatchObject({
    reportTime: '2026-01-15T12:00:00Z',
    policy: { name: 'default', uid: 'uid-default', observedGeneration: 1, mode: 'Enforce' },
    imageFileSystem: { usedPercent: 50, capacityBytes: 100 * gib, inodes: 1000, availableInodes: 900 },
    images: { removable: { count: 2, bytes: 2 * gib, size: '2.0Gi' } },
    containers: { total: 20, removable: 3 },
  });
  expect(full.orphans).toEqual({
    podDirectories: {
      ...{ count: 2, bytes: 3 },
      largest: [orphan, bare],
    },
    podCgroups: { count: 4, bytes: 400 },
  });
  expect(full.leftovers).toEqual({
    ...{ measuredTime: '2026-01-15T12:00:00Z', count: 2, bytes: 30, lowerBound: true },
    largest: [
      {
        ...{ kind: 'Download', id: 'lease 1', name: 'docker.io/library/nginx', holder: 'lease 1' },
        ...{ since: '2026-01-15T09:00:00Z', bytes: 20, lowerBound: true },
      },
      {
        ...{ kind: 'Lease', id: 'lease 2', name: '2', holder: 'lease 2' },
        ...{ since: '2026-01-15T09:00:00Z', bytes: 10 },
      },
    ],
    ...{ directories: 1, missingDirectories: 0, namespaceCount: 1, namespaces: [{ name: 'moby', bytes: 7 }] },
  });
  const unknown = { unknown: 'the runtime is not containerd' };
  expect(reported({ leftovers: unknown }).leftovers).toEqual(unknown);
  const undated = leftovers().leftovers.map((one) => ({ ...one, sinceMs: undefined }));
  expect(reported({ leftovers: leftovers({ leftovers: undated }) }).leftovers?.largest?.[0]).toEqual(
    expect.not.objectContaining({ since: expect.anything() as unknown }),
  );
  const nothing = reported({ leftovers: leftovers({ leftovers: [], directories: undefined }) }).leftovers;
  expect(nothing).toMatchObject({ count: 0, bytes: 0, largest: [] });
  expect(nothing).not.toHaveProperty('directories');
  const none = images({ removable: { count: 0, bytes: 0 } });
  expect(reported({ images: none }).images?.removable?.size).toBe('0');
  expectStorable(full);
});

test.each<[name: string, of: Partial<Policy> | undefined, expected: object | undefined]>([
  ['of the present rules', {}, { keep: [0, 2], only: [], maximumAgeByImage: [1] }],
  ['of an older generation', { generation: 0 }, undefined],
  ['of another policy', { uid: 'uid-other' }, undefined],
  ['before the first comparison', undefined, undefined],
])('the entries that match no image: %s', (_, of, expected) => {
  const entries = { keep: [0, 2], only: [], maximumAgeByImage: [1] };
  const unmatched = of && { ...entries, policy: policy(of) };
  const status = reported({ images: images({ unmatched }) });
  expect(status.images?.unmatched).toEqual(expected);
  expectStorable(status);
});

test('a fact that is not known has no field', () => {
  const empty = reported({
    ...{ runtime: undefined, images: undefined, containers: undefined, imageDisk: undefined },
    ...{ governance: keptBy('NoPolicy'), passes: [] },
  });
  expect(Object.keys(empty).sort()).toEqual([
    ...['agentVersion', 'conditions', 'largestOffenders', 'reportTime', 'units'],
  ]);
  expectStorable(empty);
});

test('the five largest offenders are listed, those of equal size by id or else by name', () => {
  const equal = [{}, { name: 'm' }, { id: 'x', name: 'a' }, { id: 'b' }].map(offender);
  const larger = Array.from({ length: 3 }, (_, i) => offender({ id: `i${i}`, bytes: 100 - i }));
  const listed = (offenders: typeof equal) =>
    reported({ images: images({ offenders }) }).largestOffenders?.map(({ id, name }) => id ?? name);
  const first = larger.map(({ id }) => id);
  expect(listed([...equal, ...larger])).toEqual([...first, undefined, 'b']);
  expect(listed(equal.toReversed())).toEqual([undefined, 'b', 'm', 'x']);
});

const removedImage = {
  ...{ id: 'sha256:b', name: 'docker.io/library/nginx:1.27', reason: 'Space', policy: 'nodes' },
  time: '2026-01-15T12:00:00Z',
};

test('the images that were removed last are in the report with their reason and policy', () => {
  const lastRemoved = { images: [removedImage, { ...removedImage, name: undefined }], others: [] };
  expect(reported({ lastRemoved }).images?.lastRemoved).toEqual(lastRemoved.images);
  expect(reported().images).not.toHaveProperty('lastRemoved');
});

test('the containers and logs that were removed last are in the report with what is known of their pods', () => {
  const pod = { uid: 'u', namespace: 'web', name: 'api' };
  const others = [
    removedItem('Container', { name: 'main', pod, bytes: 7 }),
    removedItem('LogDirectory', { pod: { uid: 'u' } }),
    removedItem('LogLink'),
    removedItem('Leftover', { id: 'lease left', name: 'docker.io/library/nginx' }),
  ];
  const status = reported({ lastRemoved: { images: [], others } });
  expect(status.containers).toEqual({ ...containers.containers, lastRemoved: others });
  expectStorable(status);
  expect(reported().containers).not.toHaveProperty('lastRemoved');
});

describe('the report of an agent that starts continues the list of the agent before', () => {
  const others = (...names: readonly string[]) =>
    names.map((id) => removedItem(id.startsWith('/') ? 'LogFile' : 'Container', { id }));
  const after = (own: readonly string[], before: readonly string[]): readonly string[] => {
    const previous = reported({ lastRemoved: { images: [], others: others(...before) } });
    const next = facts({ lastRemoved: { images: [], others: others(...own) } });
    return planReport(next, previous, now).containers?.lastRemoved?.map(({ id }) => id) ?? [];
  };
  const ids = (prefix: string): readonly string[] => Array.from({ length: 10 }, (_, i) => `${prefix}${i}`);

  test.each([
    { name: 'with each removal once', own: ['c', 'a'], before: ['a', '/b'], want: ['c', 'a', '/b'] },
    {
      name: 'logs displace no container',
      own: ids('/new'),
      before: ['a', '/b'],
      want: [...ids('/new'), 'a'],
    },
    { name: 'containers displace no log', own: ids('new'), before: ['a', '/b'], want: [...ids('new'), '/b'] },
  ])('$name', ({ own, before, want }) => {
    expect(after(own, before)).toEqual(want);
  });
});

test('after a pass that could not list the node, the report still names what was removed last', () => {
  const lastRemoved = { images: [removedImage], others: [removedItem('Container')] };
  const status = reported({ images: undefined, containers: undefined, lastRemoved });
  expect(status.images).toEqual({ lastRemoved: lastRemoved.images });
  expect(status.containers).toEqual({ lastRemoved: lastRemoved.others });
  expectStorable(status);
});

const holding = (over: Partial<ReportFacts>) =>
  planReport(facts(over), undefined, now).conditions?.find(({ type }) => type === 'Holding');
const held: HeldImages = { due: 40, unused: 60, until: new Date('2026-01-15T12:05:00Z') };

test('a large removal that waits has its numbers', () => {
  expect(holding({ images: { ...images(), held } })).toMatchObject({
    ...{ status: 'True', reason: 'Holding' },
    message: expect.stringContaining('would remove 40 of 60 unused images') as string,
  });
});

test('control characters are escaped', () => {
  const failed = pass('imagegc', { result: 'Failed', errors: 1, message: hostile });
  const offenders = [offender({ id: hostile, name: hostile })];
  const runtime = { name: hostile, version: hostile, apiVersion: 'v1' };
  const report = planReport(
    facts({ runtime, passes: passes(failed), images: images({ offenders }) }),
    undefined,
    now,
  );
  const shown = String.raw`a\u001b[2Jb ERROR forged\u009b2Jc\u202egpj.exe d\u007f`;
  expect(report.runtime).toEqual({ name: shown, version: shown, apiVersion: 'v1' });
  expect(report.units?.[0]?.message).toBe(shown);
  expect(report.conditions?.find(({ type }) => type === 'Degraded')?.message).toBe(
    `imagegc failed (1 removals failed): ${shown}`,
  );
  expect(report.largestOffenders?.[0]).toMatchObject({ id: shown, name: shown });
});

test('the report is within the bounds of the schema, whatever is on the node', () => {
  const long = '😀\n'.repeat(40_000);
  const huge = { count: 1e12, bytes: 1e300 };
  const large = offender({ id: long, name: long, namespace: long, bytes: 1e300, reason: long });
  const offenders = Array.from({ length: 50 }, () => large);
  const orphan = { path: long, podUID: long, since: now.toISOString(), bytes: 1e300, reason: long };
  const hugeOrphans = { ...huge, largest: Array.from({ length: 50 }, () => orphan), isReadOnly: true };
  const leftover = { id: long, name: long, holder: long, sinceMs: 1e300, bytes: 1e300, isLowerBound: true };
  const hugeLeftovers = leftovers({
    leftovers: Array.from({ length: 50 }, () => ({ ...leftover, kind: 'Download' as const })),
    namespaces: Array.from({ length: 50 }, () => ({ name: long, bytes: 1e300, isLowerBound: true })),
    directories: { withoutSnapshot: 1e300, missing: 1e300 },
  });
  const pod = { uid: long, namespace: long, name: long };
  const removed = removedItem('LogFile', {
    id: long,
    name: long,
    pod,
    reason: long,
    policy: long,
    bytes: 1e300,
  });
  const lastRemoved = Array.from({ length: 50 }, () => removed);
  const storage = {
    ...{ policy: { uid: 'uid-default', generation: 7 }, offenders: [] },
    warnings: [{ ...storageWarning('a', { percent: 400, usedBytes: -1 }), pod, sinceMs: Number.NaN }],
    evictionRequests: [
      evictionRequest('b', { pod, subject: long, observedBytes: 1e300, observedAtMs: 1e300 }),
    ],
  };
  const wrong = { removed: 1e12, freedBytes: -5, errors: Number.NaN };
  const status = planReport(
    facts({
      agentVersion: long,
      runtime: { name: long, version: long, apiVersion: long },
      governance: { ...governed(), policy: policy({ generation: 7 }) },
      passes: passes(pass('imagegc', { result: 'Failed', message: long, ...wrong })),
      images: images({ total: huge, removable: huge, offenders }),
      containers,
      storage,
      lastRemoved: { images: lastRemoved, others: lastRemoved },
      orphans: { podDirectories: hugeOrphans, logDirectories: hugeOrphans, podCgroups: hugeOrphans },
      leftovers: hugeLeftovers,
      imageDisk: disk(50, { mountpoint: long, usedPercent: 400, inodes: 1e300 }),
      troubles: [{ reason: 'RuntimeUnavailable', message: long }],
    }),
    undefined,
    now,
  );
  expectStorable(status);
  expect(Buffer.byteLength(JSON.stringify(status))).toBeLessThan(200_000);
  expect(status.units?.[0]?.message).toMatch(/^😀 😀.*…$/u);
  expect(status.units?.[0]).toMatchObject({ freedBytes: 0, errors: 0 });
  expect(status.storageWarnings?.[0]).toMatchObject({ percent: 100, observedBytes: 0 });
});
