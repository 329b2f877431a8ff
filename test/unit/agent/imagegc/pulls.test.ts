import { describe, expect, test } from 'vitest';
import {
  fitPulls,
  observeAttempts,
  observePullBytes,
  pendingPulls,
  reportedPull,
} from '../../../../src/agent/imagegc/pulls.ts';
import type { PendingPull } from '../../../../src/agent/imagegc/facts.ts';
import { imageSpace } from '../../../../src/agent/imagegc/space.ts';
import type { StoredPull } from '../../../../src/api/image-space.ts';
import type { NodePod } from '../../../../src/api/node-pod.ts';
import type { ImageGcPolicy } from '../../../../src/api/policy/policy.ts';
import type { NamespaceStore } from '../../../../src/containerd/store.ts';
import { image } from '../../../fakes/runtime.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { blob, block, layer, lease, name, nothing } from '../stored.ts';
import { facts, nodePod, planOf, usedMinutesAgo, verdicts } from './builders.ts';

const gc = 'containerd.io/gc.ref';
const source = { 'containerd.io/distribution.source.registry.test': 'team/big' };

/** A pull of `big`: 10 + 20 + 5 blocks, of which `l1` is on the disk and unpacked to 30 blocks, and of `l2` a half. `base` is of the image `a`, too. */
const pulling: NamespaceStore = {
  ...nothing,
  images: [name('a', 'ma')],
  blobs: [
    blob('ma', 1, { [`${gc}.content.l.0`]: 'base', [`${gc}.snapshot.overlayfs`]: 'base' }),
    blob('base', 100),
    {
      ...blob('mb', 1, { ...source, [`${gc}.content.config`]: 'cb' }),
      layers: [
        { digest: 'base', sizeBytes: 100 * block },
        { digest: 'l1', sizeBytes: 10 * block },
        { digest: 'l2', sizeBytes: 20 * block },
        { digest: 'l3', sizeBytes: 5 * block },
        { digest: 'l2', sizeBytes: 20 * block },
      ],
    },
    { ...blob('l1', 10), sizeBytes: 10 * block },
    blob('index', 1, { [`${gc}.content.m.0`]: 'mb' }),
  ],
  snapshots: [layer('base', 300), layer('s1', 30, 'base')],
  leases: [
    {
      ...lease('pull', 'content', 'mb'),
      resources: [
        { type: 'content', id: 'mb' },
        { type: 'snapshots/overlayfs', id: 'base' },
        { type: 'snapshots/overlayfs', id: 's1' },
        { type: 'snapshots/overlayfs', id: 'extract-1' },
      ],
    },
    lease('other', 'snapshots/overlayfs', 'base'),
  ],
  ingests: [
    {
      ref: 'layer-l2',
      startedAtSeconds: 1,
      updatedAtSeconds: 1,
      receivedBytes: 10 * block,
      totalBytes: 0,
      expectedDigest: '',
    },
  ],
};
const listed = [{ ...image('a'), id: 'a', tags: ['a'], digests: [], sizeBytes: 100 * block }];
const spaceOf = (store: NamespaceStore) => imageSpace(new Map([['k8s.io', store]]), listed, now);

describe('a pull that containerd has begun', () => {
  test('is its manifest without an image; layers of images do not count, and each layer counts once', () => {
    expect(spaceOf(pulling).pulls).toEqual([
      {
        repositories: ['registry.test/team/big'],
        digests: ['mb', 'index'],
        totalBytes: 35 * block,
        receivedBytes: 20 * block,
        unpackedBytes: 30 * block,
        isReceiving: false,
        leaseIds: ['pull'],
      },
    ]);
  });

  test.each([
    [60, true],
    [61, false],
  ])('that has received something %d s ago: %s', (seconds, isReceiving) => {
    const updatedAtSeconds = now.getTime() / 1000 - seconds;
    const ingests = pulling.ingests.map((ingest) => ({ ...ingest, updatedAtSeconds }));
    expect(spaceOf({ ...pulling, ingests }).pulls).toMatchObject([{ isReceiving }]);
  });

  test('has ended when an image has its manifest', () => {
    expect(spaceOf({ ...pulling, images: [name('a', 'ma'), name('b', 'mb')] }).pulls).toEqual([]);
    expect(spaceOf({ ...pulling, blobs: pulling.blobs.slice(0, 2) }).pulls).toEqual([]);
    expect(imageSpace(new Map(), listed, now).pulls).toEqual([]);
  });
});

