import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { nameText, objectText } from '../../../../src/commands/plan/table.ts';
import type { ExplanationDocument } from '../../../../src/evaluation/why/explain.ts';
import { dustpan, list, planned, inputOfEachTest } from '../plan/fixture.ts';

const input = inputOfEachTest();

const why = (...args: string[]) => dustpan(['why', ...input.args, ...args]);

async function explained(...args: string[]): Promise<ExplanationDocument> {
  const { code, stdout, stderr } = await why(...args, '-o', 'json');
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as ExplanationDocument;
}

test('JSON and YAML have the same content, with every field of a decision', async () => {
  input.use('image-disk-full');
  const document = await explained('image', 'registry.example.com/app:v1');
  expect(document).toMatchObject({
    ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'Explanation', generatedAt: '2026-01-15T12:00:00Z' },
    object: { kind: 'Image', text: 'registry.example.com/app:v1', node: null },
    explanations: [
      {
        ...{ unit: 'imagegc', verdict: 'Keep', reason: 'InUse', policy: 'nodes', mode: 'Enforce' },
        ...{ order: null, field: null, eligibleAt: null, caution: null },
        heldBy: [{ container: { id: 'c1', name: 'main', state: 'Running' }, pod: 'web/app' }],
      },
    ],
  });
  const { stdout } = await why('image', 'registry.example.com/app:v1', '-o', 'yaml');
  expect(load(stdout)).toEqual(document);
});

test('an image has its bytes on the disk, and what keeps some of them', async () => {
  input.use('image-disk-full');
  const { explanations } = await explained('image', 'registry.example.com/app:v1');
  const ids = explanations.map(({ object }) => ('id' in object ? object.id : undefined));
  const mib = 1024 ** 2;
  input.write('snapshot/nodes/node-1/imagespace.json', {
    images: [
      { id: ids[0], unique: 3 * mib, shared: 5 * mib, packed: 2 * mib, inexactBecause: 'a layer' },
      { id: 'sha256:other', unique: 0, shared: 5 * mib, packed: 0 },
    ],
    shares: [
      { images: [0], bytes: 2 * mib },
      { images: [0], bytes: mib, heldBy: 'lease build' },
      { images: [0, 1], bytes: 5 * mib },
    ],
  });
  const { stdout } = await why('image', 'registry.example.com/app:v1');
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
    'Size 8.0 MiB on the disk, 2.0 MiB of them packed; 3.0 MiB that no other image has; lease build keeps 1.0 MiB; not exact: a layer',
  );
  const [{ onDisk } = {}] = (await explained('image', 'registry.example.com/app:v1')).explanations;
  expect(onDisk).toMatchObject({ uniqueBytes: 3 * mib, held: [{ by: 'lease build', bytes: mib }] });
});

const examples = ['terminated-over-threshold', 'node-vanished', 'image-disk-full', 'dead-containers'];
test.each([...examples, 'storage-overrun'])(
  'takes each object as the plan of %s prints it, and agrees with the plan',
  async (example) => {
    input.use(example);
    const { decisions } = await planned([...input.args, '--kept']);
    expect(decisions.length).toBeGreaterThan(0);
    // A real container has a longer id than c1.
    for (const one of decisions.filter(({ object }) => !('id' in object && object.id === 'c1'))) {
      const { object, verdict, reason, order, eligibleAt, field } = one;
      const printed = objectText(one).replace(/^(sandbox of|sandbox|pod directory|control group) /, '');
      const named = nameText(one)
        .replace(/ -n (\S+)/, ' --namespace=$1')
        .split(' ');
      for (const words of [[object.kind, ...printed.split(' ')], named]) {
        const { explanations } = await explained(...words);
        // The sentence may have more, such as the position of a pod.
        const same = { object, verdict, reason, order, eligibleAt, field };
        expect(explanations).toContainEqual(expect.objectContaining(same));
      }
    }
  },
);

test.each([
  [
    ['container', 'web/crash/main'],
    ['crash-0', 'crash-1', 'crash-2', 'crash-3'],
  ],
  [['container', 'web/crash', 'main', 'crash-2'], ['crash-2']],
])('the attempts of a container are explained together: %j', async (words, ids) => {
  input.use('dead-containers');
  const { explanations } = await explained(...words);
  expect(explanations.map(({ object }) => 'id' in object && object.id).toSorted()).toEqual(ids);
});

test('an image on several nodes has an explanation for each, and --node selects one', async () => {
  input.use('image-disk-full');
  const nodes = {
    kind: 'List',
    items: ['node-1', 'node-2'].map((name) => ({ kind: 'Node', metadata: { name, uid: name } })),
  };
  input.write('snapshot/nodes.json', nodes);
  input.write('snapshot/nodes/node-2/images.json', {
    images: [{ id: `sha256:${'d'.repeat(64)}`, repoTags: ['docker.io/library/nginx:1.27'], size: '5' }],
  });
  const both = await explained('image', 'nginx:1.27');
  expect(both.explanations.map(({ object, reason }) => [object.node, reason])).toEqual([
    ['node-1', 'Space'],
    ['node-2', 'ContainersUnknown'],
  ]);
  const { stdout } = await why('image', 'nginx:1.27', '--node=node-2');
  expect(stdout).toMatch(/^Image docker.io\/library\/nginx:1.27 \(dddddddddddd\) on node-2 is kept by/);
  expect(stdout).not.toContain('node-1');
});

describe('an object that dustpan removed', () => {
  test('is explained with a note where its node was not read', async () => {
    input.use('dead-containers');
    const container = {
      ...{ time: '2026-01-15T10:00:00Z', policy: 'nodes', reason: 'PodGone' },
      ...{ kind: 'Container', id: 'c'.repeat(64), name: 'main' },
    };
    const report = {
      ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport' },
      metadata: { name: 'node-1', uid: 'report-node-1', resourceVersion: '1' },
      status: { containers: { lastRemoved: [container] } },
    };
    input.write('snapshot/nodegcreports.json', list('NodeGCReport', [report]));
    expect((await explained('container', 'cccc')).notes).toEqual([]);
    input.drop('snapshot/nodes/node-1/containers.json');
    expect((await explained('container', 'cccc')).notes).toContainEqual(
      expect.stringMatching(/^It may be there again: .*; those of node-1 are not all known\.$/),
    );
  });

  test('is explained by the state file of its node', async () => {
    input.use('image-disk-full');
    const digest = `sha256:${'e'.repeat(64)}`;
    const at = '2026-01-15T10:00:00Z';
    const record = { digest, at, name: 'docker.io/library/old:1', reason: 'Age', policy: 'nodes' };
    input.write('snapshot/nodes/node-1/state.json', { version: 1, images: {}, removed: [record] });
    const { removed: records } = await explained('image', 'old:1');
    expect(records).toMatchObject([{ object: { id: digest, node: 'node-1' }, reason: 'Age' }]);
  });
});

test('what is unknown or ambiguous is one line', async () => {
  input.use('terminated-over-threshold');
  input.drop('snapshot/pods.json');
  const stderr = 'dustpan: pods are not known: the snapshot has no pods.json\n';
  expect(await why('pod', 'batch/report-1')).toEqual({ code: 1, stdout: '', stderr });
  input.use('dead-containers');
  expect(await why('container', 'crash')).toEqual({
    ...{ code: 2, stdout: '' },
    stderr: expect.stringMatching(
      /"crash" is ambiguous, 4 match: crash-0 \(container main on node-1\), [^\n]*\n$/,
    ) as string,
  });
});
