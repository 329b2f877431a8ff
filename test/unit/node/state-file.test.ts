import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { beforeEach, expect, test } from 'vitest';
import { StateFile } from '../../../src/node/disk/state-file.ts';
import { emptyState, formatState, parseState, type AgentState } from '../../../src/node/disk/state-format.ts';
import { temporaryDirectory } from './directory.ts';

const never = new AbortController().signal;
const noon = Date.parse('2026-01-15T12:00:00Z');
const state: AgentState = {
  images: new Map([
    ['sha256:a', { firstDetectedMs: noon - 1000, lastUsedMs: noon }],
    ['sha256:b', { firstDetectedMs: noon, lastUsedMs: undefined }],
  ]),
  removed: [
    { digest: 'sha256:c', atMs: noon },
    { digest: 'sha256:d', atMs: noon, what: { name: 'nginx:1', reason: 'Space', policy: 'default' } },
  ],
  inForce: { policyUid: 'uid-default', generation: 3, since: new Date(noon) },
};

const at = temporaryDirectory();
let path: string;
beforeEach(() => {
  path = at('state.json');
});

test('a written state can be read; the format is fixed', async () => {
  await new StateFile(path).write(state, never);
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    version: 1,
    images: {
      'sha256:a': { firstDetected: '2026-01-15T11:59:59.000Z', lastUsed: '2026-01-15T12:00:00.000Z' },
      'sha256:b': { firstDetected: '2026-01-15T12:00:00.000Z', lastUsed: null },
    },
    removed: [
      { digest: 'sha256:c', at: '2026-01-15T12:00:00.000Z' },
      {
        ...{ digest: 'sha256:d', at: '2026-01-15T12:00:00.000Z' },
        ...{ name: 'nginx:1', reason: 'Space', policy: 'default' },
      },
    ],
    inForce: { policy: 'uid-default', generation: 3, since: '2026-01-15T12:00:00.000Z' },
  });
  expect(await new StateFile(path).read(never)).toEqual({ kind: 'read', state });
  expect(await readdir(at())).toEqual(['state.json']);
});

test('an unchanged state is not written again', async () => {
  const file = new StateFile(path);
  await file.write(state, never);
  await rm(path);
  await file.write({ ...state }, never);
  expect(await readdir(at())).toEqual([]);
  await file.write(emptyState, never);
  expect(await readdir(at())).toEqual(['state.json']);
});

test('a missing file is not an error', async () => {
  expect(await new StateFile(path).read(never)).toEqual({ kind: 'missing' });
});

const whole = formatState(state);
const imageWith = (times: string): string => `{"version":1,"images":{"a":{${times}}}}`;
const removed = (list: string): string => `{"version":1,"images":{},"removed":${list}}`;
test.each([
  ['half a file', whole.slice(0, whole.length / 2), 'is not a JSON object'],
  ['a list', '[]', 'is not a JSON object'],
  ['null', 'null', 'is not a JSON object'],
  ['a later version', '{"version":2,"images":{}}', 'version: is 2, this dustpan reads 1'],
  ['no version', '{"images":{}}', 'version: must be an integer'],
  ['no images', '{"version":1}', 'images: must be an object'],
  ['images in a list', '{"version":1,"images":[]}', 'images: must be an object'],
  ['an image that is no object', '{"version":1,"images":{"a":1}}', 'images[a]: must be an object'],
  [
    'an invalid time',
    imageWith('"firstDetected":"soon","lastUsed":null'),
    'images[a].firstDetected: must be an RFC 3339 time',
  ],
  [
    'a time as number',
    imageWith('"firstDetected":"2026-01-15T12:00:00Z","lastUsed":0'),
    'images[a].lastUsed: must be an RFC 3339 time',
  ],
  ['removals in an object', removed('{}'), 'removed: must be a list'],
  ['a removal without a digest', removed('[{}]'), 'removed[0].digest: must be a text'],
  ['a removal without a time', removed('[{"digest":"a"}]'), 'removed[0].at: must be an RFC 3339 time'],
])('%s means starting over', async (_name, text, reason) => {
  await writeFile(path, text);
  expect(await new StateFile(path).read(never)).toEqual({ kind: 'startOver', reason });
});

test('the image id __proto__ is kept', () => {
  const text = imageWith('"firstDetected":"2026-01-15T12:00:00Z","lastUsed":null').replace(
    '"a"',
    '"__proto__"',
  );
  const parsed = parseState(text);
  expect(parsed.kind === 'read' && [...parsed.state.images.keys()]).toEqual(['__proto__']);
  expect(parsed.kind === 'read' && formatState(parsed.state)).toContain('"__proto__":{"firstDetected"');
});

test.each([
  ['a later version', () => writeFile(path, '{"version":2}')],
  ['a directory', () => mkdir(path)],
])('%s is set aside, not overwritten', async (_name, make) => {
  await make();
  const file = new StateFile(path);
  expect((await file.read(never)).kind).toBe('startOver');
  await file.write(state, never);
  expect((await readdir(at())).toSorted()).toEqual(['state.json', 'state.json.bak']);
  expect(await new StateFile(path).read(never)).toEqual({ kind: 'read', state });
});

test('a file is set aside once', async () => {
  await writeFile(path, 'damaged');
  const file = new StateFile(path);
  await file.read(never);
  await file.write(state, never);
  await file.write(emptyState, never);
  expect(await readFile(`${path}.bak`, 'utf8')).toBe('damaged');
});

test('a file that cannot be replaced leaves no temporary file, which would fill a full disk', async () => {
  await mkdir(path);
  await expect(new StateFile(path).write(state, never)).rejects.toThrow('EISDIR');
  expect(await readdir(at())).toEqual(['state.json']);
});

test('a damaged file that is gone meanwhile does not prevent a write', async () => {
  await writeFile(path, 'damaged');
  const file = new StateFile(path);
  expect((await file.read(never)).kind).toBe('startOver');
  await rm(path);
  await file.write(state, never);
  expect(await new StateFile(path).read(never)).toEqual({ kind: 'read', state });
});

test('a missing directory is an error of one line', async () => {
  const missing = at('none', 'state.json');
  const problem = `writing state file ${missing} (ENOENT)`;
  await expect(new StateFile(missing).write(state, never)).rejects.toThrow(problem);
});

test('a failed write keeps the old file whole, and is repeated', async () => {
  const file = new StateFile(path);
  await file.write(emptyState, never);
  await mkdir(`${path}.tmp`);
  await expect(file.write(state, never)).rejects.toThrow('(EISDIR)');
  expect(await readFile(path, 'utf8')).toBe(formatState(emptyState));
  await rm(`${path}.tmp`, { recursive: true });
  await file.write(state, never);
  expect(await readFile(path, 'utf8')).toBe(whole);
});

test('a link in place of the temporary file is not followed', async () => {
  const outside = at('outside');
  await writeFile(outside, 'untouched');
  await symlink(outside, `${path}.tmp`);
  await expect(new StateFile(path).write(state, never)).rejects.toThrow('(ELOOP)');
  expect(await readFile(outside, 'utf8')).toBe('untouched');
});

test('half a temporary file does not prevent a write; the file is readable only by its owner', async () => {
  await writeFile(`${path}.tmp`, '{"version":1,', { mode: 0o600 });
  await new StateFile(path).write(state, never);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, 'utf8')).toBe(whole);
});

test('an abort ends a read and a write', async () => {
  const aborted = AbortSignal.abort();
  await expect(new StateFile(path).read(aborted)).rejects.toThrow('aborted');
  await expect(new StateFile(path).write(state, aborted)).rejects.toThrow('aborted');
});
