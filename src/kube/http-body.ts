import type { IncomingMessage } from 'node:http';
import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { HeldBytes } from './held-bytes.ts';
import { inflatedPieces } from './inflate.ts';

/** The API server's own limit for one object is 3 MiB; a page stays far below this. */
const maxBodyBytes = 64 * 1024 * 1024;
/** What is inflated and read in a few milliseconds. */
const turnBytes = 1024 * 1024;
/** One that held more is left to V8. */
const maxSpareBytes = 1024 * 1024;

/** The answer is absurdly long. */
export class OversizeError extends Error {
  override readonly name = 'OversizeError';
}

/** Throws OversizeError when the answer to `what` has become too long to be read. */
export function checkBodySize(sizeBytes: number, what: string): void {
  if (sizeBytes > maxBodyBytes) throw oversize(what);
}

/** Half an answer has come. */
export const brokenOff = (): Error => new Error('the connection was closed in the middle of the answer');

const oversize = (what: string): OversizeError =>
  new OversizeError(`the answer to ${what} is longer than ${maxBodyBytes} bytes`);

/**
 * Buffers for compressed bodies, used again and again: one that lives as long as a page of pods takes has grown old by then, and V8
 * collects what is old so seldom while a list is read that ten megabytes of them wait for it.
 */
export class BodyBuffers {
  readonly #spare: HeldBytes[] = [];

  take(): HeldBytes {
    return this.#spare.pop() ?? new HeldBytes();
  }

  give(buffer: HeldBytes): void {
    if (buffer.bytes.length > maxSpareBytes) return;
    buffer.clear();
    this.#spare.push(buffer);
  }
}

/** The whole body, unless it is absurdly long. */
export async function readBody(response: IncomingMessage, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await received(response, what, (chunk) => chunks.push(chunk));
  return plainBody(response, joined(chunks));
}

/** What a body stands for: a proxy may compress what nobody asked it to. */
export const plainBody = (
  { headers }: Pick<IncomingMessage, 'headers'>,
  body: Buffer,
): Buffer | Promise<Buffer> => (isCompressed({ headers }) ? inflated(body) : body);

interface Wanted {
  /** The request, for messages. */
  readonly what: string;
  /** Was asked for. */
  readonly mayBeCompressed: boolean;
}

/** The body piece by piece as it comes; of one that comes compressed, what it stands for, once all of it is there: then, if that was asked for, each piece is valid until the next. */
export async function* bodyPieces(
  response: IncomingMessage,
  { what, mayBeCompressed }: Wanted,
  buffers: BodyBuffers,
): AsyncGenerator<Buffer> {
  if (!isCompressed(response)) {
    yield* response as AsyncIterable<Buffer>;
    return;
  }
  // Whole, as it is short: to inflate each of the many small pieces by itself would cost a third more CPU.
  const held = buffers.take();
  await received(response, what, (chunk) => {
    held.add(chunk, 0, chunk.length);
  });
  try {
    const pieces = inflatedPieces(held.bytes);
    // A proxy may compress what nobody asked it to: who did not ask may keep what comes.
    yield* inTurns(mayBeCompressed ? pieces : copies(pieces));
  } finally {
    buffers.give(held);
  }
}

function* copies(pieces: Iterable<Buffer>): Generator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

/** A page of a thousand large pods must not hold up everything else. */
async function* inTurns(pieces: Iterable<Buffer>): AsyncGenerator<Buffer> {
  let sinceTurn = 0;
  for (const piece of pieces) {
    yield piece;
    sinceTurn += piece.length;
    if (sinceTurn < turnBytes) continue;
    sinceTurn = 0;
    await turnOfOthers();
  }
}

const isCompressed = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['content-encoding'] === 'gzip';

const inflated = (body: Buffer): Promise<Buffer> =>
  promisify(gunzip)(body, { maxOutputLength: maxBodyBytes });

/** Tells of each chunk of the body as it was sent; resolves after the last. */
function received(response: IncomingMessage, what: string, onChunk: (chunk: Buffer) => void): Promise<void> {
  let sizeBytes = 0;
  // Listeners, not its iterator: that costs as much as all the rest of a short answer.
  return new Promise((resolve, reject) => {
    response.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      onChunk(chunk);
      if (sizeBytes <= maxBodyBytes) return;
      reject(oversize(what));
      response.destroy();
    });
    response.on('end', resolve);
    response.on('error', reject);
    // Half an answer has neither an end nor, always, an error.
    response.on('close', () => {
      if (!response.complete) reject(brokenOff());
    });
  });
}

/** Most answers come in one piece. */
const joined = (chunks: readonly Buffer[]): Buffer =>
  chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
