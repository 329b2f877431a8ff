import { describe, expect, test } from 'vitest';
import { describeFailure, isNotFound, socketErrorOf } from '../../../src/cri/failure.ts';
import type { SocketError } from '../../../src/cri/failure.ts';

const call = { method: 'ListImages', socket: '/run/c.sock', deadlineMs: 120_000 };

const grpcError = (code: number, details: string): Error =>
  Object.assign(new Error(`${code} ${details}`), { code, details });

interface Row {
  readonly name: string;
  readonly cause: unknown;
  readonly socketError?: SocketError;
  readonly failure: string;
  readonly message: string;
}

test.each<Row>([
  {
    name: 'no permission',
    cause: grpcError(14, 'no connection'),
    socketError: 'permission denied',
    failure: 'denied',
    message: "ListImages: the container runtime's socket /run/c.sock cannot be opened: permission denied",
  },
  {
    name: 'the connection broke',
    cause: grpcError(14, 'Connection dropped'),
    failure: 'unavailable',
    message: 'ListImages: the container runtime at /run/c.sock is not available: Connection dropped',
  },
  {
    name: "the runtime's own deadline",
    cause: grpcError(4, 'context deadline exceeded'),
    failure: 'deadline',
    message: 'ListImages: the container runtime at /run/c.sock timed out: context deadline exceeded',
  },
  {
    name: 'a failure of several lines is one line',
    cause: grpcError(2, 'rpc error:\n  disk\nfull\n'),
    failure: 'other',
    message: 'ListImages: the container runtime at /run/c.sock failed (UNKNOWN): rpc error: disk full',
  },
  {
    name: 'a runtime of another version',
    cause: grpcError(12, 'unknown service runtime.v1.RuntimeService'),
    failure: 'other',
    message:
      'ListImages: the container runtime at /run/c.sock failed (UNIMPLEMENTED): unknown service runtime.v1.RuntimeService',
  },
  {
    name: 'a response that cannot be used',
    cause: new RangeError('a size of 9223372036854775808 bytes'),
    failure: 'other',
    message:
      'ListImages: the container runtime at /run/c.sock failed (no status): a size of 9223372036854775808 bytes',
  },
])('$name', ({ cause, socketError, failure, message }) => {
  expect(describeFailure(cause, call, socketError)).toMatchObject({
    name: 'RuntimeError',
    failure,
    message,
    cause,
  });
});

describe('the error of a socket', () => {
  test.each([
    ['ENOENT', 'missing'],
    ['ENOTDIR', 'missing'],
    ['EACCES', 'permission denied'],
    ['EPERM', 'permission denied'],
    ['ECONNREFUSED', 'refused'],
    ['EAGAIN', undefined],
    [undefined, undefined],
  ])('%s is %s', (code, expected) => {
    expect(socketErrorOf(code)).toBe(expected);
  });
});

test('only the status NOT_FOUND means not found', () => {
  expect(isNotFound(grpcError(5, 'not found'))).toBe(true);
  expect(isNotFound(grpcError(2, 'not found'))).toBe(false);
  expect(isNotFound(Object.assign(new Error('no'), { code: 'ENOENT' }))).toBe(false);
});
