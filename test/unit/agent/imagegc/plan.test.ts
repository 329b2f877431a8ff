import { describe, expect, test } from 'vitest';
import type { ImageGcFacts, ImageGcPlan } from '../../../../src/agent/imagegc/facts.ts';
import { planImageGc } from '../../../../src/agent/imagegc/plan.ts';
import type { ImageGcPolicy } from '../../../../src/api/policy/policy.ts';
import type { RuntimeImage } from '../../../../src/cri/runtime.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { facts, governedBy, imageRule, nodePod, told, usedMinutesAgo } from './builders.ts';

const plan = (given: ImageGcFacts, policy: Partial<ImageGcPolicy> = {}): ImageGcPlan =>
  planImageGc(given, { governance: governedBy(imageRule(policy)), now });

const minute = 60_000;
describe('what stays', () => {
  test.each<{
    name: string;
    image?: Partial<RuntimeImage>;
    over?: Parameters<typeof facts>[1];
    policy?: Partial<ImageGcPolicy>;
    reason: string | undefined;
  }>([
    { name: 'an unused image goes', reason: undefined },
    { name: 'a running container uses it', over: { containers: [container('a')] }, reason: 'InUse' },
    { name: 'a dead one too', over: { containers: [container('a', { state: 'Exited' })] }, reason: 'InUse' },
    { name: 'a new one too', over: { containers: [container('a', { state: 'Created' })] }, reason: 'InUse' },
    { name: 'a container has it mounted', over: { mounted: ['sha256:a'] }, reason: 'InUse' },
    { name: 'another image is in use', over: { containers: [container('b')] }, reason: undefined },
    { name: 'a starting pod names it', over: { pods: [nodePod('p', ['a'])] }, reason: 'BoundPod' },
    {
      name: 'a running pod names it',
      over: { pods: [nodePod('p', ['a'], { phase: 'Running' })] },
      reason: 'BoundPod',
    },
    {
      name: 'a pod of unknown phase names it',
      over: { pods: [nodePod('p', ['a'], { phase: '' })] },
      reason: 'BoundPod',
    },
    {
      name: 'a pod that terminates names it',
      over: { pods: [nodePod('p', ['a'], { phase: 'Running', deletionAtMs: 1 })] },
      reason: 'BoundPod',
    },
    {
      name: 'a pod may name it, which names more than are read',
      over: { pods: [nodePod('p', [], { images: undefined })] },
      reason: 'BoundPod',
    },
    {
      name: 'such a pod has finished',
      over: { pods: [nodePod('p', [], { images: undefined, phase: 'Succeeded' })] },
      reason: undefined,
    },
    {
      name: 'a finished pod holds nothing',
      over: { pods: [nodePod('p', ['a'], { phase: 'Succeeded' })] },
      reason: undefined,
    },
    {
      name: 'nor a failed one',
      over: { pods: [nodePod('p', ['a'], { phase: 'Failed' })] },
      reason: undefined,
    },
    {
      name: 'but the container of a finished pod does',
      over: {
        pods: [nodePod('p', ['a'], { phase: 'Failed' })],
        containers: [container('a', { state: 'Exited' })],
      },
      reason: 'InUse',
    },
    { name: 'a pod names another tag', over: { pods: [nodePod('p', ['a:v2'])] }, reason: undefined },
    { name: 'it is pinned', image: { pinned: true }, reason: 'Pinned' },
    { name: 'it is on the keep list', policy: { keep: ['x', '*/a:*'] }, reason: 'KeepListed' },
    { name: 'its like is on the keep list', policy: { keep: ['a-b:*'] }, reason: undefined },
    {
      name: 'nothing is pinned at all, and it is what sandboxes are made of',
      image: { tags: ['registry.k8s.io/pause:3.10'] },
      reason: 'Pinned',
    },
    { name: 'it only sounds like that', image: { tags: ['example.com/pause-button:1'] }, reason: undefined },
    { name: 'the pods are not known', over: { pods: undefined }, reason: 'PodsUnknown' },
    { name: 'the containers are not known', over: { containers: undefined }, reason: 'ContainersUnknown' },
    {
      name: 'of one container nobody says what it is made from',
      over: { containers: [container('x', { imageId: '', imageRef: '' })] },
      reason: 'ContainersUnknown',
    },
    { name: 'the clock has jumped', over: { clockUnsure: true }, reason: 'ClockUnsure' },
    { name: 'the disk is not known', over: { disk: undefined }, reason: 'DiskUnknown' },
    {
      name: 'the disk has no capacity',
      over: { disk: { capacityBytes: 0, availableBytes: 0 } },
      reason: 'DiskUnknown',
    },
    {
      name: 'the disk is no number',
      over: { disk: { capacityBytes: NaN, availableBytes: Infinity } },
      reason: 'DiskUnknown',
    },
    {
      name: 'less than the threshold is used',
      over: { disk: { capacityBytes: 10_000, availableBytes: 1600 } },
      reason: 'BelowThreshold',
    },
    {
      name: 'more is free than there is',
      over: { disk: { capacityBytes: 10_000, availableBytes: 11_000 } },
      reason: 'BelowThreshold',
    },
    { name: 'the space step is off', policy: { highThresholdPercent: 100 }, reason: 'BelowThreshold' },
    {
      name: 'exactly the minimum age is old enough',
      over: { records: { a: { firstDetectedMs: minutesAgo(2), lastUsedMs: undefined } } },
      reason: undefined,
    },
    {
      name: 'a millisecond less is not',
      over: { records: { a: { firstDetectedMs: minutesAgo(2) + 1, lastUsedMs: undefined } } },
      reason: 'TooYoung',
    },
    {
      name: 'a detection in the future is now',
      over: { records: { a: { firstDetectedMs: minutesAgo(-60), lastUsedMs: undefined } } },
      reason: 'TooYoung',
    },
    {
      name: 'a use in the future is now',
      over: { records: { a: usedMinutesAgo(-60) } },
      reason: 'UsedRecently',
    },
    {
      name: 'a use at this very moment',
      over: { records: { a: usedMinutesAgo(0) } },
      reason: 'UsedRecently',
    },
    { name: 'a use just before', over: { records: { a: usedMinutesAgo(0.001) } }, reason: undefined },
  ])('$name: $reason', ({ image: over, over: more, policy, reason }) => {
    const others = [image('b', { pinned: over?.tags === undefined })];
    const { goes, stays } = told(plan(facts([image('a', over), ...others], more), policy));
    expect(stays['a']).toBe(reason);
    expect(goes.includes('a Space')).toBe(reason === undefined);
  });

  test('an image without a record is new: without a memory nothing goes', () => {
    const made = plan({ ...facts([image('a')]), images: new Map() });
    expect(made.kept).toMatchObject([
      { reason: 'TooYoung', eligibleAt: new Date(now.getTime() + 2 * minute) },
    ]);
  });

  test('a pin on either of two entries with one id protects, and so do the names of both', () => {
    const pinned = [
      image('a', { pinned: true }),
      image('a', { tags: ['docker.io/library/y:1'] }),
      image('b'),
    ];
    expect(told(plan(facts(pinned)))).toEqual({ goes: ['b Space'], stays: { a: 'Pinned' } });
    expect(told(plan(facts([...pinned].reverse()))).stays).toEqual({ a: 'Pinned' });
    const named = [image('a'), image('a', { tags: ['docker.io/library/y:1'] })];
    expect(told(plan(facts(named, { pods: [nodePod('p', ['y:1'])] }))).stays).toEqual({ a: 'BoundPod' });
  });

  test.each([
    { spec: 'nginx', bound: ['hub', 'quay'] },
    { spec: 'docker.io/nginx', bound: ['hub'] },
    { spec: 'quay.io/nginx', bound: ['quay'] },
  ])('a starting pod that names $spec protects $bound', ({ spec, bound }) => {
    const listed = [
      image('hub', { tags: ['docker.io/library/nginx:latest'] }),
      image('quay', { tags: ['quay.io/nginx:latest'] }),
    ];
    const { stays } = told(plan(facts(listed, { pods: [nodePod('p', [spec])] })));
    expect(Object.keys(stays).filter((id) => stays[id] === 'BoundPod')).toEqual(bound);
  });

  test('the first of several reasons is told, and what each rests on', () => {
    const given = facts([image('a', { pinned: true })], {
      containers: [container('a')],
      pods: [nodePod('p', ['a'])],
    });
    const [kept] = plan(given, { keep: ['*'] }).kept;
    expect(kept?.reason).toBe('InUse');
    expect(kept?.target.holds).toEqual({
      usedBy: 'a',
      boundPod: { pod: 'default/p', image: 'a' },
      pinned: true,
      keepPattern: '*',
    });
  });

  test('what is known to hold an image is told even where all else is unknown', () => {
    const made = plan(facts([image('a'), image('b')], { containers: [container('a')], pods: undefined }));
    expect(told(made)).toEqual({ goes: [], stays: { a: 'InUse', b: 'PodsUnknown' } });
    expect(made).toMatchObject({ state: 'Unknown', usedPercent: 90, wantedBytes: 1000, plannedBytes: 0 });
  });

  test('without a policy all stays, and what is in use is known all the same', () => {
    const made = planImageGc(facts([image('a'), image('b')], { containers: [container('a')] }), {
      governance: { kind: 'keep', reason: 'NoPolicy', policy: undefined },
      now,
    });
    expect(told(made)).toEqual({ goes: [], stays: { a: 'NoPolicy', b: 'NoPolicy' } });
    expect(made.kept.map(({ target }) => target.holds.usedBy)).toEqual(['a', undefined]);
  });
});

