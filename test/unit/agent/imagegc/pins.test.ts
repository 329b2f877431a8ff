import { describe, expect, test } from 'vitest';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type { ImageGcPolicy } from '../../../../src/api/policy/policy.ts';
import { pinnedAfter, planPins, type PinPlan, type StoredNames } from '../../../../src/agent/imagegc/pins.ts';
import { unpinAll } from '../../../../src/agent/imagegc/act.ts';
import { planImageGc } from '../../../../src/agent/imagegc/plan.ts';
import { ownPins, sandboxImages } from '../../../../src/agent/imagegc/pin-labels.ts';
import type { ImageName, Labels } from '../../../../src/containerd/store.ts';
import type { RuntimeImage } from '../../../../src/cri/runtime.ts';
import { now } from '../../../builders.ts';
import { image } from '../../../fakes/runtime.ts';
import { keptBy } from '../builders.ts';
import { facts, governedBy, imageRule } from './builders.ts';
import { FakeStore, governed, Node } from './environment.ts';

const managed = { 'io.cri-containerd.image': 'managed' };
const foreign = { ...managed, 'io.cri-containerd.pinned': 'pinned' };
const ours = { ...foreign, 'gc.dustpan.dev/pinned': 'p' };
const k3s = { ...ours, 'io.cattle.k3s.pinned': 'pinned' };

/** Image `web`: its id, a tag and a digest. */
const idOf = (name: string): string => `sha256:${name}`;
const tagOf = (name: string): string => `docker.io/library/${name}:latest`;
const digestOf = (name: string): string => `docker.io/library/${name}@sha256:${name}-manifest`;
const namedImage = (name: string, over: Partial<RuntimeImage> = {}): RuntimeImage =>
  image(name, { digests: [digestOf(name)], ...over });
/** The three names of an image in containerd. */
const stored = (name: string, labels: Labels = managed): ImageName[] =>
  [idOf, tagOf, digestOf].map((of) => ({ name: of(name), target: `sha256:${name}-manifest`, labels }));

interface Case {
  readonly images?: readonly RuntimeImage[];
  readonly names?: StoredNames;
  readonly rule?: Partial<ImageGcPolicy>;
  readonly governance?: NodeGovernance;
  readonly capacityBytes?: number | undefined;
  readonly sandboxImage?: string;
  /** The ids of the images from which sandboxes run. */
  readonly sandboxes?: readonly string[];
  /** The images that workloads want; undefined = not known. */
  readonly wanted?: readonly string[];
  /** Bytes of each image; undefined = not known. */
  readonly bytes?: number | undefined;
}

/** A disk of 10 000 bytes; `web` is kept. */
function planned(given: Case): PinPlan {
  const images = given.images ?? [namedImage('web')];
  const names = given.names ?? images.flatMap(({ id }) => stored(id.replace('sha256:', '')));
  const bytes = 'bytes' in given ? given.bytes : 1000;
  const known = bytes === undefined ? [] : images;
  const size = { unique: bytes ?? 0, shared: 0, packed: 0, inexactBecause: undefined };
  const space = {
    shares: known.map(({ id }) => ({ images: [id], bytes: size.unique, heldBy: undefined })),
    images: new Map(known.map(({ id }) => [id, size])),
    ownPins: ownPins(images, typeof names === 'string' ? [] : names),
    sandboxImages: new Set(given.sandboxes),
  };
  const capacityBytes = 'capacityBytes' in given ? given.capacityBytes : 10_000;
  const disk = capacityBytes === undefined ? undefined : { capacityBytes, availableBytes: 5000 };
  const governance =
    given.governance ?? governedBy(imageRule({ keep: ['web'], ...given.rule }), { name: 'p' });
  const { sandboxImage } = given;
  const wanted = given.wanted && {
    images: given.wanted.map((name) => ({ image: name, workload: 'CronJob a/b', nodeSelector: {} })),
    elsewhere: [],
    unknownBecause: undefined,
  };
  const plan = planImageGc(facts(images, { space, disk, sandboxImage, wanted }), { governance, now });
  return planPins({ plan, names, disk, governance });
}

