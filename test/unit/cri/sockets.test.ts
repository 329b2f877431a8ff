import { expect, test } from 'vitest';
import { chooseSocket, findSocket, socketPath } from '../../../src/cri/sockets.ts';

const { signal } = new AbortController();

test.each([
  { name: 'none', found: [], expected: undefined },
  { name: 'one, not tested', found: [{ path: '/a', servesCri: undefined }], expected: '/a' },
  { name: 'one that serves no CRI', found: [{ path: '/a', servesCri: false }], expected: '/a' },
  {
    name: 'the first that serves CRI',
    found: [
      { path: '/a', servesCri: false },
      { path: '/b', servesCri: true },
      { path: '/c', servesCri: true },
    ],
    expected: '/b',
  },
  {
    name: 'the first if none serves CRI',
    found: [
      { path: '/a', servesCri: false },
      { path: '/b', servesCri: false },
    ],
    expected: '/a',
  },
])('chooses a socket: $name', ({ found, expected }) => {
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
])("'%s' is not a socket", (value) => {
  expect(() => socketPath(value)).toThrow(`'${value}' is not a socket: use unix:///path or /path`);
});

test("uses the user's socket without a test", async () => {
  const search = {
    configured: 'unix:///nowhere/x.sock',
    servesCri: () => Promise.reject(new Error('tested')),
  };
  expect(await findSocket(search, signal)).toBe('/nowhere/x.sock');
});
