import { expect, test } from 'vitest';
import { describeFailure, isNotFound, socketErrorOf } from '../../../src/cri/failure.ts';

const call = { method: 'ListImages', socket: '/run/c.sock', deadlineMs: 120_000 };

const grpcError = (code: number, details: string): Error =>
  Object.assign(new Error(`${code} ${details}`), { code, details });

const at = 'the container runtime at /run/c.sock';
const described = (failure: string, message: string, cause: unknown) => {
  return { name: 'RuntimeError', failure, message: `ListImages: ${message}`, cause };
};

test('a socket without permission is denied', () => {
  const cause = grpcError(14, 'no connection');
  const message = "the container runtime's socket /run/c.sock cannot be opened: permission denied";
  const failure = describeFailure(cause, call, 'permission denied');
  expect(failure).toMatchObject(described('denied', message, cause));
});

test.each<readonly [string, unknown, string, string]>([
  [
    'the connection broke',
    grpcError(14, 'Connection dropped'),
    'unavailable',
    `${at} is not available: Connection dropped`,
  ],
  [
    "the runtime's own deadline",
    grpcError(4, 'context deadline exceeded'),
    'deadline',
    `${at} timed out: context deadline exceeded`,
  ],
  [
    'a failure of several lines is one line',
    grpcError(2, 'rpc error:\n  disk\nfull\n'),
    'other',
    `${at} failed (UNKNOWN): rpc error: disk full`,
  ],
  [
    'a runtime of another version',
    grpcError(12, 'unknown service runtime.v1.RuntimeService'),
    'other',
    `${at} failed (UNIMPLEMENTED): unknown service runtime.v1.RuntimeService`,
  ],
  [
    'a response that cannot be used',
    new RangeError('a size of 9223372036854775808 bytes'),
    'other',
    `${at} failed (no status): a size of 9223372036854775808 bytes`,
  ],
])('%s', (_name, cause, failure, message) => {
  expect(describeFailure(cause, call, undefined)).toMatchObject(described(failure, message, cause));
});

test.each([
  ['ENOENT', 'missing'],
  ['ENOTDIR', 'missing'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['ECONNREFUSED', 'refused'],
  ['EAGAIN', undefined],
  [undefined, undefined],
])('the error %s of a socket is %s', (code, expected) => {
  expect(socketErrorOf(code)).toBe(expected);
});

test('only the status NOT_FOUND means not found', () => {
  expect(isNotFound(grpcError(5, 'not found'))).toBe(true);
  expect(isNotFound(grpcError(2, 'not found'))).toBe(false);
  expect(isNotFound(Object.assign(new Error('no'), { code: 'ENOENT' }))).toBe(false);
});
