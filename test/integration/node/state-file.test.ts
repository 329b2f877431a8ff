import { execFileSync } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { beforeEach, expect, test } from 'vitest';
import { StateDirectory } from '../../../src/daemon/agent/state.ts';
import { StateFile } from '../../../src/node/disk/state-file.ts';
import {
  agentState,
  emptyState,
  formatState,
  parseState,
  type AgentState,
} from '../../../src/node/disk/state-format.ts';
import { silentLogger } from '../../fakes/logger.ts';
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
  inForce: { rulesId: '0123456789ab', since: new Date(noon) },
};

const at = temporaryDirectory();
let path: string;
beforeEach(() => {
  path = at('state.json');
});

test('a written state can be read, only by its owner, and is not written again unchanged; the format is fixed', async () => {
  const file = new StateFile(path, agentState);
  expect(await file.read(never)).toEqual({ kind: 'missing' });
  await writeFile(`${path}.tmp`, '{"version":1,', { mode: 0o600 });
  await file.write(state, never);
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
    inForce: { rulesId: '0123456789ab', since: '2026-01-15T12:00:00.000Z' },
  });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await new StateFile(path, agentState).read(never)).toEqual({ kind: 'read', state });
  expect(await readdir(at())).toEqual(['state.json']);
  await rm(path);
  await file.write({ ...state }, never);
  expect(await readdir(at())).toEqual([]);
});

const whole = formatState(state);
const imageWith = (times: string): string => `{"version":1,"images":{"a":{${times}}}}`;
const removed = (list: string): string => `{"version":1,"images":{},"removed":${list}}`;
test.each([
  ['half a file', whole.slice(0, whole.length / 2), 'is not a JSON object'],
  ['a later version', '{"version":2,"images":{}}', 'version: is 2, this dustpan reads 1'],
  ['images in a list', '{"version":1,"images":[]}', 'images: must be an object'],
  ['an image that is no object', '{"version":1,"images":{"a":1}}', 'images[a]: must be an object'],
  [
    'an invalid time',
    imageWith('"firstDetected":"soon","lastUsed":null'),
    'images[a].firstDetected: must be an RFC 3339 time',
  ],
  ['removals in an object', removed('{}'), 'removed: must be a list'],
  ['a removal without a time', removed('[{"digest":"a"}]'), 'removed[0].at: must be an RFC 3339 time'],
])('%s means starting over', async (_name, text, reason) => {
  await writeFile(path, text);
  expect(await new StateFile(path, agentState).read(never)).toEqual({ kind: 'startOver', reason });
});

test('the image id __proto__ is kept', () => {
  const image = imageWith('"firstDetected":"2026-01-15T12:00:00Z","lastUsed":null');
  const parsed = parseState(image.replace('"a"', '"__proto__"'));
  expect(parsed.kind === 'read' && [...parsed.state.images.keys()]).toEqual(['__proto__']);
  expect(parsed.kind === 'read' && formatState(parsed.state)).toContain('"__proto__":{"firstDetected"');
});

test.each([
  ['a later version', () => writeFile(path, '{"version":2}')],
  ['a directory', () => mkdir(path)],
])('%s is set aside once, not overwritten', async (_name, make) => {
  await make();
  const before = (await stat(path)).ino;
  const file = new StateFile(path, agentState);
  expect((await file.read(never)).kind).toBe('startOver');
  await file.write(emptyState, never);
  await file.write(state, never);
  expect((await readdir(at())).toSorted()).toEqual(['state.json', 'state.json.bak']);
  expect((await stat(`${path}.bak`)).ino).toBe(before);
  expect(await new StateFile(path, agentState).read(never)).toEqual({ kind: 'read', state });
});

test('a file that cannot be replaced leaves no temporary file, which would fill a full disk', async () => {
  await mkdir(path);
  await expect(new StateFile(path, agentState).write(state, never)).rejects.toThrow(
    `state file ${path} (EISDIR)`,
  );
  expect(await readdir(at())).toEqual(['state.json']);
});

test('a state directory is not ready after a failed write, until the next one', async () => {
  const directory = new StateDirectory(at(), silentLogger);
  await mkdir(path);
  await expect(directory.write(state, never)).rejects.toThrow('EISDIR');
  expect(directory.check()).toContain(`writing state file ${path} (EISDIR)`);
  await rm(path, { recursive: true });
  await directory.write(state, never);
  expect(directory.check()).toBeUndefined();
});

test('a failed write keeps the old file whole, and is repeated', async () => {
  const file = new StateFile(path, agentState);
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
  await expect(new StateFile(path, agentState).write(state, never)).rejects.toThrow('(ELOOP)');
  expect(await readFile(outside, 'utf8')).toBe('untouched');
});

test('nothing waits for a write that hangs; when it ends, the newest state follows, and no other', async () => {
  // A pipe without a reader holds the thread that opens it, as a disk that hangs does.
  execFileSync('mkfifo', [`${path}.tmp`]);
  const deadline = new AbortController();
  const file = new StateFile(path, agentState, () => deadline.signal);
  const late = expect(file.write(emptyState, never)).rejects.toThrow(`${path} (no response: the disk hangs)`);
  deadline.abort();
  await late;
  for (const next of [{ ...emptyState, removed: state.removed }, state])
    await expect(file.write(next, never)).rejects.toThrow('(an earlier write has not ended: the disk hangs)');
  expect(await readdir(at())).toEqual(['state.json.tmp']);
  createReadStream(`${path}.tmp`).resume();
  await expect.poll(() => readFile(path, 'utf8').catch(() => '')).toBe(whole);
  await expect.poll(() => readdir(at())).toEqual(['state.json']);
  const later = new StateFile(path, agentState);
  expect(await later.read(never)).toEqual({ kind: 'read', state });
});

test('a state that was written before is written again after another one whose write hangs', async () => {
  const deadline = new AbortController();
  const file = new StateFile(path, agentState, () => deadline.signal);
  await file.write(state, never);
  execFileSync('mkfifo', [`${path}.tmp`]);
  const late = expect(file.write(emptyState, never)).rejects.toThrow('no response');
  deadline.abort();
  await late;
  await expect(file.write(state, never)).rejects.toThrow('earlier write');
  const before = (await stat(path)).ino;
  createReadStream(`${path}.tmp`).resume();
  await expect.poll(async () => (await stat(path)).ino).not.toBe(before);
  expect(await readFile(path, 'utf8')).toBe(whole);
});

test('a write follows one for which nobody waits any more', async () => {
  const file = new StateFile(path, agentState);
  execFileSync('mkfifo', [`${path}.tmp`]);
  const stop = new AbortController();
  const stopped = expect(file.write(emptyState, stop.signal)).rejects.toThrow('stopping');
  stop.abort(new Error('stopping'));
  await stopped;
  const last = file.write(state, never);
  createReadStream(`${path}.tmp`).resume();
  await last;
  expect(await readFile(path, 'utf8')).toBe(whole);
});

test('a file whose read hangs is as one that cannot be read', async () => {
  execFileSync('mkfifo', [path]);
  const deadline = new AbortController();
  const reading = new StateFile(path, agentState, () => deadline.signal).read(never);
  deadline.abort();
  const reason = 'cannot be read (no response: the disk hangs)';
  expect(await reading).toEqual({ kind: 'startOver', reason });
  const end = createWriteStream(path);
  await new Promise((resolve) => end.end(resolve));
});
