import { describe, expect, test } from 'vitest';
import { dustpan, inputOfEachTest, list, policy } from './fixture.ts';

const input = inputOfEachTest('image-disk-full');

const node = 'snapshot/nodes/node-1';
const pod = (metadata: object, rest: object = {}): object => ({ metadata, ...rest });

interface Row {
  readonly name: string;
  /** By path; undefined = the file or directory is removed. */
  readonly files: Readonly<Record<string, unknown>>;
  readonly problem: RegExp;
}

const wholeFiles: readonly Row[] = [
  {
    name: 'a missing policy file',
    files: { 'policy.json': undefined },
    problem: /policy\.json: does not exist$/,
  },
  {
    name: 'a missing snapshot',
    files: { snapshot: undefined },
    problem: /snapshot: there is no such directory$/,
  },
  {
    name: 'a directory that is not a snapshot',
    files: { snapshot: undefined, 'snapshot/package.json': '{}' },
    problem: /snapshot: is not a snapshot: it has no pods\.json/,
  },
  { name: 'an empty file', files: { 'snapshot/pods.json': '' }, problem: /pods\.json: is empty$/ },
  { name: 'an empty policy', files: { 'policy.json': ' \n' }, problem: /policy\.json: is empty$/ },
  {
    name: 'a list that is cut off inside an item',
    files: { 'snapshot/pods.json': '{"kind":"List","items":[{"metadata":{"na' },
    problem: /pods\.json: items\[0\]: is not JSON, or is cut off/,
  },
  {
    name: 'an item that is not JSON',
    files: { 'snapshot/pods.json': '{"kind":"List","items":[{"metadata":nil}]}' },
    problem: /pods\.json: items\[0\]: is not JSON/,
  },
  {
    name: 'YAML that is too large to be read as a whole',
    files: {
      'snapshot/pods.json': undefined,
      'snapshot/pods.yaml': `kind: List\nitems: []\n#${' '.repeat(9_000_000)}`,
    },
    problem: /pods\.yaml: is YAML larger than 8 MiB: convert it to JSON/,
  },
  {
    name: 'invalid YAML',
    files: { 'snapshot/pods.json': undefined, 'snapshot/pods.yaml': 'a: [' },
    problem: /pods\.yaml: is not YAML/,
  },
  {
    name: 'JSON and YAML for one list',
    files: { 'snapshot/pods.yaml': 'kind: List' },
    problem: /pods\.yaml: pods\.json exists too/,
  },
];

const lists: readonly Row[] = [
  {
    name: 'a List of the wrong kind',
    files: { 'snapshot/pods.json': { kind: 'NodeList', items: [] } },
    problem: /pods\.json: kind: must be List or PodList, is "NodeList"$/,
  },
  {
    name: 'a List with an item of the wrong kind',
    files: { 'snapshot/pods.json': list('Node', [pod({ name: 'a', uid: 'u' })]) },
    problem: /pods\.json: items\[0\]\.kind: must be Pod, is "Node"$/,
  },
  {
    name: 'a List without items',
    files: { 'snapshot/pods.json': { kind: 'List' } },
    problem: /pods\.json: items: must be a list, is absent$/,
  },
  {
    name: 'an item that is not an object',
    files: { 'snapshot/pods.json': '{"kind":"List","items":[7]}' },
    problem: /pods\.json: items\[0\]: must be an object, is 7$/,
  },
  {
    name: 'a pod without a UID',
    files: { 'snapshot/pods.json': list('Pod', [pod({ name: 'a', namespace: 'web' })]) },
    problem: /pods\.json: items\[0\]\.metadata\.uid: must be a text, is absent$/,
  },
  {
    name: 'a phase that is not a text',
    files: {
      'snapshot/pods.json': list('Pod', [
        pod({ name: 'a', namespace: 'web', uid: 'u' }, { status: { phase: 7 } }),
      ]),
    },
    problem: /pods\.json: items\[0\]\.status\.phase: must be a text, is 7$/,
  },
  {
    name: 'an invalid creation time',
    files: {
      'snapshot/pods.json': list('Pod', [
        pod({ name: 'a', namespace: 'web', uid: 'u', creationTimestamp: 'yesterday' }),
      ]),
    },
    problem: /items\[0\]\.metadata\.creationTimestamp: must be an RFC 3339 time, is "yesterday"$/,
  },
];

