import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readRemovals, readSnapshot } from '../../../src/snapshot/directory.ts';
import { Field } from '../../../src/snapshot/field.ts';
import { clusterFiles, nodeFiles } from '../../../src/snapshot/file-names.ts';
import { InputError } from '../../../src/snapshot/input-error.ts';
import { proposedPolicies } from '../../../src/snapshot/policies.ts';
import { refusePage } from '../../../src/snapshot/whole-list.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'dustpan-pages-'));
});
afterEach(() => rm(root, { recursive: true }));

async function write(name: string, content: object): Promise<string> {
  const file = join(root, name);
  await mkdir(dirname(file), { recursive: true });
  // JSON is YAML.
  await writeFile(file, JSON.stringify(content));
  return file;
}

const given = { files: [], replacesAll: false };
const source = { given, selector: undefined, onProgress: () => undefined, now: undefined };
const firstPage = { kind: 'List', metadata: { continue: 'token', remainingItemCount: 1 }, items: [] };

const listFiles = [...clusterFiles, ...nodeFiles.map((name) => join('nodes', 'node-1', name))];

test.each(listFiles.flatMap((name) => [`${name}.json`, `${name}.yaml`]))(
  'a snapshot whose %s is one page of a list is refused, and the file named',
  async (name) => {
    await write('pods.json', { kind: 'PodList', items: [] });
    if (name.startsWith('pods.')) await rm(join(root, 'pods.json'));
    const file = await write(name, firstPage);
    const reading = readSnapshot({ ...source, directory: root });
    await expect(reading).rejects.toBeInstanceOf(InputError);
    await expect(reading).rejects.toThrow(
      `${file}: metadata.remainingItemCount: the file has one page of a list`,
    );
  },
);

test('removals are not read from one page of the reports', async () => {
  await write('nodegcreports.json', firstPage);
  await expect(readRemovals(root)).rejects.toThrow('the file has one page of a list');
});

test.each([
  { name: 'a list', content: firstPage },
  { name: 'a list in a list', content: { kind: 'List', items: [{ ...firstPage, kind: 'GCPolicyList' }] } },
])('policies that are one page of $name are refused', async ({ content }) => {
  const file = await write('policy.yaml', content);
  await expect(proposedPolicies({ ...given, files: [file] }, [])).rejects.toThrow(
    'the file has one page of a list',
  );
});

test.each<{ name: string; document: unknown; problem: string | undefined }>([
  {
    name: 'a token alone',
    document: { metadata: { continue: 'x' } },
    problem: 'metadata.continue: the file has one page',
  },
  {
    name: 'a count alone',
    document: { metadata: { remainingItemCount: 7 } },
    problem: 'metadata.remainingItemCount: the file has one page of a list, 7 more items are missing',
  },
  { name: 'a token that is no text', document: { metadata: { continue: 1 } }, problem: 'must be a text' },
  {
    name: 'a count that is no number',
    document: { metadata: { remainingItemCount: 'x' } },
    problem: 'whole number',
  },
  {
    name: 'the last page, or all',
    document: { metadata: { continue: '', remainingItemCount: 0 } },
    problem: undefined,
  },
  { name: 'the list of kubectl', document: { metadata: { resourceVersion: '' } }, problem: undefined },
  { name: 'null', document: { metadata: { continue: null, remainingItemCount: null } }, problem: undefined },
  { name: 'a list without metadata', document: { items: [] }, problem: undefined },
  { name: 'no object', document: [], problem: undefined },
])('$name', ({ document, problem }) => {
  const check = (): void => refusePage(new Field('f.json', '', document));
  if (problem === undefined) expect(check).not.toThrow();
  else expect(check).toThrow(problem);
});
