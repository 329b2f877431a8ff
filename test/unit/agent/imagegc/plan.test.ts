import { describe, expect, test } from 'vitest';
import { planImageGc, recheckImage } from '../../../../src/agent/imagegc/plan.ts';
import type { ImageGcFacts, ImageGcPlan } from '../../../../src/agent/imagegc/facts.ts';
import type { ImageAgeRule, ImageGcPolicy } from '../../../../src/api/policy/policy.ts';
import type { RuntimeImage } from '../../../../src/cri/runtime.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { keptBy } from '../builders.ts';
import { facts, imageRule, nameOf, nodePod, planOf, usedMinutesAgo, verdicts } from './builders.ts';

const minute = 60_000;
const dead = { state: 'Exited' } as const;
const detected = (ms: number) => ({
  records: { a: { firstDetectedMs: now.getTime() - ms, lastUsedMs: undefined } },
});
const usedAgo = (minutes: number) => ({ records: { a: usedMinutesAgo(minutes) } });
const pods = (...args: Parameters<typeof nodePod>) => ({ pods: [nodePod(...args)] });
const containers = (...args: Parameters<typeof container>) => ({ containers: [container(...args)] });
const disk = (capacityBytes: number, availableBytes: number) => ({ disk: { capacityBytes, availableBytes } });

/** An image as Docker lists one that another has replaced, and a container of an image that is not listed by name. */
const unnamed = { tags: [], digests: [] };
const unlisted = { imageId: '', imageRef: `web@sha256:${'c'.repeat(64)}` };
const identified = { containers: [container('b'), container('c', { ...unlisted, imageId: 'sha256:c' })] };

const wanted = (name: string) => ({
  wanted: {
    images: [{ image: name, workload: 'CronJob batch/report', nodeSelector: {} }],
    elsewhere: [],
    unknownBecause: undefined,
  },
});
/** dustpan has pinned the image `a`. */
const ownPin = {
  space: {
    shares: [],
    images: new Map(),
    ownPins: new Map([['sha256:a', 'p']]),
    sandboxImages: new Set<string>(),
  },
};

/** The agent waits for its first list of wanted images. */
const awaited = { wanted: { images: [], elsewhere: [], unknownBecause: 'no list', awaitedForMs: 1 } };

/** Reasons of images that a pin or the policy protects. */
const protecting: readonly (string | undefined)[] = ['Pinned', 'KeepListed', 'Wanted', 'NotSelected'];