const big: StoredPull = {
  repositories: ['registry.test/team/big'],
  digests: ['sha256:aa'],
  totalBytes: 1000,
  receivedBytes: 400,
  unpackedBytes: 300,
  isReceiving: true,
};
/** Its pull was interrupted, or waits. */
const quiet: StoredPull = { ...big, digests: ['sha256:old'], isReceiving: false };
const reference = 'registry.test/team/big:1';
const waits = (pod: string, over: Partial<NodePod> = {}, of = reference): NodePod =>
  nodePod(pod, [of], { awaited: [{ image: of, reason: 'ContainerCreating' }], ...over });
/** The layers of the only image of the node are three times as large unpacked. */
const shown = { unique: 3000, shared: 1000, packed: 1000, inexactBecause: undefined };
const observed = (pods: readonly NodePod[] | undefined, pulls: readonly StoredPull[] = [big], over = {}) => ({
  ...facts([image('a', { sizeBytes: 1000 })]),
  pods,
  space: {
    ...{
      shares: [],
      images: new Map([['sha256:a', shown]]),
      ownPins: new Map(),
      sandboxImages: new Set<string>(),
    },
    pulls,
  },
  ...over,
});

describe('an image that a pod waits for', () => {
  const known = { totalBytes: 1000, receivedBytes: 400, neededBytes: 600 + 2700 };
  const unknown = { totalBytes: undefined, receivedBytes: undefined, neededBytes: undefined };
  const digest = 'registry.test/team/big@sha256:aa';

  test.each<readonly [string, Parameters<typeof observed>, readonly object[]]>([
    [
      'its pull is in progress',
      [[waits('web')]],
      [{ pods: ['default/web'], reason: 'ContainerCreating', ...known }],
    ],
    [
      'several pods wait: it counts once, with the reason of the first',
      [[waits('web'), waits('db', { awaited: [{ image: reference, reason: '' }] })]],
      [{ pods: ['default/web', 'default/db'], reason: 'ContainerCreating', ...known }],
    ],
    [
      'by its digest',
      [[waits('web', {}, digest)], [{ ...big, repositories: [] }]],
      [{ image: digest, ...known }],
    ],
    [
      'from a registry with a port, which the labels of containerd do not have',
      [[waits('web', {}, 'registry.test:5000/team/big:1')]],
      [{ image: 'registry.test:5000/team/big:1', ...known }],
    ],
    ['by a text that is no reference', [[waits('web', {}, 'Not a reference')]], [unknown]],
    ['by another digest', [[waits('web', {}, 'registry.test/team/big@sha256:bb')]], [unknown]],
    ['no pull has begun, or the registry does not answer', [[waits('web')], []], [unknown]],
    [
      'pulls of another repository',
      [[waits('web')], [{ ...big, repositories: ['registry.test/big'] }]],
      [unknown],
    ],
    ['two pulls of its repository: which is its is not known', [[waits('web')], [big, big]], [unknown]],
    [
      'two tags of one repository: of which the pull is is not known',
      [[waits('web'), waits('db', {}, 'registry.test/team/big:2')]],
      [unknown, unknown],
    ],
    [
      'the pull of a digest of its repository is not its own',
      [[waits('web', {}, digest), waits('db')]],
      [unknown, { image: digest, ...known }],
    ],
    [
      'the pull of a digest of another repository is not its own',
      [[waits('web', {}, 'registry.test/other@sha256:aa'), waits('db')]],
      [unknown, known],
    ],
    [
      'one that receives nothing may be an interrupted pull of another tag',
      [[waits('web')], [quiet]],
      [unknown],
    ],
    [
      'one that receives nothing, after its size was known',
      [[waits('web')], [quiet], { pullBytes: new Map([[reference, 4000]]) }],
      [known],
    ],
    [
      'beside an interrupted pull',
      [[waits('web')], [quiet, big], { pullBytes: new Map([[reference, 4000]]) }],
      [known],
    ],
    [
      'a pull with more received and unpacked than expected needs nothing more',
      [[waits('web')], [{ ...big, receivedBytes: 1001, unpackedBytes: 3001 }]],
      [{ neededBytes: 0 }],
    ],
    [
      'between two attempts its size is remembered',
      [[waits('web')], [], { pullBytes: new Map([[reference, 4000]]) }],
      [{ ...unknown, neededBytes: 4000 }],
    ],
    [
      'no image of the node shows the ratio',
      [[waits('web')], [big], { listed: [] }],
      [{ ...known, neededBytes: undefined }],
    ],
    [
      'no image of the node is unpacked',
      [
        [waits('web')],
        [big],
        {
          listed: [image('a', { sizeBytes: 1000 }), image('b', { sizeBytes: 0 })],
          space: {
            ...observed([]).space,
            images: new Map([
              ['sha256:a', { ...shown, packed: 4000 }],
              ['sha256:b', shown],
            ]),
          },
        },
      ],
      [{ ...known, neededBytes: undefined }],
    ],
    ['the node has it', [[waits('web', {}, 'docker.io/library/a:latest')]], []],
    ['the pod is being deleted', [[waits('web', { deletionAtMs: minutesAgo(1) })]], []],
    ['the pod has finished', [[waits('web', { phase: 'Succeeded' })]], []],
    ['the pod does not wait', [[nodePod('web', [reference])]], []],
    ['the pods are not known', [undefined], []],
  ])('%s', (_, given, expected) => {
    expect(pendingPulls(observed(...given))).toMatchObject(expected);
    expect(pendingPulls(observed(...given))).toHaveLength(expected.length);
  });

  test('without what containerd keeps its size is not known', () => {
    expect(pendingPulls(observed([waits('web')], [], { space: undefined }))).toMatchObject([unknown]);
  });

  test('the size of the whole is remembered as long as a pod waits', () => {
    const pullBytes = new Map([
      [reference, 1],
      ['other', 2],
    ]);
    expect([...observePullBytes(observed([waits('web')], [big], { pullBytes }))]).toEqual([
      [reference, 4000],
    ]);
    expect([...observePullBytes(observed([waits('web')], [], { pullBytes }))]).toEqual([[reference, 1]]);
    expect([...observePullBytes(observed([waits('web')], [big], { listed: [] }))]).toEqual([]);
    expect([...observePullBytes(observed([], [big], { pullBytes }))]).toEqual([]);
    expect([...observePullBytes(observed([waits('web')], [quiet]))]).toEqual([]);
    expect(observePullBytes(observed(undefined, [], { pullBytes }))).toBe(pullBytes);
  });

  describe('its attempts are counted by their leases', () => {
    const first = { ...big, leaseIds: ['1'] };
    const second = { ...big, leaseIds: ['2'] };
    const both = { ...big, leaseIds: ['1', '2'] };
    const other = nodePod('web', []);
    const noSpace = { space: undefined };
    const remembered = { pullBytes: new Map([[reference, 4000]]) };
    type Pass = Parameters<typeof observed>;
    const seen = (pulls: readonly StoredPull[]): Pass => [[waits('web')], pulls];
    test.each<readonly [string, readonly Pass[], number | undefined]>([
      ['none is known yet', [seen([])], undefined],
      ['one in several passes', [seen([first]), seen([first]), seen([first])], 1],
      ['two with a time between them', [seen([first]), seen([]), seen([second])], 2],
      ['the lease of the first is still there', [seen([first]), seen([both]), seen([second])], 2],
      [
        'what containerd keeps is not known meanwhile',
        [seen([first]), [[waits('web')], [], noSpace], seen([first])],
        1,
      ],
      ['the pods are not known meanwhile', [seen([first]), [undefined, []], seen([second])], 2],
      [
        'one that receives nothing may be of another tag',
        [seen([first]), [[waits('web')], [{ ...quiet, leaseIds: ['0'] }], remembered], seen([first])],
        1,
      ],
      ['nothing waits for it meanwhile', [seen([first]), [[other], []], seen([second])], 1],
      ['leases are not recorded', [seen([big])], undefined],
    ])('%s', (_, passes, expected) => {
      const attempts = passes.reduce<ReturnType<typeof observeAttempts>>(
        (before, pass) => observeAttempts({ ...observed(...pass), attempts: before }),
        new Map(),
      );
      const [pull] = pendingPulls({ ...observed(...seen([first])), attempts });
      expect(pull?.attempts).toBe(expected);
    });
  });
});

