import type { ImageSpace } from '../../../../src/api/image-space.ts';
import { expect, test } from 'vitest';
import {
  adviceOnNodes,
  imageListNotes,
  notesOn as notesAt,
  paceNotes,
} from '../../../../src/evaluation/plan/notes.ts';
import { planUnits } from '../../../../src/evaluation/plan/units.ts';
import type { ImageGcPolicy } from '../../../../src/api/policy/policy.ts';
import type { Decision } from '../../../../src/evaluation/plan/document.ts';
import { emptyState } from '../../../../src/node/disk/state-format.ts';
import { labelled, node as testNode, now, pod, policy } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { imageRule } from '../../agent/imagegc/builders.ts';
import { usage } from '../../agent/localstorage/builders.ts';
import { pressurePolicy } from '../../agent/nodepressure/builders.ts';
import { report as nodeReport } from '../../controllers/policystatus/builders.ts';
import { broken, factsOf, finished, nodesPolicy, partOf, type Facts } from '../facts.ts';
import { decision } from './builders.ts';

const notesOn = (facts: ReturnType<typeof factsOf>): readonly string[] => notesAt(facts, now, () => true);
const notes = (facts: Facts): readonly string[] => notesOn(factsOf(facts));
const planNotes = (facts: Facts): readonly string[] =>
  planUnits(factsOf(facts), { now, kept: false, assumeElapsed: false }).notes;

const orphans = { podCgroups: 'Remove', podDirectories: 'Report' } as const;
const ofImages = (over: Partial<ImageGcPolicy> = {}) => nodesPolicy({ imageGC: imageRule(over) });
const images = ['docker.io/library/nginx:1.27', 'quay.io/b:1'].map((tag) => image(tag, { tags: [tag] }));

/** Of images that nothing uses, under rules of which the state file of the agent has a record, or of others. */
function large(rulesId: string): readonly string[] {
  const hold = { above: 1, forMs: 300_000 };
  const policy = ofImages({ minimumAgeMs: 0, lowThresholdPercent: 1, hold });
  const inForce = { rulesId, since: new Date(0) };
  const unused = ['a', 'b', 'c'].map((name) => image(name, { sizeBytes: 5_000 }));
  return planNotes({ policies: [policy], part: { images: unused, state: { ...emptyState, inForce } } });
}

/** Patterns of images on a node with `images`. */
const patterns = (keep: readonly string[], over: Facts = {}, ages: readonly string[] = []) =>
  notes({
    policies: [ofImages({ keep, maximumAgeByImage: ages.map((one) => ({ image: one, maximumAgeMs: 1 })) })],
    part: { images },
    ...over,
  });
/** Images of 4 GiB that use so many. */
const sizes = (usedGibi: number, space?: ImageSpace) =>
  notes({
    policies: [ofImages()],
    part: {
      images: [image('x', { sizeBytes: 4 * 2 ** 30 })],
      space,
      disk: { capacityBytes: 2 ** 40, availableBytes: 2 ** 39, usedBytes: usedGibi * 2 ** 30 },
    },
  });
/** Containerd keeps so many MiB for each holder. */
const space = (heldMebi: Readonly<Record<string, number>>, inexactBecause?: string): ImageSpace => ({
  images: new Map([['sha256:x', { unique: 0, shared: 0, packed: 0, inexactBecause }]]),
  ownPins: new Map(),
  sandboxImages: new Set(),
  shares: Object.entries(heldMebi).map(([heldBy, mebi]) => ({
    images: ['sha256:x'],
    bytes: mebi * 2 ** 20,
    heldBy,
  })),
});
const onTwoNodes = () => {
  const nodes = [testNode('node-1'), testNode('node-2')];
  const facts = factsOf({ policies: [ofImages({ keep: ['nginx', 'quay.io/b', 'redis'] })], nodes });
  const parts = images.map((one, index) => partOf({ name: `node-${index + 1}`, images: [one] }));
  return notesOn({ ...facts, parts });
};

const first = { ...ofImages(), name: 'first' };
const second = { ...first, name: 'second' };