describe('an image', () => {
  test.each<
    [
      name: string,
      /** undefined = the image is removed. */
      reason: string | undefined,
      facts?: Parameters<typeof facts>[1],
      image?: Partial<RuntimeImage>,
      rule?: Partial<ImageGcPolicy>,
    ]
  >([
    ['is unused', undefined],
    ['is used by a running container', 'InUse', containers('a')],
    ['is used by a dead container', 'InUse', containers('a', dead)],
    ['is mounted by a container', 'InUse', { mounted: ['sha256:a'] }],
    ['is wanted, and the policy keeps such images', 'Wanted', wanted('a'), {}, { pinWanted: true }],
    ['is wanted, and the policy has no pinWanted', undefined, wanted('a')],
    ['is not wanted', undefined, wanted('b'), {}, { pinWanted: true }],
    ['is wanted and on the keep list', 'KeepListed', wanted('a'), {}, { pinWanted: true, keep: ['a'] }],
    ['is wanted and not selected', 'Wanted', wanted('a'), {}, { pinWanted: true, only: ['c'] }],
    ['is pinned by dustpan, and which are wanted is unknown', 'Wanted', ownPin, {}, { pinWanted: true }],
    [
      'is pinned by dustpan, and not wanted',
      undefined,
      { ...ownPin, ...wanted('b') },
      {},
      { pinWanted: true },
    ],
    [
      'is pinned by dustpan, and may be wanted beyond a list that is not complete',
      'Wanted',
      { ...ownPin, wanted: { images: [], elsewhere: [], unknownBecause: 'too many' } },
      {},
      { pinWanted: true },
    ],
    ['is not pinned, and which are wanted is unknown', undefined, {}, {}, { pinWanted: true }],
    ['may be wanted by a list that is awaited', 'WantedUnknown', awaited, {}, { pinWanted: true }],
    [
      'has no name, a container reports a digest that is not listed',
      'InUse',
      containers('c', unlisted),
      unnamed,
    ],
    [
      'has no name, a container reports a tag, which may have moved to another image',
      'InUse',
      containers('c', { imageId: '', imageRef: 'web:1' }),
      unnamed,
    ],
    [
      'has no name, a container has mounted an image of a digest that is not listed',
      'InUse',
      { mounted: [unlisted.imageRef] },
      unnamed,
    ],
    ['has no name, and each container reports an id', undefined, identified, unnamed],
    [
      'has another digest than the one that a container reports',
      undefined,
      containers('c', unlisted),
      { tags: [], digests: ['web@sha256:other'] },
    ],
    ['is in the spec of a pending pod', 'BoundPod', pods('p', ['a'])],
    ['is in the spec of a pod of unknown phase', 'BoundPod', pods('p', ['a'], { phase: '' })],
    [
      'is in the spec of a terminating pod',
      'BoundPod',
      pods('p', ['a'], { phase: 'Running', deletionAtMs: 1 }),
    ],
    ['may be in the spec of a pod with many images', 'BoundPod', pods('p', [], { images: undefined })],
    [
      'may be in the spec of such a pod that has finished',
      undefined,
      pods('p', [], { images: undefined, phase: 'Succeeded' }),
    ],
    ['is in the spec of a failed pod', undefined, pods('p', ['a'], { phase: 'Failed' })],
    ['is pinned', 'Pinned', {}, { pinned: true }],
    ['is on the keep list', 'KeepListed', {}, {}, { keep: ['x', '*/a:*'] }],
    ['has a name like one on the keep list', undefined, {}, {}, { keep: ['a-b:*'] }],
    ['has the name that the policy selects', undefined, {}, {}, { only: ['b', 'a'] }],
    ['has another name', 'NotSelected', {}, {}, { only: ['a-b:*'] }],
    [
      'has a selected name and another one',
      'NotSelected',
      {},
      { tags: ['ci/a:1', 'a:1'] },
      { only: ['ci/a'] },
    ],
    ['has no name, and the policy selects any', 'NotSelected', {}, unnamed, { only: ['*'] }],
    ['is unused, but the pods are unknown', 'PodsUnknown', { pods: undefined }],
    ['is unused, but the containers are unknown', 'ContainersUnknown', { containers: undefined }],
    [
      'is unused, but the image of a container is unknown',
      'ContainersUnknown',
      containers('x', { imageId: '', imageRef: '' }),
    ],
    ['is unused, but the clock has jumped', 'ClockUnsure', { clockUnsure: true }],
    ['is unused, but the disk is unknown', 'DiskUnknown', { disk: undefined }],
    ['is unused, but the disk is not a number', 'DiskUnknown', disk(NaN, Infinity)],
    ['is unused, and usage is below the threshold', 'BelowThreshold', disk(10_000, 1600)],
    ['is unused, and the space step is off', 'BelowThreshold', {}, {}, { highThresholdPercent: 100 }],
    ['has exactly the minimum age', undefined, detected(2 * minute)],
    ['is a millisecond younger', 'TooYoung', detected(2 * minute - 1)],
    ['was detected in the future, which counts as now', 'TooYoung', detected(-60 * minute)],
    ['was used in the future, which counts as now', 'UsedRecently', usedAgo(-60)],
    ['was used at this moment', 'UsedRecently', usedAgo(0)],
  ])('%s: %s', (_, reason, over, ...[ofImage, rule]) => {
    const given = facts([image('a', ofImage), image('b', { pinned: true })], over);
    const made = planOf(given, rule);
    const { removed, kept } = verdicts(made);
    expect(kept['a']).toBe(reason);
    expect(removed.includes('a Space')).toBe(reason === undefined);
    const a = [...made.removals, ...made.kept].find(({ target }) => nameOf(target) === 'a');
    expect(a?.target.protectedBy?.reason).toBe(protecting.includes(reason) ? reason : undefined);
  });

  test.each([
    ['is wanted', wanted('a')],
    ['may be wanted by a list that is awaited', awaited],
  ])('that %s is removed by an entry of remove: a person has written it', (_, over) => {
    const remove = [{ image: 'a', untilMs: now.getTime() + minute }];
    const [removal] = planOf(facts([image('a')], over), { pinWanted: true, remove }).removals;
    expect(removal?.reason).toBe('RemoveListed');
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
    const digested = [image('a'), image('a', { digests: [`y@sha256:${'d'.repeat(64)}`] })];
    expect(verdicts(planOf(facts(digested), { keep: ['y@*'] })).kept).toEqual({ a: 'KeepListed' });
    expect(verdicts(planOf(facts(named, { pods: [nodePod('p', ['y:1'])] }))).kept).toEqual({ a: 'BoundPod' });
  });

  test('has the first of several reasons, and the evidence of each', () => {
    const given = facts([image('a', { pinned: true })], {
      containers: [container('a')],
      pods: [nodePod('p', ['a'])],
    });
    const [kept] = planOf(given, { keep: ['*'] }).kept;
    expect(kept?.reason).toBe('InUse');
    expect(kept?.target).toMatchObject({
      usedBy: 'a',
      boundPod: { pod: 'default/p', image: 'a' },
      pinned: true,
      isCalledSandbox: false,
      keepPattern: '*',
      notSelected: undefined,
    });
    expect(kept?.target.protectedBy).toEqual({ reason: 'Pinned' });
  });

  test('without a policy is kept, and its users are known', () => {
    const made = planImageGc(facts([image('a'), image('b')], { containers: [container('a')] }), {
      governance: keptBy('NoPolicy'),
      now,
    });
    expect(verdicts(made)).toEqual({ removed: [], kept: { a: 'NoPolicy', b: 'NoPolicy' } });
    expect(made.kept.map(({ target }) => target.usedBy)).toEqual(['a', undefined]);
  });
});

