import { expect, test } from 'vitest';
import { findSocket, socketPath } from '../../../src/cri/sockets.ts';

const { signal } = new AbortController();

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