const misspelt = ['CrashLoopBackOff', 'OOMKill', 'startERROR', 'Init:Error'];
const right = ['OOMKilled', 'QuotaExceededByOperator', 'Errored', 'ImagePullBackOff'];
const reasons = factsOf(
  finished(
    {
      ttlByReason: [
        ...[...misspelt, ...right].map((reason) => ({ reason, ttlMs: 1 })),
        { phase: 'Failed', ttlMs: 1 },
      ],
    },
    pod('a', { phase: 'Failed', ends: [{ reason: 'Errored', exitCode: 3 }] }),
    pod('b', { phase: 'Failed', reason: 'ImagePullBackOff' }),
    pod('c', { phase: 'Running', reason: 'CrashLoopBackOff' }),
  ),
);

const lists = (...given: Parameters<typeof ofImages>) =>
  imageListNotes({ policies: [ofImages(...given), broken] }, now);
const advised = (...given: Parameters<typeof adviceOnNodes>) =>
  notesOn({
    ...factsOf({ policies: [nodesPolicy({})], reports: [nodeReport('node-2')] }),
    moreNodes: adviceOnNodes(...given),
  });
/** No node has reported. */
const silent = { ...factsOf({ policies: [nodesPolicy({})] }), usage: [] };
const paced = (...verdicts: readonly Decision['verdict'][]) =>
  paceNotes(
    verdicts.map((verdict) =>
      decision({
        ...{ unit: 'localstorage', verdict, reason: verdict === 'Evict' ? 'emptydirfs.limit' : 'KeepMarked' },
        object: { kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-a', node: 'node-1' },
      }),
    ),
  );

const cases: Readonly<Record<string, readonly string[]>> = {
  'orphaned resources that are not known': notes({ policies: [nodesPolicy({ orphans })], part: {} }),
  'an unknown disk': notes({ policies: [ofImages()], part: { disk: undefined } }),
  'a disk of capacity 0': notes({
    policies: [ofImages()],
    part: { disk: { capacityBytes: 0, availableBytes: 0 } },
  }),
  'a container without an image': notes({
    policies: [ofImages()],
    part: { containers: [container('c', { name: 'main', imageId: '', imageRef: '' })] },
  }),
  'node pressure without any measured threshold': planNotes({
    policies: [nodesPolicy({ nodePressure: pressurePolicy() })],
    part: { usage: usage({}, { signals: [] }) },
  }),
  'a large removal under a generation that is recorded': large(ofImages().uid),
  'a large removal under one that is not: a hold may follow': large('uid-another'),
  'selectors that select nothing': notes({
    policies: [
      { ...nodesPolicy({ nodeSelector: labelled('pool', 'x') }), name: 'nodes' },
      policy({ name: 'pods', pods: { podSelector: labelled('app', 'x') } }),
    ],
    pods: [pod('web', { labels: { app: 'y' } })],
  }),
  'excluded namespaces that do not exist': notes({
    policies: [policy({ pods: { excludeNamespaces: new Set(['kube-sistem', 'openshift-*']) } })],
    namespaces: ['kube-system'],
  }),
  'patterns that match images': patterns(['docker.io/nginx:*', 'quay.io/*'], {}, ['nginx']),
  'patterns that do not': patterns(['nginx', 'redis', 'busybox:1', 'c', 'd'], {}, ['quay.io/b:2']),
  'patterns that match on one of two nodes': onTwoNodes(),
  'entries that select nothing, although they match a digest': notes({
    policies: [
      ofImages({
        only: ['docker.io/nginx@*', 'nginx:1.27'],
        remove: ['*/b:1', '*/c', 'ended'].map((one, i) => ({ image: one, untilMs: i < 2 ? Infinity : 0 })),
      }),
    ],
    part: {
      images: [image('n', { tags: ['nginx:1.27'], digests: [`nginx@sha256:${'a'.repeat(64)}`] }), ...images],
    },
  }),
  'listed sizes that do not explain the usage': sizes(88),
  'listed sizes that nearly explain it': sizes(4.9),
  'listed sizes, and the usage is unknown': sizes(0),
  'known layers': sizes(88, space({ 'container c1': 5 })),
  'layers that something else keeps': sizes(
    88,
    space({ 'lease build': 1, 'namespace moby': 300, 'container c1': 5 }),
  ),
  'layers whose bytes are not exact': sizes(88, space({}, 'the size of a layer is unknown')),
  'a policy that governs nothing': notes({ policies: [first, second] }),
  'reasons that no finished pod has': notesOn(reasons),
  'reasons, and the pods are not known': notesOn({ ...reasons, pods: undefined }),
  'several repositories, and an entry that has ended': lists({
    keep: ['nginx', 'registry.example.com/app'],
    remove: [
      { image: 'a', untilMs: now.getTime() },
      { image: 'b', untilMs: now.getTime() + 1 },
    ],
  }),
  'a plan of a cluster alone': advised({ node: undefined, through: undefined }),
  'a plan of some nodes': advised({ node: undefined, through: ['node-1'] }),
  'no node has reported': notesOn(silent),
  'no node has reported, and no policy has rules for nodes': notesOn({
    ...silent,
    policies: factsOf(finished()).policies,
  }),
  'two pods to evict': paced('Evict', 'Keep', 'Evict'),
};

test('the notes are those of the file', async () => {
  const texts = Object.entries(cases).map(
    ([name, lines]) => `# ${name}\n\n${lines.map((line) => `${line}\n`).join('') || '-\n'}`,
  );
  await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/notes.txt');
});

test('an answer about one object has no notes on entries of policies that do not govern it', () => {
  const facts = factsOf({
    policies: [
      policy({ name: 'typo', priority: 10, pods: { podSelector: labelled('app', 'x') } }),
      policy({ name: 'all' }),
    ],
    pods: [pod('p')],
  });
  const options = { now, kept: true, assumeElapsed: false };
  const about = (only: boolean): string =>
    planUnits(facts, only ? { ...options, only: () => true } : options).notes.join();
  expect(about(false)).toContain('GCPolicy typo: pods.podSelector selects no pod');
  expect(about(true)).not.toContain('typo');
});

test('what is true of many nodes is one note', () => {
  const one = factsOf({
    policies: [ofImages()],
    part: {
      images: [image('x', { sizeBytes: 2 ** 30 })],
      containers: undefined,
      disk: { capacityBytes: 2 ** 40, availableBytes: 2 ** 39, usedBytes: 8 * 2 ** 30 },
    },
  });
  const parts = one.parts.flatMap((part) => ['a', 'b', 'c', 'd', 'e'].map((name) => ({ ...part, name })));
  const found = planUnits({ ...one, parts }, { now, kept: false, assumeElapsed: false }).notes;
  const ofNodes = found.filter((note) => note.startsWith('5 nodes (a, b, c and 2 more)'));
  expect(ofNodes).toHaveLength(3);
  expect(ofNodes.join('\n')).toContain(', each: its containers are not known');
  expect(ofNodes.join('\n')).toContain(
    'lists images of 5.00 GiB in all, and counts 40.0 GiB of image layers',
  );
  expect(found.filter((note) => /^Node [a-e]:/.test(note))).toEqual([]);
});

test('nodes whose sizes are not exact for different reasons have a note each', () => {
  const whys = ['the size of a layer is unknown', 'dustpan does not know the label x', undefined];
  const parts = whys.map((why, i) => partOf({ name: `node-${i}`, space: space({}, why) }));
  const found = notesOn({ ...factsOf({ policies: [ofImages()] }), parts }).join('\n');
  expect(found).toMatch(/^Node node-0: .* 1 image .*: the size of a layer is unknown\.$/m);
  expect(found).toMatch(/^Node node-1: .* 1 image .*: dustpan does not know the label x\.$/m);
});

test('a plan for later does not take the list of wanted images for one that nobody renews', () => {
  const wanted = { listedAtMs: now.getTime(), images: [], omitted: 0 };
  const given = factsOf({ policies: [ofImages({ pinWanted: true })], part: { images } });
  const later = new Date(now.getTime() + 4 * 3_600_000);
  const unknown = (takenAt: Date | undefined): number =>
    planUnits({ ...given, wanted, takenAt }, { now: later, kept: false, assumeElapsed: false }).notes.filter(
      (note) => note.includes('renews'),
    ).length;
  expect([unknown(now), unknown(undefined)]).toEqual([0, 1]);
});