/** `pin sha256:web`, `unpin …`. */
const changed = (given: Case): readonly string[] =>
  planned(given).changes.map(({ kind, name }) => `${kind} ${name}`);
const reasons = (given: Case): readonly string[] =>
  planned(given).state.unbound.map(({ reason, count }) => `${reason} ${count}`);

const all = (kind: string, name: string): readonly string[] =>
  [idOf, tagOf, digestOf].map((of) => `${kind} ${of(name)}`);
const two = [namedImage('web'), namedImage('db')];

describe('which names get a pin, and which lose it', () => {
  test.each<{ name: string; given: Case; expected: readonly string[] }>([
    {
      name: 'every name of an image on the keep list, and no other image',
      given: { images: two },
      expected: all('pin', 'web'),
    },
    {
      name: 'nothing, if all names are pinned for this policy',
      given: { names: stored('web', ours) },
      expected: [],
    },
    {
      name: 'the tag alone, after a pull has dropped its labels',
      given: {
        names: stored('web', ours).map((one) =>
          one.name === tagOf('web') ? { ...one, labels: managed } : one,
        ),
      },
      expected: [`pin ${tagOf('web')}`],
    },
    {
      name: 'every name again, if another policy governs the node now',
      given: { names: stored('web', { ...ours, 'gc.dustpan.dev/pinned': 'former' }) },
      expected: all('pin', 'web'),
    },
    {
      name: 'no name that CRI does not manage',
      given: { names: stored('web', {}) },
      expected: [],
    },
    {
      name: 'only the managed names, if one is not',
      given: { names: [...stored('web').slice(0, 2), ...stored('web', {}).slice(2)] },
      expected: all('pin', 'web').slice(0, 2),
    },
    { name: 'nothing that others have pinned', given: { names: stored('web', foreign) }, expected: [] },
    {
      name: 'the other names, if others have pinned only the tag, whose pin the next pull drops',
      given: {
        names: stored('web').map((one) => (one.name === tagOf('web') ? { ...one, labels: foreign } : one)),
      },
      expected: [`pin ${idOf('web')}`, `pin ${digestOf('web')}`],
    },
    {
      name: 'what k3s has pinned beside dustpan stays, while the image is kept',
      given: { names: stored('web', k3s) },
      expected: [],
    },
    {
      name: 'the image is no longer on the list',
      given: { rule: { keep: [] }, names: [...stored('web', ours), ...stored('db', foreign)], images: two },
      expected: all('unpin', 'web'),
    },
    {
      name: 'the tag has moved to an image that is not pinned yet',
      given: {
        rule: { keep: [tagOf('web')] },
        images: [
          image('web', { tags: [], digests: [digestOf('old')] }),
          image('new', { tags: [tagOf('web')] }),
        ],
        names: [
          { name: idOf('web'), target: 'old', labels: ours },
          { name: digestOf('old'), target: 'old', labels: ours },
          { name: idOf('new'), target: 'new', labels: managed },
          { name: tagOf('web'), target: 'new', labels: managed },
        ],
      },
      expected: [
        `unpin ${idOf('web')}`,
        `unpin ${digestOf('old')}`,
        `pin ${idOf('new')}`,
        `pin ${tagOf('web')}`,
      ],
    },
    ...(['NoPolicy', 'RuleOff'] as const).map((reason) => ({
      name: `${reason}: the pins of dustpan go`,
      given: {
        governance: reason === 'RuleOff' ? governedBy(undefined) : keptBy(reason),
        names: stored('web', ours),
      },
      expected: all('unpin', 'web'),
    })),
    ...(['NodeUnknown', 'KeepMarked', 'InvalidPolicy'] as const).map((reason) => ({
      name: `${reason}: every pin stays as it is`,
      given: { governance: keptBy(reason), names: stored('web', ours) },
      expected: [],
    })),
    {
      name: 'mode DryRun pins nothing, and removes the pins of dustpan',
      given: {
        governance: governedBy(imageRule({ keep: ['web'] }), { mode: 'DryRun' }),
        names: stored('web', ours),
      },
      expected: all('unpin', 'web'),
    },
    {
      name: 'so does maxPinnedPercent 0',
      given: { rule: { maxPinnedPercent: 0 }, names: stored('web', ours) },
      expected: all('unpin', 'web'),
    },
    { name: 'nothing, if the runtime is not containerd', given: { names: 'unsupported' }, expected: [] },
    {
      name: 'the sandbox image that nobody has pinned, also without a keep list',
      given: { rule: { keep: [] }, sandboxImage: tagOf('web') },
      expected: all('pin', 'web'),
    },
    {
      name: 'the image from which sandboxes run, which containerd 2 does not report',
      given: { rule: { keep: [] }, sandboxes: [idOf('web')], images: two },
      expected: all('pin', 'web'),
    },
    {
      name: 'an image that a workload wants',
      given: { rule: { keep: [], pinWanted: true }, wanted: ['web'], images: two },
      expected: all('pin', 'web'),
    },
    {
      name: 'an image that a workload wanted',
      given: { rule: { keep: [], pinWanted: true }, wanted: [], names: stored('web', ours) },
      expected: all('unpin', 'web'),
    },
    {
      name: 'which images are wanted is not known: no pin is removed, and none is set',
      given: {
        rule: { keep: [], pinWanted: true },
        names: [...stored('web', ours), ...stored('db')],
        images: two,
      },
      expected: [],
    },
    {
      name: 'without pinWanted no workload matters',
      given: { rule: { keep: [] }, wanted: ['web'], names: stored('web', ours) },
      expected: all('unpin', 'web'),
    },
    {
      name: 'a wanted image on the remove list',
      given: {
        rule: { keep: [], pinWanted: true, remove: [{ image: 'web', untilMs: now.getTime() + 1 }] },
        wanted: ['web'],
        names: stored('web', ours),
      },
      expected: all('unpin', 'web'),
    },
    {
      name: 'an image on both lists: keep decides',
      given: { rule: { remove: [{ image: 'web', untilMs: now.getTime() + 1 }] } },
      expected: all('pin', 'web'),
    },
  ])('$name', ({ given, expected }) => {
    expect(changed(given)).toEqual(expected);
  });

  test('the sandbox image that is pinned is no image of the keep list', () => {
    const sandbox = { rule: { keep: ['misspelt'] }, names: stored('web', ours), sandboxes: [idOf('web')] };
    const { state } = planned({ ...sandbox, images: [namedImage('web', { pinned: true })] });
    expect(state).toEqual({ bound: 0, unbound: [] });
  });

  test('a pin is removed by its own labels; of a name that k3s has pinned too only the one of dustpan', () => {
    const labelsFor = (labels: Labels) =>
      planned({ rule: { keep: [] }, names: stored('web', labels) }).changes[0]?.labels;
    expect(labelsFor(ours)).toEqual({ 'io.cri-containerd.pinned': '', 'gc.dustpan.dev/pinned': '' });
    expect(labelsFor(k3s)).toEqual({ 'gc.dustpan.dev/pinned': '' });
    expect(planned({}).changes[0]?.labels).toEqual({
      'io.cri-containerd.pinned': 'pinned',
      'gc.dustpan.dev/pinned': 'p',
    });
  });
});