describe('the space step', () => {
  test.each([
    [1000, 160, 85, 80, 84, 0],
    [1000, 150, 85, 84, 85, 10],
    [1000, 1001, 85, 80, 0, 0],
    [10, 1, 85, 84, 90, 0],
    [9_007_199_254_740_991, 1, 85, 80, 100, 1_801_439_850_948_197],
  ])(
    '%d bytes, %d free, thresholds %d and %d: %d percent used, %d wanted',
    (...[capacityBytes, availableBytes, high, low, usedPercent, wantedBytes]) => {
      const made = planOf(facts([], { disk: { capacityBytes, availableBytes } }), {
        highThresholdPercent: high,
        lowThresholdPercent: low,
      });
      expect(made).toMatchObject({ usedPercent, wantedBytes, state: usedPercent >= high ? 'Short' : 'Idle' });
    },
  );

  test('removes never used images first, then by last use, then by first detection, then by id', () => {
    const records = {
      e: usedMinutesAgo(10),
      d: usedMinutesAgo(20),
      c: { firstDetectedMs: minutesAgo(100), lastUsedMs: minutesAgo(20) },
      b: usedMinutesAgo(undefined),
      a: usedMinutesAgo(undefined),
    };
    const listed = ['e', 'd', 'c', 'b', 'a'].map((name) => image(name, { sizeBytes: 200 }));
    const made = planOf(facts(listed, { records }));
    expect(made.candidates.map(({ target: { id } }) => id.slice(7))).toEqual(['a', 'b', 'd', 'c', 'e']);
    expect(made.state).toBe('Free');
  });

  test('stops when enough is planned, and has the next ones as candidates', () => {
    const made = planOf(facts([image('a', { sizeBytes: 600 }), image('b', { sizeBytes: 400 }), image('c')]));
    expect(verdicts(made)).toEqual({ removed: ['a Space', 'b Space'], kept: { c: 'TargetMet' } });
    expect(made.candidates.map(({ target }) => nameOf(target))).toEqual(['a', 'b', 'c']);
    expect(made).toMatchObject({ state: 'Free', wantedBytes: 1000, plannedBytes: 1000 });
  });
});

