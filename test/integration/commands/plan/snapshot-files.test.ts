import { renameSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { inputOfEachTest, planned } from './fixture.ts';

const input = inputOfEachTest();

const plan = () => planned(input.args);

describe('files beside the inputs of a snapshot', () => {
  const notesWith = async (...files: readonly string[]): Promise<readonly string[]> => {
    input.use('image-disk-full');
    for (const file of files) input.write(`snapshot/${file}`, '{}');
    return (await plan()).notes.map((note) => note.replaceAll(input.path('snapshot'), 'DIR'));
  };

  test.each([
    ['pods.yml', 'DIR/pods.yml is not read: its name must be pods.json or pods.yaml.'],
    ['pods.json.gz', 'DIR/pods.json.gz is not read: its name must be pods.json or pods.yaml.'],
    ['images.json', 'DIR/images.json is not read: it must be in the folder of a node, nodes/NODE.'],
    [
      'nodes/images.json',
      'DIR/nodes/images.json is not read: it must be in the folder of a node, nodes/NODE.',
    ],
    [
      'nodes/node-1/pods.json',
      'DIR/nodes/node-1/pods.json is not read: it must be in the folder of the snapshot.',
    ],
  ])('%s looks like an input: a note says why it is not read', async (file, note) => {
    expect(await notesWith(file)).toContain(note);
  });

  test.each([
    '.DS_Store',
    '._pods.json',
    'README.md',
    'nodes/.DS_Store',
    'nodes/node-2.tar',
    'nodes/node-1/._images.json',
  ])('%s is ignored', async (file) => {
    expect(await notesWith(file)).toEqual(await notesWith());
  });

  test('a node whose name begins like an input is a node', async () => {
    input.use('image-disk-full');
    input.write('snapshot/nodes/images.example.com/images.json', { images: [] });
    input.drop('snapshot/nodes.json');
    expect((await plan()).notes.join()).not.toContain('images.example.com is not read');
  });

  test('a link to a folder is a node, a link that leads nowhere is not', async () => {
    input.use('image-disk-full');
    const all = await plan();
    renameSync(input.path('snapshot/nodes/node-1'), input.path('folder'));
    symlinkSync(input.path('folder'), input.path('snapshot/nodes/node-1'));
    symlinkSync(input.path('nowhere'), input.path('snapshot/nodes/node-9'));
    expect(await plan()).toEqual(all);
  });
});

test('YAML may merge an anchor with <<, as for kubectl', async () => {
  input.use('image-disk-full');
  input.write(
    'policy.yaml',
    `apiVersion: gc.dustpan.dev/v1alpha1
kind: GCPolicy
metadata: {name: merged}
spec:
  pods:
    terminated:
      ttlByReason:
        - &failed {phase: Failed, ttl: 1h}
        - {<<: *failed, reason: Evicted}
`,
  );
  const { policies } = await planned([...input.args, `--policy=${input.path('policy.yaml')}`]);
  expect(policies.map(({ name }) => name)).toContain('merged');
});