describe('the limit', () => {
  const three = ['web', 'db', 'app'].map((name) => namedImage(name));
  const pinned = (given: Case): readonly string[] =>
    [
      ...new Set(
        changed({ images: three, ...given }).map((one) => one.replace(/docker.io\/library\/(\w+).*/, '$1')),
      ),
    ].filter((one) => !one.includes('sha256:'));

  test.each<{ name: string; given: Case; expected: readonly string[] }>([
    {
      name: 'images in the order of the keep list, until the next one would be above it',
      given: { rule: { keep: ['app', 'web', 'db'], maxPinnedPercent: 25 } },
      expected: ['pin web', 'pin app'],
    },
    {
      name: 'what is pinned already stays before what is earlier on the list',
      given: {
        rule: { keep: ['app', 'web', 'db'], maxPinnedPercent: 25 },
        names: [...stored('web'), ...stored('db', ours), ...stored('app')],
      },
      expected: ['pin app'],
    },
    {
      name: 'a lower one removes pins from the end of the list',
      given: {
        rule: { keep: ['app', 'web', 'db'], maxPinnedPercent: 10 },
        names: three.flatMap(({ id }) => stored(id.replace('sha256:', ''), ours)),
      },
      expected: ['unpin web', 'unpin db'],
    },
    {
      name: 'wanted images come after the keep list, first those that are pinned already',
      given: {
        rule: { keep: ['app'], pinWanted: true, maxPinnedPercent: 25 },
        wanted: ['web', 'db'],
        names: [...stored('web'), ...stored('db', ours), ...stored('app')],
      },
      expected: ['pin app'],
    },
    {
      name: 'wanted images that are not pinned, in the order of the images',
      given: { rule: { keep: [], pinWanted: true, maxPinnedPercent: 25 }, wanted: ['db', 'web'] },
      expected: ['pin web', 'pin db'],
    },
    {
      name: 'a pinned wanted image gives way to the keep list',
      given: {
        rule: { keep: ['app'], pinWanted: true, maxPinnedPercent: 10 },
        wanted: ['db'],
        names: [...stored('web'), ...stored('db', ours), ...stored('app')],
      },
      expected: ['unpin db', 'pin app'],
    },
    {
      name: 'what others have pinned does not count',
      given: {
        rule: { keep: ['web', 'db'], maxPinnedPercent: 10 },
        names: [...stored('web', foreign), ...stored('db'), ...stored('app')],
      },
      expected: ['pin db'],
    },
    {
      name: 'on an unknown disk nothing is pinned, and nothing loses its pin',
      given: {
        rule: { keep: ['*'] },
        capacityBytes: undefined,
        names: [...stored('web', ours), ...stored('db'), ...stored('app')],
      },
      expected: [],
    },
    {
      name: 'a disk without capacity is an unknown one',
      given: { rule: { keep: ['*'] }, capacityBytes: 0 },
      expected: [],
    },
    {
      name: 'images of unknown size are not pinned',
      given: { rule: { keep: ['*'] }, bytes: undefined },
      expected: [],
    },
    {
      name: 'the sandbox image is the first, also before what is pinned already',
      given: {
        rule: { keep: ['app'], maxPinnedPercent: 10 },
        sandboxImage: tagOf('db'),
        names: [...stored('web'), ...stored('db'), ...stored('app', ours)],
      },
      expected: ['pin db', 'unpin app'],
    },
  ])('$name', ({ given, expected }) => {
    expect(pinned(given)).toEqual(expected);
  });
});