describe('the age step', () => {
  const hour = { maximumAgeMs: 60 * minute };
  const idle = { disk: { capacityBytes: 10_000, availableBytes: 9000 } };

  test.each([
    ['used exactly the maximum age ago', usedMinutesAgo(60), 'BelowThreshold'],
    ['used a millisecond before that', { ...usedMinutesAgo(60), lastUsedMs: minutesAgo(60) - 1 }, 'Age'],
    ['never used and detected before that', usedMinutesAgo(undefined), 'Age'],
    ['detected long ago and used recently', usedMinutesAgo(5), 'BelowThreshold'],
  ])('%s: %s', (_name, record, expected) => {
    const made = planOf(facts([image('a')], { ...idle, records: { a: record } }), hour);
    expect([...made.removals, ...made.kept].map(({ reason }) => reason)).toEqual([expected]);
    expect(made).toMatchObject({ state: 'Idle', wantedBytes: 0, plannedBytes: 0 });
  });

  test('does not run while not all wanted images are known; the space step does', () => {
    const records = { a: { ...usedMinutesAgo(60), lastUsedMs: minutesAgo(60) - 1 } };
    const wanting = { ...hour, pinWanted: true };
    const [image1] = planOf(facts([image('a')], { ...idle, records }), wanting).kept;
    expect(image1).toMatchObject({ reason: 'BelowThreshold', eligibleAt: undefined });
    expect(verdicts(planOf(facts([image('a')], { records }), wanting)).removed).toEqual(['a Space']);
  });

  test('runs first, and the space step needs less by the bytes that it frees', () => {
    const records = { b: usedMinutesAgo(30), c: usedMinutesAgo(20) };
    const listed = [image('a', { sizeBytes: 300 }), image('b', { sizeBytes: 700 }), image('c')];
    const made = planOf(facts(listed, { records }), hour);
    expect(verdicts(made)).toEqual({ removed: ['a Age', 'b Space'], kept: { c: 'TargetMet' } });
    expect(made).toMatchObject({ state: 'Free', wantedBytes: 700, plannedBytes: 700 });
  });

  test('shares maxImagesPerPass with the space step', () => {
    const records = { c: usedMinutesAgo(30) };
    const given = facts(
      ['a', 'b', 'c'].map((name) => image(name, { sizeBytes: 10 })),
      { records },
    );
    expect(verdicts(planOf(given, { ...hour, maxImagesPerPass: 1 }))).toEqual({
      removed: ['a Age'],
      kept: { b: 'PacingLimit', c: 'PacingLimit' },
    });
    expect(verdicts(planOf(given, { ...hour, maxImagesPerPass: 2 })).removed).toEqual(['a Age', 'b Age']);
  });
});

