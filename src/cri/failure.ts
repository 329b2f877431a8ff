import { connect } from 'node:net';
import { status } from './grpc.ts';
import { DeadlinePassed } from './call.ts';
import { NotReady } from './convert.ts';
import { RuntimeError } from './runtime.ts';
import type { RuntimeFailure } from './runtime.ts';

interface FailedCall {
  readonly method: string;
  readonly socket: string;
  readonly deadlineMs: number;
}

/** The state of the socket; undefined = a process listens there. */
type SocketError = 'missing' | 'permission denied' | 'refused' | undefined;

/** Turns the cause of a failed call into RuntimeError; tests the socket if there was no connection. */
export async function runtimeError(cause: unknown, call: FailedCall): Promise<RuntimeError> {
  if (codeOf(cause) !== status.UNAVAILABLE) return describeFailure(cause, call, undefined);
  return describeFailure(cause, call, await testSocket(call.socket));
}

export function describeFailure(cause: unknown, call: FailedCall, socketError: SocketError): RuntimeError {
  const { method, socket } = call;
  const error = (text: string, failure: RuntimeFailure): RuntimeError =>
    new RuntimeError(`${method}: ${oneLine(text)}`, failure, { cause });
  if (cause instanceof NotReady) {
    const text = `${method}: the container runtime at ${socket} is not ready: ${oneLine(cause.message)}`;
    return new RuntimeError(text, 'unavailable');
  }
  if (cause instanceof DeadlinePassed) {
    return error(
      `the container runtime at ${socket} did not respond within ${call.deadlineMs / 1000} s`,
      'deadline',
    );
  }
  if (socketError !== undefined) {
    const [problem, failure] = socketProblems[socketError];
    return error(`the container runtime's socket ${socket} ${problem}`, failure);
  }
  const details = detailsOf(cause);
  const code = codeOf(cause);
  switch (code) {
    case status.UNAVAILABLE:
      return error(`the container runtime at ${socket} is not available: ${details}`, 'unavailable');
    case status.DEADLINE_EXCEEDED:
      return error(`the container runtime at ${socket} timed out: ${details}`, 'deadline');
    case status.PERMISSION_DENIED:
    case status.UNAUTHENTICATED:
      return error(`the container runtime at ${socket} denied the call: ${details}`, 'denied');
    case undefined:
    default:
      return error(`the container runtime at ${socket} failed (${codeName(code)}): ${details}`, 'other');
  }
}

export const isUnimplemented = (err: unknown): boolean => codeOf(err) === status.UNIMPLEMENTED;

export const isNotFound = (err: unknown): boolean => codeOf(err) === status.NOT_FOUND;

/** Whether another client removes the container at this moment. containerd refuses the second request with a text and no code of its own (internal/cri/server/container_remove.go). */
export const isBeingRemoved = (err: unknown): boolean =>
  codeOf(err) === status.UNKNOWN && detailsOf(err).includes('already in removing state');

/** Connects to the socket; undefined if that succeeds, or takes longer than a second. */
function testSocket(path: string): Promise<SocketError> {
  return new Promise((resolve) => {
    const socket = connect({ path, timeout: 1000 });
    const done = (socketError: SocketError): void => {
      socket.destroy();
      resolve(socketError);
    };
    socket.once('connect', () => done(undefined));
    socket.once('timeout', () => done(undefined));
    socket.once('error', (err) => done(socketErrorOf('code' in err ? err.code : undefined)));
  });
}

function socketErrorOf(code: unknown): SocketError {
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  return code === 'ECONNREFUSED' || code === 'ENOTSOCK' ? 'refused' : undefined;
}

const socketProblems: Readonly<Record<NonNullable<SocketError>, readonly [string, RuntimeFailure]>> = {
  missing: ['is missing', 'unavailable'],
  refused: ['refuses connections: nothing listens there', 'unavailable'],
  'permission denied': ['cannot be opened: permission denied', 'denied'],
};

function codeOf(err: unknown): number | undefined {
  return err instanceof Error && 'code' in err && typeof err.code === 'number' ? err.code : undefined;
}

function codeName(code: number | undefined): string {
  return code === undefined ? 'no status' : (status[code] ?? `status ${code}`);
}

function detailsOf(err: unknown): string {
  if (!(err instanceof Error)) return String(err);
  return 'details' in err && typeof err.details === 'string' && err.details !== ''
    ? err.details
    : err.message;
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ').trim();
