import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSnapshot } from '../../../src/snapshot/directory.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'dustpan-nodes-'));
  const node = { kind: 'Node', metadata: { name: 'node-1', uid: 'u' } };
  await writeFile(join(root, 'nodes.json'), JSON.stringify({ kind: 'List', items: [node] }));
});
afterEach(() => rm(root, { recursive: true }));

const read = () =>
  readSnapshot({
    directory: root,
    given: { files: [], replacesAll: false },
    selector: undefined,
    onProgress: () => undefined,
    now: undefined,
  });

test('the nodes of a snapshot in a mounted ConfigMap are those with a name', async () => {
  const version = '..2026_01_15_12_00_00.123456789';
  await mkdir(join(root, 'nodes', version, 'node-1'), { recursive: true });
  await writeFile(join(root, 'nodes', version, 'node-1', 'images.json'), '{"images":[]}');
  await symlink(version, join(root, 'nodes', '..data'));
  await symlink('..data/node-1', join(root, 'nodes', 'node-1'));
  const { parts } = await read();
  expect(parts).toMatchObject([{ name: 'node-1', images: [] }]);
});

test('a folder of a node that the list of nodes does not have is bad input', async () => {
  await mkdir(join(root, 'nodes', 'node-9'), { recursive: true });
  await expect(read()).rejects.toThrow('there is no node of this name in the list of nodes');
});
