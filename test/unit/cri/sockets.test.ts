import { expect, test } from 'vitest';
import { chooseSocket, findSocket, socketPath } from '../../../src/cri/sockets.ts';

const { signal } = new AbortController();

test.each([
  { name: 'none', found: [], expected: undefined },
  { name: 'one, not asked', found: [{ path: '/a', answers: undefined }], expected: '/a' },
  { name: 'one that is silent', found: [{ path: '/a', answers: false }], expected: '/a' },
  {
    name: 'the first that answers',
    found: [
      { path: '/a', answers: false },
      { path: '/b', answers: true },
      { path: '/c', answers: true },
    ],
    expected: '/b',
  },
  {
    name: 'the first when all are silent',
    found: [
      { path: '/a', answers: false },
      { path: '/b', answers: false },
    ],
    expected: '/a',
  },
])('of the sockets found: $name', ({ found, expected }) => {
  expect(chooseSocket(found)).toBe(expected);
});

test.each([
  ['unix:///run/x.sock', '/run/x.sock'],
  ['/run/x.sock', '/run/x.sock'],
])('%s is %s', (value, path) => {
  expect(socketPath(value)).toBe(path);
});

test.each([
  '',
  'run/x.sock',
  'unix://run/x.sock',
  'tcp://127.0.0.1:1',
  'npipe:////./pipe/x',
  'unix:/run/x.sock',
])("'%s' is no socket", (value) => {
  expect(() => socketPath(value)).toThrow(`'${value}' is no socket: want unix:///path or /path`);
});

test('the socket of the user is taken unseen, and nobody is asked', async () => {
  const search = { wanted: 'unix:///nowhere/x.sock', answers: () => Promise.reject(new Error('asked')) };
  expect(await findSocket(search, signal)).toBe('/nowhere/x.sock');
});
