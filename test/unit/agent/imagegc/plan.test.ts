import { describe, expect, test } from 'vitest';
import { planImageGc } from '../../../../src/agent/imagegc/plan.ts';
import type { ImageGcPolicy } from '../../../../src/api/policy/policy.ts';
import type { RuntimeImage } from '../../../../src/cri/runtime.ts';
import { now } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { facts, nodePod, planOf, usedMinutesAgo, verdicts } from './builders.ts';

interface Row {
  readonly name: string;
  readonly image?: Partial<RuntimeImage>;
  readonly over?: Parameters<typeof facts>[1];
  readonly rule?: Partial<ImageGcPolicy>;
  /** undefined = the image is removed. */
  readonly reason?: string;
}

const dead = { state: 'Exited' } as const;
const detected = (ms: number) => ({
  records: { a: { firstDetectedMs: now.getTime() - ms, lastUsedMs: undefined } },
});
const pods = (...args: Parameters<typeof nodePod>) => ({ pods: [nodePod(...args)] });
const disk = (capacityBytes: number, availableBytes: number) => ({ disk: { capacityBytes, availableBytes } });

/** An image as Docker lists one that another has replaced, and a container of an image that is not listed by name. */
const unnamed = { tags: [], digests: [] };
const unlisted = { imageId: '', imageRef: `web@sha256:${'c'.repeat(64)}` };

const minute = 60_000;