test('the report has why a container waits, if the kubelet has said it', () => {
  const reported = pendingPulls(
    observed([waits('web', { awaited: [{ image: reference, reason: '' }] })]),
  ).map((pull) => reportedPull({ ...pull, fit: 'Fits', availableBytes: 1 }));
  expect(reported).toMatchObject([{ pods: ['default/web'], podCount: 1, reason: undefined }]);
});

describe('whether pulls fit', () => {
  const pull = (image: string, neededBytes: number | undefined, receivedBytes?: number): PendingPull => ({
    ...{ image, pods: [], reason: '', totalBytes: undefined, receivedBytes, neededBytes },
    attempts: undefined,
  });
  test.each<
    readonly [string, readonly PendingPull[], Parameters<typeof fitPulls>[1], readonly string[], number]
  >([
    ['into what is free', [pull('a', 10)], { freeBytes: 10, freeableBytes: 0 }, ['a Fits 10'], 0],
    ['after removals', [pull('a', 11)], { freeBytes: 10, freeableBytes: 1 }, ['a Freeing 10'], 1],
    [
      'in no case: then nothing is removed',
      [pull('a', 12)],
      { freeBytes: 10, freeableBytes: 1 },
      ['a Short 10'],
      0,
    ],
    [
      'the sum counts',
      [pull('a', 6), pull('b', 6)],
      { freeBytes: 10, freeableBytes: 5 },
      ['a Fits 10', 'b Freeing 4'],
      2,
    ],
    [
      'one that is too large does not keep the others from their room',
      [pull('huge', 100), pull('b', 12), pull('c', 12)],
      { freeBytes: 10, freeableBytes: 20 },
      ['b Freeing 10', 'c Freeing 0', 'huge Short 0'],
      14,
    ],
    [
      'one in progress is first',
      [pull('a', 5), pull('b', 9, 1)],
      { freeBytes: 10, freeableBytes: 0 },
      ['b Fits 10', 'a Short 1'],
      0,
    ],
    [
      'of unknown size',
      [pull('a', undefined), pull('b', 2)],
      { freeBytes: 1, freeableBytes: 1 },
      ['b Freeing 1', 'a Unknown 0'],
      1,
    ],
    ['on a disk that is full', [pull('a', 2)], { freeBytes: -3, freeableBytes: 5 }, ['a Freeing 0'], 5],
    [
      'on an unknown disk',
      [pull('a', 2)],
      { freeBytes: undefined, freeableBytes: 5 },
      ['a Unknown undefined'],
      0,
    ],
    [
      'what removals free is not known',
      [pull('a', 2)],
      { freeBytes: 1, freeableBytes: 'unknown' },
      ['a Unknown 1'],
      0,
    ],
    [
      'unknown sizes last, by name',
      [pull('b', undefined), pull('c', 2), pull('d', 2), pull('a', undefined)],
      { freeBytes: 2, freeableBytes: 0 },
      ['c Fits 2', 'd Short 0', 'a Unknown 0', 'b Unknown 0'],
      0,
    ],
    [
      'equal sizes by name',
      [pull('b', 1), pull('a', 1)],
      { freeBytes: 2, freeableBytes: 0 },
      ['a Fits 2', 'b Fits 1'],
      0,
    ],
  ])('%s', (...[, pulls, room, expected, wanted]) => {
    const fitted = fitPulls(pulls, room);
    expect(
      fitted.pulls.map(({ image: of, fit, availableBytes }) => `${of} ${fit} ${availableBytes}`),
    ).toEqual(expected);
    expect(fitted.wantedBytes).toBe(wanted);
  });
});

