import { renameSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inputOfEachTest, planned } from './fixture.ts';

const input = inputOfEachTest('image-disk-full');

const plan = () => planned(input.args);

test('of files beside the inputs of a snapshot, a note says which look like an input and are not read', async () => {
  const before = (await plan()).notes;
  const ignored = ['.DS_Store', '._pods.json', 'README.md', 'nodes/.DS_Store', 'nodes/node-1/._images.json'];
  const alike = ['pods.yml', 'pods.json.gz', 'images.json', 'nodes/images.json', 'nodes/node-1/pods.json'];
  for (const file of [...ignored, ...alike]) input.write(`snapshot/${file}`, '{}');
  const added = (await plan()).notes.filter((note) => !before.includes(note));
  const ofLists = 'its name must be pods.json or pods.yaml.';
  const ofNodes = 'it must be in the folder of a node, nodes/NODE.';
  expect(added.map((note) => note.replaceAll(input.path('snapshot/'), '')).toSorted()).toEqual([
    `images.json is not read: ${ofNodes}`,
    `nodes/images.json is not read: ${ofNodes}`,
    'nodes/node-1/pods.json is not read: it must be in the folder of the snapshot.',
    `pods.json.gz is not read: ${ofLists}`,
    `pods.yml is not read: ${ofLists}`,
  ]);
});

test('a link to a folder is a node, a link that leads nowhere is not', async () => {
  const all = await plan();
  renameSync(input.path('snapshot/nodes/node-1'), input.path('folder'));
  symlinkSync(input.path('folder'), input.path('snapshot/nodes/node-1'));
  symlinkSync(input.path('nowhere'), input.path('snapshot/nodes/node-9'));
  expect(await plan()).toEqual(all);
});