const policies: readonly Row[] = [
  {
    name: 'a policy of another version',
    files: { 'policy.json': { ...policy('a', {}), apiVersion: 'gc.dustpan.dev/v2' } },
    problem: /policy\.json: apiVersion: must be gc\.dustpan\.dev\/v1alpha1, is "gc\.dustpan\.dev\/v2"$/,
  },
  {
    name: 'another kind than a policy',
    files: { 'policy.json': { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } } },
    problem: /policy\.json: kind: must be GCPolicy, GCPolicyList or List, is "Pod"$/,
  },
];

const nodeFiles: readonly Row[] = [
  {
    name: 'a node folder without a node',
    files: { 'snapshot/nodes/node-9/images.json': { images: [] } },
    problem: /snapshot\/nodes\/node-9: there is no node of this name/,
  },
  {
    name: 'images that are not a list',
    files: { [`${node}/images.json`]: {} },
    problem: /images\.json: images: must be a list, is absent$/,
  },
  {
    name: 'a size that is not a number',
    files: { [`${node}/images.json`]: { images: [{ id: 'a', size: '5Gi' }] } },
    problem: /images\.json: images\[0\]\.size: must be a whole number, is "5Gi"$/,
  },
  {
    name: 'a container state that is a number',
    files: { [`${node}/containers.json`]: { containers: [{ id: 'a', state: 1 }] } },
    problem: /containers\.json: containers\[0\]\.state: must be a text, is 1$/,
  },
  {
    name: 'a sandbox without a state',
    files: { [`${node}/sandboxes.json`]: { items: [{ id: 'a' }] } },
    problem: /sandboxes\.json: items\[0\]\.state: must be one of SANDBOX_READY, SANDBOX_NOTREADY, is absent$/,
  },
  {
    name: 'statistics that are cut off',
    files: { [`${node}/stats.json`]: '{"node":' },
    problem: /stats\.json: is not JSON, or is cut off/,
  },
  {
    name: 'a state file with an invalid time',
    files: { [`${node}/state.json`]: { version: 1, images: { a: { firstDetected: 'once' } } } },
    problem: /state\.json: images\[a\]\.firstDetected: must be an RFC 3339 time$/,
  },
  {
    name: 'a log with a relative path',
    files: { [`${node}/logs.json`]: [{ path: 'a.log', bytes: 1, mtime: '2026-01-15T12:00:00Z' }] },
    problem: /logs\.json: \[0\]\.path: must be an absolute path, is "a\.log"$/,
  },
  {
    name: 'a log directory with a relative path',
    files: { [`${node}/logs.json`]: [], [`${node}/loglisting.json`]: { complete: true, directories: ['a'] } },
    problem: /loglisting\.json: directories\[0\]: must be an absolute path, is "a"$/,
  },
  {
    name: 'a log listing without directories',
    files: { [`${node}/logs.json`]: [], [`${node}/loglisting.json`]: { complete: true } },
    problem: /loglisting\.json: directories: must be a list, is absent$/,
  },
];

async function expectUsageError(args: readonly string[], problem: RegExp): Promise<void> {
  const { code, stdout, stderr } = await dustpan(['plan', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^dustpan: [^\n]+\n$/);
  expect(stderr.trimEnd()).toMatch(problem);
}

describe('bad input is one line, exit code 2, and no output', () => {
  test.each([...wholeFiles, ...lists, ...policies, ...nodeFiles])('$name', async ({ files, problem }) => {
    for (const [name, content] of Object.entries(files))
      if (content === undefined) input.drop(name);
      else input.write(name, content);
    await expectUsageError(input.args, problem);
  });
});