describe('a plan with pulls', () => {
  /** 5000 of 10 000 bytes are free, 3500 of them below 85 %. In the order a, b, c. */
  const three = ['a', 'b', 'c'].map((id) => image(id, { sizeBytes: 500 }));
  const records = { a: usedMinutesAgo(30), b: usedMinutesAgo(20), c: usedMinutesAgo(10) };
  const given = (neededBytes: number, over: Parameters<typeof facts>[1] = {}) =>
    facts(three, {
      ...{ records, pods: [waits('web')], pullBytes: new Map([[reference, neededBytes]]) },
      disk: { capacityBytes: 10_000, availableBytes: 5000 },
      ...over,
    });
  const on: Partial<ImageGcPolicy> = { pullHeadroom: true };
  const below = { a: 'BelowThreshold', b: 'BelowThreshold', c: 'BelowThreshold' };

  test.each<
    readonly [string, ReturnType<typeof given>, Partial<ImageGcPolicy>, readonly string[], object, string]
  >([
    ['that fit', given(3500), on, [], below, 'Fits'],
    [
      'that fit after removals',
      given(4400),
      on,
      ['a PullHeadroom', 'b PullHeadroom'],
      { c: 'TargetMet' },
      'Freeing',
    ],
    ['that cannot fit', given(5001), on, [], below, 'Short'],
    ['for which the policy makes no room', given(4400), {}, [], below, 'Off'],
    [
      'below a lower threshold of the policy',
      given(3500),
      { ...on, highThresholdPercent: 81 },
      ['a PullHeadroom'],
      { b: 'TargetMet', c: 'TargetMet' },
      'Freeing',
    ],
    [
      'below a lower threshold of the kubelet',
      given(3500),
      { ...on, kubeletHighThresholdPercent: 84 },
      ['a PullHeadroom'],
      { b: 'TargetMet', c: 'TargetMet' },
      'Freeing',
    ],
    [
      'beside protected images',
      given(4400),
      { ...on, keep: ['*/a:*'] },
      ['b PullHeadroom', 'c PullHeadroom'],
      { a: 'KeepListed' },
      'Freeing',
    ],
    [
      'that protected images keep from fitting',
      given(4600),
      { ...on, keep: ['*/a:*'] },
      [],
      { a: 'KeepListed', b: 'BelowThreshold', c: 'BelowThreshold' },
      'Short',
    ],
    [
      'beside images that are too young',
      given(3600, { records: { ...records, a: { firstDetectedMs: now.getTime(), lastUsedMs: undefined } } }),
      on,
      ['b PullHeadroom'],
      { a: 'TooYoung', c: 'TargetMet' },
      'Freeing',
    ],
    [
      'after what goes by age',
      given(4000),
      { ...on, maximumAgeMs: 1_500_000 },
      ['a Age'],
      { b: 'BelowThreshold', c: 'BelowThreshold' },
      'Freeing',
    ],
    [
      'besides what goes by age',
      given(4400),
      { ...on, maximumAgeMs: 1_500_000 },
      ['a Age', 'b PullHeadroom'],
      { c: 'TargetMet' },
      'Freeing',
    ],
    [
      'with a limit of each pass',
      given(4400),
      { ...on, maxImagesPerPass: 1 },
      ['a PullHeadroom'],
      { b: 'PacingLimit', c: 'TargetMet' },
      'Freeing',
    ],
    ['whose size is not known', given(4400, { pullBytes: new Map() }), on, [], below, 'Unknown'],
    [
      'on an unknown disk',
      given(4400, { disk: undefined }),
      on,
      [],
      { a: 'DiskUnknown', b: 'DiskUnknown', c: 'DiskUnknown' },
      'Unknown',
    ],
    [
      'while containers are unknown',
      given(4400, { containers: undefined }),
      on,
      [],
      { a: 'ContainersUnknown', b: 'ContainersUnknown', c: 'ContainersUnknown' },
      'Unknown',
    ],
    [
      'on a disk that is too full',
      given(4400, { disk: { capacityBytes: 10_000, availableBytes: 1400 } }),
      on,
      ['a Space', 'b Space'],
      { c: 'TargetMet' },
      'Short',
    ],
  ])('%s', (...[, all, rule, removed, kept, fit]) => {
    const plan = planOf(all, rule);
    expect(verdicts(plan)).toEqual({ removed, kept });
    expect(plan.pulls.map((one) => one.fit)).toEqual([fit]);
  });
});