test('the example image-disk-full', () => {
  const gib = 1024 ** 3;
  const id = (char: string): string => char.repeat(64);
  const made = (char: string, tag: string, sizeGib: number): RuntimeImage =>
    image(id(char), { tags: [tag], sizeBytes: sizeGib * gib });
  const at = (text: string): number => Date.parse(text);
  const first = at('2026-01-07T04:00:00Z');
  const given: ImageGcFacts = {
    listed: [
      made('a', 'registry.example.com/app:v1', 3),
      made('b', 'registry.example.com/train:old', 5),
      made('c', 'registry.example.com:5000/base/cuda:12', 4),
      made('d', 'docker.io/library/nginx:1.27', 2),
      { ...made('e', 'registry.example.com/pause:3', 1), pinned: true },
      made('f', 'registry.example.com/fresh:v9', 6),
      made('1', 'registry.example.com/starting:v2', 2),
    ],
    containers: [container(id('a'), { pod: 'app' })],
    pods: [
      nodePod('app', ['registry.example.com/app:v1'], { phase: 'Running' }),
      nodePod('slow-start', ['registry.example.com/starting:v2']),
    ],
    disk: { capacityBytes: 100 * gib, availableBytes: 10 * gib },
    images: new Map(
      [
        ...['a', 'c', 'e', '1'].map((char) => [char, first, undefined] as const),
        ['b', first, at('2026-01-11T18:00:00Z')] as const,
        ['d', first, at('2026-01-15T10:00:00Z')] as const,
        ['f', at('2026-01-15T11:59:00Z'), undefined] as const,
      ].map(([char, firstDetectedMs, lastUsedMs]) => [`sha256:${id(char)}`, { firstDetectedMs, lastUsedMs }]),
    ),
    removed: [],
  };
  const result = plan(given, { keep: ['registry.example.com:5000/base/*'] });
  expect(told(result)).toEqual({
    goes: [`${id('b')} Space`, `${id('d')} Space`],
    stays: {
      [id('a')]: 'InUse',
      [id('c')]: 'KeepListed',
      [id('e')]: 'Pinned',
      [id('1')]: 'BoundPod',
      [id('f')]: 'TooYoung',
    },
  });
  expect(result.kept.find(({ reason }) => reason === 'TooYoung')?.eligibleAt).toEqual(
    new Date('2026-01-15T12:01:00Z'),
  );
  expect(result).toMatchObject({
    state: 'Short',
    wantedBytes: 10737418240,
    plannedBytes: 7516192768,
    usedPercent: 90,
  });
});