test.each<{ name: string; given: Case; expected: readonly string[] }>([
  { name: 'just pinned', given: {}, expected: ['NotYet 1'] },
  {
    name: 'shown as pinned',
    given: { names: stored('web', ours), images: [namedImage('web', { pinned: true })] },
    expected: [],
  },
  {
    name: 'pinned by others',
    given: { names: stored('web', foreign), images: [namedImage('web', { pinned: true })] },
    expected: [],
  },
  { name: 'pinned, but not shown', given: { names: stored('web', ours) }, expected: ['NotShown 1'] },
  {
    name: 'above the limit, and so to lose its pin',
    given: {
      names: stored('web', ours),
      images: [namedImage('web', { pinned: true })],
      rule: { maxPinnedPercent: 5 },
    },
    expected: ['Limit 1'],
  },
  { name: 'no disk', given: { capacityBytes: undefined }, expected: ['DiskUnknown 1'] },
  { name: 'no size', given: { bytes: undefined }, expected: ['DiskUnknown 1'] },
  { name: 'another runtime', given: { names: 'unsupported' }, expected: ['NotContainerd 1'] },
  {
    name: 'another runtime, which has pinned it itself',
    given: { names: 'unsupported', images: [namedImage('web', { pinned: true })] },
    expected: [],
  },
  { name: 'containerd could not be read', given: { names: 'unknown' }, expected: ['NotRead 1'] },
  { name: 'not managed', given: { names: stored('web', {}) }, expected: ['NotManaged 1'] },
  { name: 'off', given: { rule: { maxPinnedPercent: 0 } }, expected: ['Off 1'] },
  {
    name: 'the worst first',
    given: {
      images: two,
      rule: { keep: ['*'], maxPinnedPercent: 10 },
      names: [...stored('web', ours), ...stored('db')],
    },
    expected: ['Limit 1', 'NotShown 1'],
  },
])('why the kubelet may remove an image: $name', ({ given, expected }) => {
  expect(reasons(given)).toEqual(expected);
});

