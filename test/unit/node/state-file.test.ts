import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { StateFile } from '../../../src/node/disk/state-file.ts';
import { emptyState, formatState, parseState, type AgentState } from '../../../src/node/disk/state-format.ts';

const never = new AbortController().signal;
const at = Date.parse('2026-01-15T12:00:00Z');
const state: AgentState = {
  images: new Map([
    ['sha256:a', { firstDetectedMs: at - 1000, lastUsedMs: at }],
    ['sha256:b', { firstDetectedMs: at, lastUsedMs: undefined }],
  ]),
  removed: [{ digest: 'sha256:c', atMs: at }],
};

let dir: string;
let path: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dustpan-state-'));
  path = join(dir, 'state.json');
});
afterEach(() => rm(dir, { recursive: true }));

test('what is written is read again, in the form that is fixed', async () => {
  await new StateFile(path).write(state, never);
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    version: 1,
    images: {
      'sha256:a': { firstDetected: '2026-01-15T11:59:59.000Z', lastUsed: '2026-01-15T12:00:00.000Z' },
      'sha256:b': { firstDetected: '2026-01-15T12:00:00.000Z', lastUsed: null },
    },
    removed: [{ digest: 'sha256:c', at: '2026-01-15T12:00:00.000Z' }],
  });
  expect(await new StateFile(path).read(never)).toEqual({ kind: 'read', state });
  expect(await readdir(dir)).toEqual(['state.json']);
});

test('what says the same is not written again', async () => {
  const file = new StateFile(path);
  await file.write(state, never);
  await rm(path);
  await file.write({ ...state }, never);
  expect(await readdir(dir)).toEqual([]);
  await file.write(emptyState, never);
  expect(await readdir(dir)).toEqual(['state.json']);
});

test('no file is how every node begins', async () => {
  expect(await new StateFile(path).read(never)).toEqual({ kind: 'missing' });
});

const whole = formatState(state);
test.each([
  ['nothing', '', 'is not a JSON object'],
  ['half a file', whole.slice(0, whole.length / 2), 'is not a JSON object'],
  ['zeros', '\0'.repeat(100), 'is not a JSON object'],
  ['a list', '[]', 'is not a JSON object'],
  ['null', 'null', 'is not a JSON object'],
  ['a later version', '{"version":2,"images":{}}', 'version: is 2, known is 1'],
  ['no version', '{"images":{}}', 'version: must be an integer'],
  ['a version in words', '{"version":"1","images":{}}', 'version: must be an integer'],
  ['no images', '{"version":1}', 'images: must be an object'],
  ['images in a list', '{"version":1,"images":[]}', 'images: must be an object'],
  ['an image that is no object', '{"version":1,"images":{"a":1}}', 'images[a]: must be an object'],
  [
    'a time that is none',
    '{"version":1,"images":{"a":{"firstDetected":"soon","lastUsed":null}}}',
    'images[a].firstDetected: must be an RFC 3339 time',
  ],
  [
    'a time in numbers',
    '{"version":1,"images":{"a":{"firstDetected":"2026-01-15T12:00:00Z","lastUsed":0}}}',
    'images[a].lastUsed: must be an RFC 3339 time',
  ],
  [
    'a day that does not exist',
    '{"version":1,"images":{"a":{"firstDetected":"2026-13-45T12:00:00Z"}}}',
    'images[a].firstDetected: must be an RFC 3339 time',
  ],
  ['removals in an object', '{"version":1,"images":{},"removed":{}}', 'removed: must be a list'],
  [
    'a removal without a name',
    '{"version":1,"images":{},"removed":[{}]}',
    'removed[0].digest: must be a text',
  ],
  [
    'a removal without a time',
    '{"version":1,"images":{},"removed":[{"digest":"a"}]}',
    'removed[0].at: must be an RFC 3339 time',
  ],
])('%s means starting over', async (_name, text, reason) => {
  await writeFile(path, text);
  expect(await new StateFile(path).read(never)).toEqual({ kind: 'startOver', reason });
});

test('an id that is a name of JavaScript is an id', () => {
  const text =
    '{"version":1,"images":{"__proto__":{"firstDetected":"2026-01-15T12:00:00Z","lastUsed":null}}}';
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
  expect((await readdir(dir)).toSorted()).toEqual(['state.json', 'state.json.bak']);
  expect(await new StateFile(path).read(never)).toEqual({ kind: 'read', state });
});

test('what is in the way and then goes is no hindrance', async () => {
  await writeFile(path, 'damaged');
  const file = new StateFile(path);
  expect((await file.read(never)).kind).toBe('startOver');
  await rm(path);
  await file.write(state, never);
  expect(await new StateFile(path).read(never)).toEqual({ kind: 'read', state });
});

test('a directory that is missing is told in one line', async () => {
  const file = new StateFile(join(dir, 'none', 'state.json'));
  await expect(file.write(state, never)).rejects.toThrow(
    `writing state file ${join(dir, 'none', 'state.json')} (ENOENT)`,
  );
});

test('when the new file cannot be made, the old one is whole and tried again', async () => {
  const file = new StateFile(path);
  await file.write(emptyState, never);
  await mkdir(`${path}.tmp`);
  await expect(file.write(state, never)).rejects.toThrow('(EISDIR)');
  expect(await readFile(path, 'utf8')).toBe(formatState(emptyState));
  await rm(`${path}.tmp`, { recursive: true });
  await file.write(state, never);
  expect(await readFile(path, 'utf8')).toBe(whole);
});

test('a link in the place of the new file is not followed', async () => {
  const outside = join(dir, 'outside');
  await writeFile(outside, 'untouched');
  await symlink(outside, `${path}.tmp`);
  await expect(new StateFile(path).write(state, never)).rejects.toThrow('(ELOOP)');
  expect(await readFile(outside, 'utf8')).toBe('untouched');
});

test('half a file that a crash left is no hindrance, and others may not read', async () => {
  await writeFile(`${path}.tmp`, '{"version":1,');
  await chmod(`${path}.tmp`, 0o600);
  await new StateFile(path).write(state, never);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readFile(path, 'utf8')).toBe(whole);
});

test('an abort is passed on', async () => {
  const aborted = AbortSignal.abort();
  await expect(new StateFile(path).read(aborted)).rejects.toThrow('aborted');
  await expect(new StateFile(path).write(state, aborted)).rejects.toThrow('aborted');
});
