import { describe, expect, test } from 'vitest';
import { adviceOnNodes, imageListNotes, notesOn, paceNotes } from '../../../../src/commands/plan/notes.ts';
import { planUnits } from '../../../../src/commands/plan/units.ts';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import type { ThisNode } from '../../../../src/commands/cli/config.ts';
import type { Decision } from '../../../../src/commands/plan/document.ts';
import { emptyState } from '../../../../src/node/disk/state-format.ts';
import type { NodePart, PlanFacts } from '../../../../src/snapshot/plan-facts.ts';
import { node as testNode, now, pod } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { imageRule } from '../../agent/imagegc/builders.ts';
import { usage } from '../../agent/localstorage/builders.ts';
import { pressurePolicy } from '../../agent/nodepressure/builders.ts';
import { report as nodeReport } from '../../controllers/policystatus/builders.ts';
import { broken, factsOf, finished, nodesPolicy, partOf, type Facts } from '../facts.ts';
import { decision } from './builders.ts';

const found = { podDirectories: [], logDirectories: [], podCgroups: [] };
const rule = { podCgroups: 'Remove', podDirectories: 'Report' } as const;

test.each([
  { name: 'a snapshot has none', orphans: rule, part: {}, isNoted: true },
  { name: 'they are known', orphans: rule, part: { orphans: found }, isNoted: false },
  { name: 'no policy has a rule for them', orphans: undefined, part: {}, isNoted: false },
])('orphaned resources that are not known are noted: $name', ({ orphans, part, isNoted }) => {
  const notes = notesOn(factsOf({ policies: [nodesPolicy({ orphans })], part }));
  const note =
    'Node node-1: its orphaned resources are not known (directories of the kubelet, control groups): none of them is removed.';
  expect(notes.includes(note)).toBe(isNoted);
});

test.each<readonly [string, Partial<NodePart>, note: string]>([
  [
    'an unknown disk',
    { disk: undefined },
    'the usage of its image file system is not known (ImageFsInfo of the runtime): no image is removed for space.',
  ],
  [
    'a disk of capacity 0',
    { disk: { capacityBytes: 0, availableBytes: 0 } },
    'its image file system reports a capacity of 0 bytes, of which 0 are available: no image is removed for space.',
  ],
  [
    'a container without an image',
    { containers: [container('c', { name: 'main', imageId: '', imageRef: '' })] },
    'the runtime does not report the image of container main (c): no image is removed.',
  ],
])('a note names the source of what is not known: %s', (_, part, note) => {
  const policies = [nodesPolicy({ imageGC: imageRule() })];
  expect(notesOn(factsOf({ policies, part: { ...part, logs: undefined } }))).toContain(
    `Node node-1: ${note}`,
  );
});

test('node pressure without any measured threshold is noted', () => {
  const policies = [nodesPolicy({ nodePressure: pressurePolicy() })];
  const part = { usage: usage({}, { signals: [] }) };
  const { notes } = planUnits(factsOf({ policies, part }), { now, kept: false, assumeElapsed: false });
  expect(notes.join()).toContain('has no value for any threshold in nodes.nodePressure');
});

test.each([
  { name: 'of this policy', policyUid: nodesPolicy({}).uid, isNoted: false },
  { name: 'of another policy', policyUid: 'uid-another', isNoted: true },
])('a hold that may follow is noted unless the generation is recorded: $name', ({ policyUid, isNoted }) => {
  const imageGC = imageRule({ minimumAgeMs: 0, lowThresholdPercent: 1, hold: { above: 1, forMs: 300_000 } });
  const policies = [nodesPolicy({ imageGC })];
  const inForce = { policyUid, generation: policies[0]?.generation ?? 0, since: new Date(0) };
  const images = ['a', 'b', 'c'].map((name) => image(name, { sizeBytes: 5_000 }));
  const facts = factsOf({ policies, part: { images, state: { ...emptyState, inForce } } });
  const { notes } = planUnits(facts, { now, kept: false, assumeElapsed: false });
  expect(notes.some((note) => note.includes('if its generation is new'))).toBe(isNoted);
});