describe('an image on the remove list, on a disk with enough space', () => {
  const entry = (pattern: string, untilMs = minutesAgo(-1)) => ({ image: pattern, untilMs });
  const idle = { disk: { capacityBytes: 10_000, availableBytes: 9000 } };
  const listing = { remove: [entry('b'), entry('a:*')] };

  test.each<
    [
      name: string,
      expected: string,
      facts?: Parameters<typeof facts>[1],
      image?: Partial<RuntimeImage>,
      rule?: Partial<ImageGcPolicy>,
    ]
  >([
    ['is removed', 'RemoveListed'],
    [
      'is removed, though only other images are selected',
      'RemoveListed',
      {},
      {},
      { ...listing, only: ['ci/*'] },
    ],
    ['is removed if the disk is unknown', 'RemoveListed', { disk: undefined }],
    ['is kept in use', 'InUse', containers('a', dead)],
    ['is kept before the minimum age', 'TooYoung', detected(0)],
    ['is kept for a pod that starts', 'BoundPod', pods('p', ['a'])],
    ['is kept if the pods are unknown', 'PodsUnknown', { pods: undefined }],
    ['is kept if pinned', 'Pinned', {}, { pinned: true }],
    ['is kept on the keep list', 'KeepListed', {}, {}, { ...listing, keep: ['a'] }],
    ['is kept if it was used at this moment', 'UsedRecently', usedAgo(0)],
    ['is kept if the clock has jumped', 'ClockUnsure', { clockUnsure: true }],
    ['is kept at the end of the entry', 'BelowThreshold', {}, {}, { remove: [entry('a', now.getTime())] }],
    ['is kept if it has another name', 'BelowThreshold', {}, { tags: ['a:1', 'c:1'] }],
    [
      'is not selected by one of two names',
      'NotSelected',
      {},
      { tags: ['a:1', 'c:1'] },
      { ...listing, only: ['d'] },
    ],
    [
      'waits after a failure',
      'RemovalFailed',
      { failedBefore: new Map([['sha256:a', { times: 1, retryInMs: 1 }]]) },
    ],
    ['waits for its turn', 'PacingLimit', {}, {}, { remove: [entry('a'), entry('z')], maxImagesPerPass: 1 }],
  ])('%s: %s', (_, expected, over, ...[ofImage, rule = listing]) => {
    const given = facts([image('0', { tags: ['z:1'] }), image('a', ofImage)], { ...idle, ...over });
    const made = planOf(given, rule);
    const a = [...made.removals, ...made.kept].find(({ target }) => nameOf(target) === 'a');
    expect(a?.reason).toBe(expected);
  });

  test('is removed before those that are too old, and the space step needs less', () => {
    const listed = [image('a', { sizeBytes: 300 }), image('b', { sizeBytes: 600 }), image('c')];
    const records = { a: usedMinutesAgo(30), b: usedMinutesAgo(90), c: usedMinutesAgo(20) };
    const made = planOf(facts(listed, { records }), { remove: [entry('a')], maximumAgeMs: 60 * minute });
    expect(verdicts(made).removed).toEqual(['a RemoveListed', 'b Age', 'c Space']);
    expect(made).toMatchObject({ wantedBytes: 100 });
  });

  test.each([
    ['as before', {}, 'a:1', undefined],
    ['now with another name', {}, 'c:1', 'NotSelected'],
    ['now in use', containers('a'), 'a:1', 'InUse'],
    ['now pinned', { listed: [image('a', { pinned: true })] }, 'a:1', 'Pinned'],
    ['now gone', { listed: [] }, 'a:1', 'Gone'],
  ])('right before its removal, %s: %s', (_, over, tag, expected) => {
    const rule = imageRule(listing);
    const [removal] = planOf(facts([image('a')], idle), listing).removals;
    const fresh = { ...facts([image('a', { tags: ['a:1', tag] })], idle), ...over };
    expect(removal && recheckImage(removal, fresh, { rule, now })).toBe(expected);
  });
});