test('an image is pinned by dustpan alone only if no name has a pin of others', () => {
  const mixed = [...stored('web', ours).slice(1), ...stored('web', foreign).slice(0, 1)];
  const pins = ownPins(two, [...mixed, ...stored('db', ours)]);
  expect([...pins]).toEqual([[idOf('db'), 'p']]);
});

test('a containerd without the namespace of the kubelet runs no sandboxes', () => {
  expect(sandboxImages(two, new Map()).size).toBe(0);
});

test('images count as pinned by the changes that were made', () => {
  const images = two;
  const names = [...stored('web'), ...stored('db', ours)];
  const plan = planImageGc(facts(images), { governance: governedBy(imageRule()), now });
  const [pin, unpin] = [
    { kind: 'pin', name: tagOf('web'), labels: {} },
    { kind: 'unpin', name: idOf('db'), labels: {} },
  ] as const;
  expect(pinnedAfter(names, [], plan)).toEqual({ count: 1, bytes: 1000 });
  expect(pinnedAfter(names, [pin, unpin], plan).count).toBe(2);
  const unpinned = [idOf, tagOf, digestOf].map((of) => ({ ...unpin, name: of('db') }));
  expect(pinnedAfter(names, unpinned, plan).count).toBe(0);
});

describe('a pass', () => {
  function keepingNode(keep: readonly string[] = ['a']): { readonly node: Node; readonly store: FakeStore } {
    const node = new Node();
    node.fill();
    // A blob has 4 KiB, and the disk 10 000 bytes.
    node.governance = governed({ keep, maxPinnedPercent: 50 });
    return { node, store: new FakeStore(node) };
  }

  test('pins what it keeps, and the next one sees it: the reason is the keep list', async () => {
    const { node, store } = keepingNode();
    await node.observe();
    await node.pass();
    expect(store.pinned).toEqual(['docker.io/library/a:latest', 'sha256:a']);
    await node.pass();
    const last = node.inventories.at(-1);
    expect(last?.offenders.find(({ id }) => id === 'sha256:a')?.reason).toBe('KeepListed');
    expect(last?.pins).toMatchObject({ bound: 1, unbound: [], own: { count: 1 } });
    expect(await node.metric('dustpan_image_pinned_images')).toBe(1);
  });

  test('a store that cannot be read: how many are pinned is unknown', async () => {
    const { node } = keepingNode();
    await node.observe();
    await node.pass();
    await node.pass();
    node.store = () => Promise.reject(new Error('refused'));
    await node.pass();
    expect(await node.metric('dustpan_image_pinned_images')).toBeUndefined();
    expect(node.inventories.at(-1)?.pins).toMatchObject({ own: undefined });
  });

  test('an image that is on the list no longer loses its pin, and is removed, also by the remove list', async () => {
    const { node, store } = keepingNode();
    await node.observe();
    await node.pass();
    await node.pass();
    node.governance = governed({
      remove: [{ image: 'a', untilMs: node.clock.now().getTime() + 86_400_000 }],
    });
    await node.pass();
    expect(store.pinned).toEqual([]);
    expect(node.left.split(' ')).not.toContain('a');
  });

  test.each<{ name: string; given: NodeGovernance; live: NodeGovernance | Error; isUnpinned: boolean }>([
    {
      name: 'a poll has met a policy that is being replaced',
      given: keptBy('NoPolicy'),
      live: governed({ keep: ['a'] }),
      isUnpinned: false,
    },
    { name: 'there is no policy', given: keptBy('NoPolicy'), live: keptBy('NoPolicy'), isUnpinned: true },
    {
      name: 'the policy is not known live',
      given: keptBy('NoPolicy'),
      live: keptBy('NodeUnknown'),
      isUnpinned: false,
    },
    { name: 'the rule is off', given: governed(undefined), live: governed(undefined), isUnpinned: true },
    { name: 'the policy keeps it no longer', given: governed({}), live: governed({}), isUnpinned: true },
    {
      name: 'the policy keeps it again',
      given: governed({}),
      live: governed({ keep: ['a'] }, { generation: 7 }),
      isUnpinned: false,
    },
    { name: 'the policy is gone', given: governed({}), live: keptBy('NoPolicy'), isUnpinned: false },
    { name: 'no response', given: governed({}), live: new Error('refused'), isUnpinned: false },
  ])('a pin is removed only by policies that are read live: $name', async ({ given, live, isUnpinned }) => {
    const { node, store } = keepingNode();
    await node.observe();
    await node.pass();
    node.governance = given;
    if (live instanceof Error) node.liveError = live;
    else node.live = { governance: live };
    await node.pass();
    expect(store.pinned).toHaveLength(isUnpinned ? 0 : 2);
    expect(await node.metric('dustpan_unit_errors_total', { stage: 'pins' })).toBe(
      live instanceof Error ? 1 : 0,
    );
  });

  test.each([
    { labels: {}, pins: 0 },
    { labels: { gpu: 'yes' }, pins: 2 },
  ])(
    'the pin of an image that no workload wants goes only with the labels of the plan: live $labels',
    async ({ labels, pins }) => {
      const { node, store } = keepingNode();
      await node.observe();
      await node.pass();
      node.governance = governed({ pinWanted: true });
      const workload = { image: 'gpu', workload: 'DaemonSet batch/gpu', nodeSelector: { gpu: 'yes' } };
      node.wanted = { images: [], elsewhere: [workload], unknownBecause: undefined };
      node.live = { labels };
      await node.pass();
      expect(store.pinned).toHaveLength(pins);
    },
  );

  test('an aborted pass removes no pin', async () => {
    const { node, store } = keepingNode();
    await node.observe();
    await node.pass();
    node.governance = keptBy('NoPolicy');
    const pass = new AbortController();
    node.beforeResponse = () => pass.abort();
    node.liveError = new Error('aborted');
    await expect(node.pass(pass.signal)).rejects.toThrow('aborted');
    expect(store.pinned).toHaveLength(2);
  });

  test('a failure to set a pin is counted, and the pass goes on', async () => {
    const { node } = keepingNode(['i']);
    await node.observe();
    node.labelImage = () => Promise.reject(new Error('refused'));
    const { removed } = await node.pass();
    expect(removed).toBeGreaterThan(0);
    expect(node.inventories.at(-1)?.pins.own).toEqual({ count: 0, bytes: 0 });
    expect(await node.metric('dustpan_unit_errors_total', { stage: 'pins' })).toBe(1);
  });

  test('at an uninstallation every pin of dustpan is removed, and no other', async () => {
    const { node, store } = keepingNode(['a', 'b']);
    store.labels.set('sha256:c', foreign);
    store.labels.set('sha256:i', k3s);
    await node.observe();
    await node.pass();
    expect(store.pinned.length).toBeGreaterThan(3);
    const containerd = {
      imagesWith: (label: string) => store.imagesWith(label),
      labelImage: node.labelImage,
    };
    expect(await unpinAll(containerd, new AbortController().signal)).toContain('sha256:a');
    expect(store.pinned).toEqual(['sha256:c', 'sha256:i']);
    expect(store.labels.get('sha256:i')).not.toHaveProperty('gc.dustpan.dev/pinned');
  });

  test('a runtime that is not containerd has no pins', async () => {
    const containerd = {
      imagesWith: () => Promise.resolve(undefined),
      labelImage: () => Promise.reject(new Error()),
    };
    expect(await unpinAll(containerd, new AbortController().signal)).toBeUndefined();
  });

  test('a name that is gone gets no pin', async () => {
    const { node } = keepingNode();
    node.labelImage = () => Promise.resolve(false);
    await node.pass();
    expect(node.inventories.at(-1)?.pins.own?.count).toBe(0);
  });
});
