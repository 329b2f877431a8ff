import { describe, expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type { Offender } from '../../../../src/api/report/node-pass.ts';
import { schemaChecker } from '../../../sandbox/schema.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { now, policy } from '../../../builders.ts';
import { nodeGcReportCrd } from '../../api/crd.ts';
import { disk, facts, gib, governed, images, pass, passes } from './builders.ts';

const conditions = ({ conditions: all = [] }: NodeGCReportStatus): string[] =>
  all.map(({ type, status, reason }) => `${type}=${status} ${reason}`);

const checkCrd = schemaChecker(nodeGcReportCrd);
/** What an API server would say of it: nothing, and it would not drop a field either. */
const expectStorable = (status: NodeGCReportStatus): void => {
  const report = {
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'NodeGCReport',
    metadata: { name: 'n' },
    status,
  };
  expect(checkCrd(report)).toEqual({ object: report, problems: [] });
};

const kept = (reason: 'NoPolicy' | 'KeepMarked' | 'NodeUnknown'): NodeGovernance => ({
  kind: 'keep',
  reason,
  policy: undefined,
});
const broken = { name: 'broken', uid: 'u', generation: 3, priority: 0, problems: ['spec.nodes: bad'] };

describe('Ready and Degraded', () => {
  test.each([
    { name: 'all is well', over: {}, expected: ['Ready=True AsPlanned', 'Degraded=False AsPlanned'] },
    {
      name: 'a unit has made no pass yet',
      over: { passes: passes(pass('imagegc')) },
      expected: ['Ready=Unknown NoPassYet', 'Degraded=Unknown NoPassYet'],
    },
    {
      name: 'a pass failed, another one missed its target',
      over: {
        passes: passes(pass('imagegc', { result: 'Short' }), pass('containergc', { result: 'Failed' })),
      },
      expected: ['Ready=False PassFailed', 'Degraded=True PassFailed'],
    },
    {
      name: 'the target was missed',
      over: { passes: passes(pass('imagegc', { result: 'Short' }), pass('containergc')) },
      expected: ['Ready=False TargetMissed', 'Degraded=True TargetMissed'],
    },
    {
      name: 'a pass could not decide',
      over: { passes: passes(pass('imagegc'), pass('containergc', { result: 'Unknown' })) },
      expected: ['Ready=False Undecided', 'Degraded=True Undecided'],
    },
    {
      name: 'the runtime is away',
      over: { troubles: [{ reason: 'RuntimeUnavailable', message: 'connect ENOENT' }] as const },
      expected: ['Ready=False RuntimeUnavailable', 'Degraded=True RuntimeUnavailable'],
    },
    {
      name: 'the disk has no capacity',
      over: { imageDisk: disk(0, { capacityBytes: 0, availableBytes: 0 }) },
      expected: ['Ready=False InvalidDiskCapacity', 'Degraded=True InvalidDiskCapacity'],
    },
    {
      name: 'no policy',
      over: { governance: kept('NoPolicy'), passes: [] },
      expected: ['Ready=True NoPolicy', 'Degraded=False NoPolicy'],
    },
    {
      name: 'kept by its label',
      over: { governance: kept('KeepMarked') },
      expected: ['Ready=True KeepMarked', 'Degraded=False KeepMarked'],
    },
    {
      name: 'a watch does not work',
      over: { governance: kept('NodeUnknown') },
      expected: ['Ready=False NodeUnknown', 'Degraded=True NodeUnknown'],
    },
    {
      name: 'a policy that cannot be followed',
      over: { governance: { kind: 'keep', reason: 'InvalidPolicy', policy: broken } as const },
      expected: ['Ready=False InvalidPolicy', 'Degraded=True InvalidPolicy'],
    },
  ])('$name', ({ over, expected }) => {
    const status = planReport(facts(over), undefined, now);
    expect(conditions(status).filter((line) => !line.startsWith('Keep'))).toEqual(expected);
    expectStorable(status);
  });
});

test('lastTransitionTime moves only with the status of a condition', () => {
  const first = planReport(facts(), undefined, now);
  const failed = { passes: passes(pass('imagegc', { result: 'Failed' }), pass('containergc')) };
  const second = planReport(facts(failed), first, new Date(now.getTime() + 60_000));
  const moved = second.conditions?.filter((one) => one.lastTransitionTime === '2026-01-15T12:01:00Z') ?? [];
  expect(moved.map(({ type }) => type)).toEqual(['Ready', 'Degraded']);
});

test('says what is known and leaves out what is not', () => {
  const orphans = {
    podDirectories: { count: 2, bytes: 3 },
    logDirectories: undefined,
    podCgroups: undefined,
  };
  const full = planReport(facts({ orphans, snapshots: { count: 3 } }), undefined, now);
  expect(full).toMatchObject({
    reportTime: '2026-01-15T12:00:00Z',
    policy: { name: 'default', uid: 'uid-default', observedGeneration: 1, mode: 'Enforce' },
    imageFileSystem: { usedPercent: 50, capacityBytes: 100 * gib, inodes: 1000, availableInodes: 900 },
    images: { removable: { count: 2, bytes: 2 * gib } },
    containers: { total: 20, removable: 3 },
    orphans: { podDirectories: { count: 2, bytes: 3 }, snapshots: { count: 3 } },
  });
  expect(full.orphans).not.toHaveProperty('logDirectories');
  const alone = planReport(facts({ snapshots: { count: 0 } }), undefined, now);
  expect(alone.orphans).toEqual({ snapshots: { count: 0 } });
  expectStorable(full);
  const nothing = {
    ...{ runtime: undefined, images: undefined, containers: undefined, imageDisk: undefined },
    governance: kept('NoPolicy'),
    passes: [],
  };
  const empty = planReport(facts(nothing), undefined, now);
  expect(Object.keys(empty).sort()).toEqual([
    'agentVersion',
    'conditions',
    'largestOffenders',
    'reportTime',
    'units',
  ]);
  expectStorable(empty);
});

test('the ten largest of all units, in a fixed order', () => {
  const offender = (id: string, size: number): Offender => ({
    ...{ kind: 'Image', id, bytes: size },
    ...{ name: undefined, namespace: undefined, reason: undefined },
  });
  const some = Array.from({ length: 12 }, (_, i) => offender(`i${i}`, i < 2 ? 1 : 100 - i));
  const order = (list: readonly Offender[]): unknown =>
    planReport(facts({ images: images({ offenders: list }) }), undefined, now).largestOffenders?.map(
      ({ id }) => id,
    );
  expect(order(some)).toEqual(['i2', 'i3', 'i4', 'i5', 'i6', 'i7', 'i8', 'i9', 'i10', 'i11']);
  const equal = [offender('b', 1), offender('a', 1)];
  expect(order(equal)).toEqual(order(equal.toReversed()));
});

test('stays within the bounds of the schema whatever the node holds', () => {
  const long = '😀\n'.repeat(40_000);
  const huge = { count: 1e12, bytes: 1e300 };
  const offender = {
    kind: 'Image',
    id: long,
    name: long,
    namespace: long,
    bytes: 1e300,
    reason: long,
  } as const;
  const status = planReport(
    facts({
      agentVersion: long,
      runtime: { name: long, version: long, apiVersion: long },
      governance: { kind: 'governed', policy: policy({ generation: 7 }), nodes: nodesOf(governed()) },
      passes: passes(
        pass('imagegc', {
          result: 'Failed',
          message: long,
          removed: 1e12,
          freedBytes: -5,
          errors: Number.NaN,
        }),
      ),
      images: images({ total: huge, removable: huge, offenders: Array.from({ length: 50 }, () => offender) }),
      orphans: { podDirectories: huge, logDirectories: huge, podCgroups: huge },
      snapshots: huge,
      imageDisk: disk(50, { mountpoint: long, usedPercent: 400, inodes: 1e300 }),
      troubles: [{ reason: 'RuntimeUnavailable', message: long }],
    }),
    undefined,
    now,
  );
  expectStorable(status);
  expect(Buffer.byteLength(JSON.stringify(status))).toBeLessThan(100_000);
  expect(status.units?.[0]?.message).toMatch(/^😀 😀.*…$/u);
  expect(status.units?.[0]).toMatchObject({ freedBytes: 0, errors: 0 });
});

const nodesOf = (
  governance: NodeGovernance,
): Extract<NodeGovernance, { readonly kind: 'governed' }>['nodes'] => {
  if (governance.kind !== 'governed') throw new Error('not governed');
  return governance.nodes;
};