describe('an image that was pulled again after its removal', () => {
  const given = (ageMinutes: number): ImageGcFacts =>
    facts([image('a')], {
      records: { a: { firstDetectedMs: minutesAgo(ageMinutes), lastUsedMs: undefined } },
      removed: [{ digest: 'sha256:a', atMs: minutesAgo(30) }],
    });

  test('has twice the minimum age', () => {
    expect(planOf(given(3)).kept).toMatchObject([
      { reason: 'TooYoung', eligibleAt: new Date(minutesAgo(-1)), target: { minimumAgeMs: 240_000 } },
    ]);
    expect(verdicts(planOf(given(4))).removed).toEqual(['a Space']);
  });
});

const idle = { capacityBytes: 10_000, availableBytes: 9000 };
const entry = (pattern: string, minutes: number | undefined): ImageAgeRule => ({
  image: pattern,
  maximumAgeMs: minutes === undefined ? undefined : minutes * minute,
});

const planned = (
  over: Partial<RuntimeImage>,
  maximumAgeByImage: readonly ImageAgeRule[],
  maximumAgeMs: number | undefined = 60 * minute,
): ImageGcPlan =>
  planOf(facts([image('x', over)], { disk: idle, records: { x: usedMinutesAgo(30) } }), {
    ...{ maximumAgeMs, maximumAgeByImage },
  });

const ci = { tags: ['registry.example.com/ci/app:1'] };

/** Promoted by a second tag. */
const promoted = { tags: [...ci.tags, 'registry.example.com/prod/app:1'] };
const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
const byDigest = { ...ci, digests: [`registry.example.com/ci/app@${digest}`] };

describe('an image that was used half an hour ago, with a general maximum age of an hour', () => {
  test.each<readonly [string, Partial<RuntimeImage>, readonly ImageAgeRule[], string]>([
    ['an entry with a shorter age', ci, [entry('registry.example.com/ci/*', 20)], 'Age'],
    ['an entry with exactly its age', ci, [entry('registry.example.com/ci/*', 30)], 'BelowThreshold'],
    ['an entry for other images', ci, [entry('registry.example.com/base/*', 20)], 'BelowThreshold'],
    [
      'the first of two entries wins',
      ci,
      [entry('*/ci/*', undefined), entry('registry.example.com/ci/*', 20)],
      'BelowThreshold',
    ],
    ['an entry that matches one of its names', promoted, [entry('*/ci/*', 20)], 'BelowThreshold'],
    ['entries that match all of its names', promoted, [entry('*/ci/*', 20), entry('*/prod/*', 25)], 'Age'],
    [
      'a longer age of one of its names',
      promoted,
      [entry('*/ci/*', 20), entry('*/prod/*', 40)],
      'BelowThreshold',
    ],
    ['an entry for its digest', byDigest, [entry(`*@${digest}`, 20)], 'Age'],
    ['an entry for any digest, with a tag', byDigest, [entry('*@*', 20)], 'BelowThreshold'],
    ['a repository in any registry', ci, [entry('*/app', 20)], 'Age'],
    ['any name, for an image without one', { tags: [] }, [entry('*', 20)], 'BelowThreshold'],
    ['the id, for an image without a name', { tags: [] }, [entry('sha256:x', 20)], 'Age'],
  ])('%s', (_name, over, entries, reason) => {
    const plan = planned(over, entries);
    expect([...plan.removals, ...plan.kept].map((one) => one.reason)).toEqual([reason]);
  });
});

test('an image is never removed by age under an entry of 0s', () => {
  const plan = planned(ci, [entry('*/ci/*', undefined)], 20 * minute);
  expect(verdicts(plan)).toEqual({ removed: [], kept: { x: 'BelowThreshold' } });
});

test('an entry of 0s for any name keeps an image without a name', () =>
  expect(verdicts(planned({ tags: [] }, [entry('*', undefined)], 20 * minute)).removed).toEqual([]));

test('an entry of 0s does not keep an image from the space step', () => {
  const given = facts([image('x', ci)], { records: { x: usedMinutesAgo(30) } });
  expect(verdicts(planOf(given, { maximumAgeByImage: [entry('*', undefined)] })).removed).toEqual([
    'x Space',
  ]);
});
