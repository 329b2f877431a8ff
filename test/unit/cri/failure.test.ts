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

const version = 'unknown service runtime.v1.RuntimeService';
test.each<readonly [string, code: number, details: string, failure: string, message: string]>([
  ['a broken connection', 14, 'Connection dropped', 'unavailable', 'is not available: Connection dropped'],
  ["the runtime's own deadline", 4, 'exceeded', 'deadline', 'timed out: exceeded'],
  ['a failure of several lines', 2, 'rpc:\n  disk\nfull\n', 'other', 'failed (UNKNOWN): rpc: disk full'],
  ['a runtime of another version', 12, version, 'other', `failed (UNIMPLEMENTED): ${version}`],
])('%s is one line', (_name, code, details, ...[failure, message]) => {
  const cause = grpcError(code, details);
  expect(describeFailure(cause, call, undefined)).toMatchObject(
    described(failure, `${at} ${message}`, cause),
  );
});

test('a response that cannot be used has no status', () => {
  const cause = new RangeError('a size of 9223372036854775808 bytes');
  const message = `${at} failed (no status): ${cause.message}`;
  expect(describeFailure(cause, call, undefined)).toMatchObject(described('other', message, cause));
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
