import { describe, expect, test } from 'vitest';
import type {
  HeldImages,
  NodePassReport,
  Offender,
  RemovedKind,
} from '../../../../src/api/report/node-pass.ts';
import type { ReportFacts } from '../../../../src/agent/report/facts.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { now, selectingAll } from '../../../builders.ts';
import { governedNode, keptBy } from '../builders.ts';
import { governedBy, storagePolicy } from '../localstorage/builders.ts';
import {
  containers,
  disk,
  expectStorable,
  facts,
  gib,
  images,
  offender,
  orphanCount,
  orphanInventory,
  pass,
  passes,
  removedObject,
} from './builders.ts';

const reported = (over: Partial<ReportFacts> = {}) => planReport(facts(over), undefined, now);
const degraded = (over: Partial<ReportFacts>): string | undefined =>
  reported(over).conditions?.find(({ type }) => type === 'Degraded')?.message;

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
  const writable = { governance, orphans: orphanInventory({ podCgroups: orphanCount() }) };

  test.each<readonly [string, Partial<ReportFacts>, reason: string, statuses: readonly [string, string]]>([
    ['no problem', {}, 'AsPlanned', well],
    ['a unit without a pass', { passes: passes(pass('imagegc')) }, 'NoPassYet', unknown],
    ['a failed pass and a missed target', { passes: failing }, 'PassFailed', ill],
    ['a missed target', { passes: passes(pass('imagegc'), short) }, 'TargetMissed', ill],
    ['a pass that could not decide', { passes: undecided }, 'Undecided', ill],
    ['the runtime is not available', { troubles: [unavailable] }, 'RuntimeUnavailable', ill],
    ['a disk without capacity', { imageDisk: noCapacity }, 'InvalidDiskCapacity', ill],
    ['orphans in places that are read-only', unwritable, 'ReadOnly', ill],
    ['orphans in places that can be written', writable, 'AsPlanned', well],
    ['no policy', { governance: keptBy('NoPolicy'), passes: [] }, 'NoPolicy', well],
    ['the keep label on the node', { governance: keptBy('KeepMarked') }, 'KeepMarked', well],
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

  const failed = pass('imagegc', { result: 'Failed', errors: 3 });
  test.each<{ readonly over: Partial<ReportFacts>; readonly message: string }>([
    { over: { passes: passes(failed) }, message: 'imagegc failed (3 removals failed)' },
    {
      over: { passes: passes({ ...failed, message: 'EBUSY' }) },
      message: 'imagegc failed (3 removals failed): EBUSY',
    },
    { over: { governance: keptBy('RuleOff') }, message: 'The policy has no rules for this node' },
    { over: { governance, passes: [] }, message: 'No pass yet: containergc' },
    {
      over: { governance: keptBy('InvalidPolicy') },
      message: 'The policy that governs this node is invalid',
    },
  ])('message: $message', ({ over, message }) => {
    expect(degraded(over)).toBe(message);
  });

  test('the message names the Helm values of places that are read-only', () => {
    expect(degraded(unwritable)).toContain('agent.orphans.podDirectories=true');
    expect(degraded(unwritable)).toContain('agent.orphans.podCgroups=true');
  });

  const refused = 'reading the usage of the pods: refused';
  test.each<{ readonly made: readonly NodePassReport[]; readonly message: string }>([
    { made: [], message: 'No pass yet: localstorage' },
    { made: [pass('localstorage')], message: 'The last passes did everything that they planned' },
    {
      made: [pass('localstorage', { result: 'Failed', message: refused })],
      message: `localstorage failed: ${refused}`,
    },
  ])('with only a rule for local storage: $message', ({ made, message }) => {
    expect(degraded({ governance: governedBy(storagePolicy()), passes: passes(...made) })).toBe(message);
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
  const orphan = { path: '/pods/a', podUid: 'a', sinceMs: now.getTime(), bytes: 3, reason: 'Mounted' };
  const bare = { path: '/pods/b', podUid: 'b', sinceMs: undefined, bytes: 0, reason: undefined };
  const podDirectories = orphanCount({ count: 2, bytes: 3, largest: [orphan, bare] });
  const orphans = orphanInventory({ podDirectories, podCgroups: orphanCount() });
  const full = reported({ orphans, snapshots: { count: 3 } });
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
      largest: [
        { path: '/pods/a', podUID: 'a', since: '2026-01-15T12:00:00Z', bytes: 3, reason: 'Mounted' },
        { path: '/pods/b', podUID: 'b', bytes: 0 },
      ],
    },
    podCgroups: { count: 4, bytes: 400 },
    snapshots: { count: 3 },
  });
  expect(reported({ snapshots: { count: 0 } }).orphans).toEqual({ snapshots: { count: 0 } });
  expectStorable(full);
});

