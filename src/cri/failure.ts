import { connect } from 'node:net';
import { status } from './grpc.ts';
import { DeadlinePassed } from './call.ts';
import { NotReady } from './convert.ts';
import { RuntimeError } from './runtime.ts';
import type { RuntimeFailure } from './runtime.ts';

/** Of a call that failed: what was asked, and of whom. */
export interface FailedCall {
  readonly method: string;
  readonly socket: string;
  readonly deadlineMs: number;
}

/** What is wrong with a socket itself; undefined = somebody listens there. */
export type SocketTrouble = 'missing' | 'permission denied' | 'refused' | undefined;

/** Turns what a call failed with into the error callers see, after a look at the socket when there was no connection. */
export async function runtimeError(cause: unknown, call: FailedCall): Promise<RuntimeError> {
  if (codeOf(cause) !== status.UNAVAILABLE) return describeFailure(cause, call, undefined);
  return describeFailure(cause, call, await socketTrouble(call.socket));
}

/** The one line for each way a call fails. */
export function describeFailure(cause: unknown, call: FailedCall, trouble: SocketTrouble): RuntimeError {
  const { method, socket } = call;
  const error = (text: string, failure: RuntimeFailure): RuntimeError =>
    new RuntimeError(`${method}: ${oneLine(text)}`, failure, { cause });
  if (cause instanceof NotReady) {
    const text = `${method}: the container runtime at ${socket} is not ready: ${oneLine(cause.message)}`;
    return new RuntimeError(text, 'unavailable');
  }
  if (cause instanceof DeadlinePassed) {
    return error(
      `the container runtime at ${socket} did not answer within ${call.deadlineMs / 1000} s`,
      'deadline',
    );
  }
  if (trouble !== undefined) return error(...troubled(socket, trouble));
  const details = detailsOf(cause);
  const code = codeOf(cause);
  switch (code) {
    case status.UNAVAILABLE:
      return error(`the container runtime at ${socket} is away: ${details}`, 'unavailable');
    case status.DEADLINE_EXCEEDED:
      return error(`the container runtime at ${socket} gave up: ${details}`, 'deadline');
    case status.PERMISSION_DENIED:
    case status.UNAUTHENTICATED:
      return error(`the container runtime at ${socket} denies it: ${details}`, 'denied');
    case undefined:
    default:
      return error(`the container runtime at ${socket} failed (${codeName(code)}): ${details}`, 'other');
  }
}

/** True when the runtime says that there is no such thing. */
export const isNotFound = (err: unknown): boolean => codeOf(err) === status.NOT_FOUND;

/** What connecting to a socket meets; a socket that neither takes nor refuses within a second is left to the call's own error. */
function socketTrouble(path: string): Promise<SocketTrouble> {
  return new Promise((resolve) => {
    const socket = connect({ path, timeout: 1000 });
    const done = (trouble: SocketTrouble): void => {
      socket.destroy();
      resolve(trouble);
    };
    socket.once('connect', () => {
      done(undefined);
    });
    socket.once('timeout', () => {
      done(undefined);
    });
    socket.once('error', (err) => {
      done(troubleOf('code' in err ? err.code : undefined));
    });
  });
}

/** What an error code of connect(2) means for a socket. */
export function troubleOf(code: unknown): SocketTrouble {
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing';
  if (code === 'EACCES' || code === 'EPERM') return 'permission denied';
  if (code === 'ECONNREFUSED' || code === 'ENOTSOCK') return 'refused';
  return undefined;
}

function troubled(socket: string, trouble: NonNullable<SocketTrouble>): [string, RuntimeFailure] {
  switch (trouble) {
    case 'missing':
      return [`the container runtime's socket ${socket} is missing`, 'unavailable'];
    case 'refused':
      return [
        `the container runtime's socket ${socket} refuses connections: nothing listens there`,
        'unavailable',
      ];
    case 'permission denied':
      return [`the container runtime's socket ${socket} cannot be opened: permission denied`, 'denied'];
  }
}

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