describe('image patterns that match no image on the nodes of their policy', () => {
  const governing = (keep: readonly string[], ages: readonly string[] = []) => [
    nodesPolicy({
      imageGC: imageRule({ keep, maximumAgeByImage: ages.map((one) => ({ image: one, maximumAgeMs: 1 })) }),
    }),
  ];
  const images = ['docker.io/library/nginx:1.27', 'quay.io/b:1'].map((tag) => image(tag, { tags: [tag] }));

  test.each([
    { name: 'all match', keep: ['docker.io/nginx:*', 'quay.io/*'], ages: ['nginx'], notes: [] },
    {
      name: 'some do not: at most three are named',
      keep: ['nginx', 'redis', 'busybox:1', 'c', 'd'],
      ages: ['quay.io/b:2'],
      notes: [
        'GCPolicy nodes: no image on its nodes that were read matches "redis", "busybox:1", "c" and 1 more of nodes.imageGC.keep.',
        'GCPolicy nodes: no image on its nodes that were read matches "quay.io/b:2" of nodes.imageGC.maximumAgeByImage.',
      ],
    },
  ])('$name', ({ keep, ages, notes }) => {
    expect(patternNotes(factsOf({ policies: governing(keep, ages), part: { images } }))).toEqual(notes);
  });

  test.each<readonly [string, Facts]>([
    ['the images are not known', { part: { images: undefined } }],
    ['the node has no images', { part: { images: [] } }],
    ['the nodes are not known', { part: { images }, nodes: undefined }],
    ['the policy governs no node that was read', { part: { images }, nodes: [] }],
  ])('are not named where %s', (_, facts) => {
    expect(patternNotes(factsOf({ policies: governing(['redis']), ...facts }))).toEqual([]);
  });

  test('are those that match on none of its nodes', () => {
    const facts = factsOf({
      policies: governing(['nginx', 'quay.io/b', 'redis']),
      nodes: [testNode('node-1'), testNode('node-2')],
    });
    const parts = images.map((one, index) => partOf({ name: `node-${index + 1}`, images: [one] }));
    expect(patternNotes({ ...facts, parts }).join()).toContain('matches "redis" of nodes.imageGC.keep');
  });

  const patternNotes = (facts: PlanFacts) =>
    notesOn(facts).filter((note) => note.includes('no image on its'));
});

test('a policy that governs nothing is noted, with the one that governs', () => {
  const first = { ...nodesPolicy({ imageGC: imageRule() }), name: 'first' };
  const second = { ...first, name: 'second' };
  const narrow = {
    ...first,
    nodes: { ...first.nodes, nodeSelector: { matchLabels: { a: 'b' }, matchExpressions: [] } },
  } as typeof first;
  const shadows = (...policies: readonly Policy[]): readonly string[] =>
    notesOn(factsOf({ policies })).filter((note) => note.includes('governs nothing'));
  expect(shadows(first, second)).toEqual([
    'GCPolicy second governs nothing: GCPolicy first has a higher rank and selects everything. Only one policy governs an object.',
  ]);
  expect(shadows(narrow, second)).toEqual([]);
});

describe('reasons in ttlByReason that no finished pod has', () => {
  const field = 'GCPolicy default: pods.terminated.ttlByReason[0].reason';
  test.each<readonly [reason: string, note: string | undefined]>([
    ['CrashLoopBackOff', 'only a waiting container has this reason.'],
    ['OOMKill', 'did you mean OOMKilled?'],
    ['startERROR', 'did you mean StartError?'],
    ['Init:Error', 'did you mean Error?'],
    ['OOMKilled', undefined],
    ['QuotaExceededByOperator', undefined],
    ['Errored', undefined],
    ['ImagePullBackOff', undefined],
  ])('%s: %s', (reason, note) => {
    const ends = [{ reason: 'Errored', exitCode: 3 }];
    const pods = [
      pod('a', { phase: 'Failed', ends }),
      pod('b', { phase: 'Failed', reason: 'ImagePullBackOff' }),
      pod('c', { phase: 'Running', reason: 'CrashLoopBackOff' }),
    ];
    const rules = {
      ttlByReason: [
        { reason, ttlMs: 1 },
        { phase: 'Failed', ttlMs: 1 },
      ],
    } as const;
    expect(notesOn(factsOf(finished(rules, ...pods)))).toEqual(
      note === undefined ? [] : [`${field} "${reason}" matches no finished pod; ${note}`],
    );
  });

  test('are not named while not all pods are known, nor of an invalid policy', () => {
    const { policies = [] } = finished({ ttlByReason: [{ reason: 'OOMKill', ttlMs: 1 }] });
    const facts = factsOf({ policies: [broken, ...policies] });
    const part = { namespace: 'a', selector: undefined };
    const counts = [facts, { ...facts, pods: undefined }, { ...facts, part }].map(
      (one) => notesOn(one).filter((note) => note.startsWith(field)).length,
    );
    expect(counts).toEqual([1, 0, 0]);
  });
});