test.each([
  { bytes: 0, size: '0' },
  { bytes: 1023, size: '1023' },
  { bytes: 1536, size: '1.5Ki' },
  { bytes: 7 * gib + 1, size: '7.0Gi' },
  { bytes: Infinity, size: '8192.0Ti' },
])('a column shows $bytes removable bytes as $size', ({ bytes, size }) => {
  const full = reported({ images: images({ removable: { count: 1, bytes } }) });
  expect(full.images?.removable?.size).toBe(size);
  expectStorable(full);
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

describe('the largest offenders', () => {
  const listed = (offenders: readonly Offender[]) =>
    reported({ images: images({ offenders }) }).largestOffenders;

  test('are the ten largest', () => {
    const some = Array.from({ length: 12 }, (_, i) => offender({ id: `i${i}`, bytes: i < 2 ? 1 : 100 - i }));
    const expected = ['i2', 'i3', 'i4', 'i5', 'i6', 'i7', 'i8', 'i9', 'i10', 'i11'];
    expect(listed(some)?.map(({ id }) => id)).toEqual(expected);
  });

  test('of equal size are ordered by id or else by name', () => {
    const all = [{}, { name: 'm' }, { id: 'x', name: 'a' }, { id: 'b' }].map(offender);
    expect(listed(all)).toMatchObject([{}, { id: 'b' }, { name: 'm' }, { id: 'x' }]);
    expect(listed(all.toReversed())).toEqual(listed(all));
  });
});

const time = now.toISOString().replace('.000', '');

test('the images that were removed last are in the report with their reason and policy', () => {
  const name = 'docker.io/library/nginx:1.27';
  const removed = [removedObject('Image', { id: 'sha256:b', name }), removedObject('Image')];
  const lastRemoved = { images: removed, others: [] };
  expect(reported({ lastRemoved }).images?.lastRemoved).toEqual([
    { id: 'sha256:b', name, time, reason: 'Space', policy: 'nodes' },
    { id: 'x', time, reason: 'Space', policy: 'nodes' },
  ]);
  expect(reported().images).not.toHaveProperty('lastRemoved');
});

test('the containers and logs that were removed last are in the report with what is known of their pods', () => {
  const pod = { uid: 'u', namespace: 'web', name: 'api' };
  const uidOnly = { uid: 'u', namespace: undefined, name: undefined };
  const given = { reason: 'PodGone', policy: 'nodes' };
  const others = [
    removedObject('Container', { ...given, id: 'c', name: 'main', pod, bytes: 7 }),
    removedObject('LogDirectory', { ...given, id: '/var/log/pods/u', pod: uidOnly }),
    removedObject('LogLink', { ...given, id: '/var/log/containers/x.log' }),
  ];
  const status = reported({ lastRemoved: { images: [], others } });
  expect(status.containers).toEqual({
    ...containers.containers,
    lastRemoved: [
      { kind: 'Container', id: 'c', name: 'main', pod, bytes: 7, time, ...given },
      { kind: 'LogDirectory', id: '/var/log/pods/u', pod: { uid: 'u' }, time, ...given },
      { kind: 'LogLink', id: '/var/log/containers/x.log', time, ...given },
    ],
  });
  expectStorable(status);
  expect(reported().containers).not.toHaveProperty('lastRemoved');
});

describe('the report of an agent that starts continues the list of the agent before', () => {
  const others = (...names: readonly string[]) =>
    names.map((id) => removedObject<RemovedKind>(id.startsWith('/') ? 'LogFile' : 'Container', { id }));
  const after = (own: readonly string[], before: readonly string[]): readonly string[] => {
    const previous = reported({ lastRemoved: { images: [], others: others(...before) } });
    const next = facts({ lastRemoved: { images: [], others: others(...own) } });
    return planReport(next, previous, now).containers?.lastRemoved?.map(({ id }) => id) ?? [];
  };
  const ids = (prefix: string): readonly string[] => Array.from({ length: 10 }, (_, i) => `${prefix}${i}`);
  test('an id that the report shortens is listed once', () => {
    expect(after(['a  b'], ['a  b'])).toEqual(['a b']);
  });

  test.each([
    { name: 'before its first removal', own: [], before: ['a', '/b'], want: ['a', '/b'] },
    { name: 'after a removal', own: ['c'], before: ['a', '/b'], want: ['c', 'a', '/b'] },
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
  const lastRemoved = { images: [removedObject('Image')], others: [removedObject('Container')] };
  const status = reported({ images: undefined, containers: undefined, lastRemoved });
  expect(status).toMatchObject({
    images: { lastRemoved: [{ id: 'x' }] },
    containers: { lastRemoved: [{ id: 'x' }] },
  });
  expectStorable(status);
  expect(status.containers).not.toHaveProperty('total');
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

test.each([
  { name: 'nothing waits', over: { images: images() } },
  { name: 'no pass has ended', over: { images: undefined } },
])('False: $name', ({ over }) => {
  expect(holding(over)).toMatchObject({ status: 'False', reason: 'NothingHeld' });
});

test.each<{ readonly name: string; readonly governance: ReportFacts['governance'] }>([
  { name: 'no rule for images', governance: governedNode({}) },
  { name: 'no policy', governance: keptBy('NoPolicy') },
])('absent: $name', ({ governance }) => {
  expect(holding({ governance })).toBeUndefined();
});