describe('an image', () => {
  test.each<Row>([
    { name: 'is unused' },
    { name: 'is used by a running container', over: { containers: [container('a')] }, reason: 'InUse' },
    { name: 'is used by a dead container', over: { containers: [container('a', dead)] }, reason: 'InUse' },
    { name: 'is mounted by a container', over: { mounted: ['sha256:a'] }, reason: 'InUse' },
    {
      name: 'has no name, and a container reports a digest that is not listed',
      image: unnamed,
      ...{ over: { containers: [container('c', unlisted)] }, reason: 'InUse' },
    },
    {
      name: 'has no name, and a container reports a tag, which may have moved to another image',
      image: unnamed,
      over: { containers: [container('c', { imageId: '', imageRef: 'web:1' })] },
      reason: 'InUse',
    },
    {
      name: 'has no name, and a container has mounted an image of a digest that is not listed',
      image: unnamed,
      ...{ over: { mounted: [unlisted.imageRef] }, reason: 'InUse' },
    },
    {
      name: 'has no name, and each container reports an id',
      image: unnamed,
      over: { containers: [container('b'), container('c', { ...unlisted, imageId: 'sha256:c' })] },
    },
    {
      name: 'has another digest than the one that a container reports',
      image: { tags: [], digests: ['web@sha256:other'] },
      over: { containers: [container('c', unlisted)] },
    },
    { name: 'is in the spec of a pending pod', over: pods('p', ['a']), reason: 'BoundPod' },
    {
      name: 'is in the spec of a pod of unknown phase',
      over: pods('p', ['a'], { phase: '' }),
      reason: 'BoundPod',
    },
    {
      name: 'is in the spec of a terminating pod',
      over: pods('p', ['a'], { phase: 'Running', deletionAtMs: 1 }),
      reason: 'BoundPod',
    },
    {
      name: 'may be in the spec of a pod with more images than dustpan reads',
      over: pods('p', [], { images: undefined }),
      reason: 'BoundPod',
    },
    {
      name: 'may be in the spec of such a pod that has finished',
      over: pods('p', [], { images: undefined, phase: 'Succeeded' }),
    },
    { name: 'is in the spec of a succeeded pod', over: pods('p', ['a'], { phase: 'Succeeded' }) },
    { name: 'is in the spec of a failed pod', over: pods('p', ['a'], { phase: 'Failed' }) },
    { name: 'has another tag than the pod needs', over: pods('p', ['a:v2']) },
    { name: 'is pinned', image: { pinned: true }, reason: 'Pinned' },
    { name: 'is on the keep list', rule: { keep: ['x', '*/a:*'] }, reason: 'KeepListed' },
    { name: 'has a name like one on the keep list', rule: { keep: ['a-b:*'] } },
    { name: 'is unused, but the pods are unknown', over: { pods: undefined }, reason: 'PodsUnknown' },
    {
      name: 'is unused, but the containers are unknown',
      over: { containers: undefined },
      reason: 'ContainersUnknown',
    },
    {
      name: 'is unused, but the image of a container is unknown',
      over: { containers: [container('x', { imageId: '', imageRef: '' })] },
      reason: 'ContainersUnknown',
    },
    { name: 'is unused, but the clock has jumped', over: { clockUnsure: true }, reason: 'ClockUnsure' },
    { name: 'is unused, but the disk is unknown', over: { disk: undefined }, reason: 'DiskUnknown' },
    { name: 'is unused, but the disk has no capacity', over: disk(0, 0), reason: 'DiskUnknown' },
    { name: 'is unused, but the disk is not a number', over: disk(NaN, Infinity), reason: 'DiskUnknown' },
    {
      name: 'is unused, and usage is below the threshold',
      over: disk(10_000, 1600),
      reason: 'BelowThreshold',
    },
    {
      name: 'is unused, and the space step is off',
      rule: { highThresholdPercent: 100 },
      reason: 'BelowThreshold',
    },
    { name: 'has exactly the minimum age', over: detected(2 * minute) },
    { name: 'is a millisecond younger', over: detected(2 * minute - 1), reason: 'TooYoung' },
    {
      name: 'was detected in the future, which counts as now',
      over: detected(-60 * minute),
      reason: 'TooYoung',
    },
    {
      name: 'was used in the future, which counts as now',
      over: { records: { a: usedMinutesAgo(-60) } },
      reason: 'UsedRecently',
    },
    { name: 'was used at this moment', over: { records: { a: usedMinutesAgo(0) } }, reason: 'UsedRecently' },
    { name: 'was used just before', over: { records: { a: usedMinutesAgo(0.001) } } },
  ])('$name: $reason', ({ image: over, over: more, rule, reason }) => {
    const given = facts([image('a', over), image('b', { pinned: true })], more);
    const { removed, kept } = verdicts(planOf(given, rule));
    expect(kept['a']).toBe(reason);
    expect(removed.includes('a Space')).toBe(reason === undefined);
  });

  test('without a record is new and kept', () => {
    const made = planOf({ ...facts([image('a')]), images: new Map() });
    expect(made.kept).toMatchObject([
      { reason: 'TooYoung', eligibleAt: new Date(now.getTime() + 2 * minute) },
    ]);
  });

  test('with two entries is kept by a pin on one of them, or a name of one of them', () => {
    const pinned = [
      image('a', { pinned: true }),
      image('a', { tags: ['docker.io/library/y:1'] }),
      image('b'),
    ];
    expect(verdicts(planOf(facts(pinned)))).toEqual({ removed: ['b Space'], kept: { a: 'Pinned' } });
    expect(verdicts(planOf(facts([...pinned].reverse()))).kept).toEqual({ a: 'Pinned' });
    const named = [image('a'), image('a', { tags: ['docker.io/library/y:1'] })];
    expect(verdicts(planOf(facts(named, { pods: [nodePod('p', ['y:1'])] }))).kept).toEqual({ a: 'BoundPod' });
  });

  test('has the first of several reasons, and the evidence of each', () => {
    const given = facts([image('a', { pinned: true })], {
      containers: [container('a')],
      pods: [nodePod('p', ['a'])],
    });
    const [kept] = planOf(given, { keep: ['*'] }).kept;
    expect(kept?.reason).toBe('InUse');
    expect(kept?.target.holds).toEqual({
      usedBy: 'a',
      boundPod: { pod: 'default/p', image: 'a' },
      pinned: true,
      keepPattern: '*',
    });
  });

  test('in use has this reason even if the pods are unknown', () => {
    const made = planOf(facts([image('a'), image('b')], { containers: [container('a')], pods: undefined }));
    expect(verdicts(made)).toEqual({ removed: [], kept: { a: 'InUse', b: 'PodsUnknown' } });
    expect(made).toMatchObject({ state: 'Unknown', usedPercent: 90, wantedBytes: 1000, plannedBytes: 0 });
  });

  test('without a policy is kept, and its users are known', () => {
    const made = planImageGc(facts([image('a'), image('b')], { containers: [container('a')] }), {
      governance: { kind: 'keep', reason: 'NoPolicy', policy: undefined },
      now,
    });
    expect(verdicts(made)).toEqual({ removed: [], kept: { a: 'NoPolicy', b: 'NoPolicy' } });
    expect(made.kept.map(({ target }) => target.holds.usedBy)).toEqual(['a', undefined]);
  });
});