test.each([
  { name: 'no list', imageGC: imageRule(), notes: [] },
  { name: 'no rule for images', imageGC: undefined, notes: [] },
  {
    name: 'a repository',
    imageGC: imageRule({ keep: ['nginx', 'redis:7', 'registry.example.com/*'] }),
    notes: ['GCPolicy nodes: "nginx" of nodes.imageGC.keep keeps all tags (for one, write NAME:TAG).'],
  },
  {
    name: 'several, and entries that have ended',
    imageGC: imageRule({
      keep: ['nginx', 'registry.example.com/app'],
      remove: [
        { image: 'a', untilMs: now.getTime() },
        { image: 'b', untilMs: now.getTime() + 1 },
      ],
    }),
    notes: [
      'GCPolicy nodes: "nginx", "registry.example.com/app" of nodes.imageGC.keep keep all tags (for one, write NAME:TAG).',
      'GCPolicy nodes: "a" of nodes.imageGC.remove has ended and removes nothing.',
    ],
  },
])('the lists of images are noted: $name', ({ imageGC, notes }) => {
  expect(imageListNotes({ policies: [nodesPolicy({ imageGC }), broken] }, now)).toEqual(notes);
  expect(imageListNotes({ policies: undefined }, now)).toEqual([]);
});

const node = { name: 'node-1' } as ThisNode;

test.each<readonly [string, Parameters<typeof adviceOnNodes>[0], advice: string]>([
  [
    'of a cluster alone',
    { node: undefined, through: undefined },
    ' To list the objects of a node, add --node NODE, or --nodes for all.',
  ],
  [
    'of some nodes',
    { node: undefined, through: ['node-1'] },
    ' To list the objects of all nodes, use --nodes instead of --node.',
  ],
  ['of this node', { node, through: undefined }, ''],
  ['of all nodes', { node: undefined, through: 'all' }, ''],
])('a plan %s: the note about reports advises only what is not given', (_, given, advice) => {
  const facts = { ...factsOf({ policies: [nodesPolicy({})] }), reports: [nodeReport('node-2')] };
  expect(notesOn({ ...facts, moreNodes: adviceOnNodes(given) })).toEqual([
    `One node has only totals, from the reports of the agents.${advice}`,
  ]);
});

const silent = { ...factsOf({ policies: [nodesPolicy({})] }), usage: [] };

test.each<readonly [string, PlanFacts, isNoted: boolean]>([
  ['none has reported', silent, true],
  ['the reports are not known', { ...silent, usage: undefined }, false],
  [
    'another has reported',
    { ...silent, usage: [{ node: 'a', reportTime: undefined, usage: undefined }] },
    false,
  ],
  ['one was read', { ...silent, parts: [partOf({})] }, false],
  ['no policy has rules for nodes', { ...silent, policies: finished().policies }, false],
  ['the policies are not known', { ...silent, policies: undefined }, false],
])('nodes that have not reported are noted: %s', (_, facts, isNoted) => {
  const note =
    'No node has reported yet, so the removals on nodes are not known. Agents report within 60 s of their start; dustpan status shows why one does not run.';
  expect(notesOn(facts).includes(note)).toBe(isNoted);
});

const request = (verdict: Decision['verdict']): Decision =>
  decision({
    ...{ unit: 'localstorage', verdict, reason: verdict === 'Evict' ? 'emptydirfs.limit' : 'KeepMarked' },
    object: { kind: 'Pod', namespace: 'default', name: 'a', uid: 'uid-a', node: 'node-1' },
  });
const paced =
  "2 pods are due for eviction. The controller paces them: a tenth of an owner's pods (at least one) a minute, less while its replacements are due again, and nodes.localStorageEviction.maxEvictionsPerMinute in the cluster.";

test.each<readonly [string, readonly Decision['verdict'][], notes: readonly string[]]>([
  ['no pod', [], []],
  ['one, which waits for no other', ['Evict'], []],
  ['one, and others that are kept or deleted', ['Keep', 'Evict', 'Delete'], []],
  ['two', ['Evict', 'Keep', 'Evict'], [paced]],
])('the pace of evictions is noted: %s', (_, verdicts, notes) => {
  expect(paceNotes(verdicts.map(request))).toEqual(notes);
});
