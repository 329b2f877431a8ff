import type { IncomingMessage } from 'node:http';
import { setImmediate as turnOfOthers } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { HeldBytes } from './held-bytes.ts';
import { Inflater } from './inflate.ts';
import type { Turns } from '../runtime/turns.ts';

/** The API server's own limit for one object is 3 MiB; a list is read object by object. */
const maxBodyBytes = 64 * 1024 * 1024;
/** Of a body that is read whole: what all requests under way may hold at a time. */
const largeBytes = 256 * 1024;
/** What is inflated and read in a few milliseconds. */
const turnBytes = 1024 * 1024;
/** Of a compressed body: four pages of a thousand ordinary pods. A buffer that held more is left to V8. */
const maxHeldBytes = 1024 * 1024;

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
    if (buffer.bytes.length > maxHeldBytes) return;
    buffer.clear();
    this.#spare.push(buffer);
  }
}

/** The whole body, unless it is absurdly long; of large ones one at a time comes in. */
export async function readBody(response: IncomingMessage, what: string, large: Turns): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const keep = (chunk: Buffer): void => {
    sizeBytes += chunk.length;
    checkBodySize(sizeBytes, what);
    chunks.push(chunk);
  };
  const isWhole = await received(response, (chunk) => {
    keep(chunk);
    return sizeBytes <= largeBytes;
  });
  // What a pod's owners are called is in the answer to every act on it: 64 of them at a time may be 90 MB.
  if (!isWhole)
    await large.take(async () => {
      for await (const chunk of response as AsyncIterable<Buffer>) keep(chunk);
    }, never);
  return plainBody(response, joined(chunks));
}

/** A turn is not given up by itself: the body of an exchange that was broken off ends at once. */
const never = new AbortController().signal;

/** What a body stands for: a proxy may compress what nobody asked it to. */
export const plainBody = (
  { headers }: Pick<IncomingMessage, 'headers'>,
  body: Buffer,
): Buffer | Promise<Buffer> => (isCompressed({ headers }) ? inflated(body) : body);

/**
 * The body piece by piece as it comes; of one that comes compressed, what it stands for, from when a good part of it is there: then, if that was
 * asked for, each piece is valid until the next.
 */
export async function* bodyPieces(
  response: IncomingMessage,
  mayBeCompressed: boolean,
  buffers: BodyBuffers,
): AsyncGenerator<Buffer> {
  if (!isCompressed(response)) {
    yield* response as AsyncIterable<Buffer>;
    return;
  }
  const held = buffers.take();
  const inflater = new Inflater();
  try {
    let sinceTurn = 0;
    for await (const piece of inflatedPieces(inflater, compressedParts(response, held))) {
      // A proxy may compress what nobody asked it to: who did not ask may keep what comes.
      yield mayBeCompressed ? piece : Buffer.from(piece);
      sinceTurn += piece.length;
      if (sinceTurn < turnBytes) continue;
      sinceTurn = 0;
      // A page of a thousand large pods must not hold up everything else.
      await turnOfOthers();
    }
  } finally {
    inflater.close();
    buffers.give(held);
  }
}

async function* inflatedPieces(
  inflater: Inflater,
  parts: AsyncIterable<CompressedPart>,
): AsyncGenerator<Buffer> {
  for await (const { part, isLast } of parts) yield* inflater.pieces(part, isLast);
}

interface CompressedPart {
  readonly part: Buffer;
  readonly isLast: boolean;
}

/** Mostly all of it, as it is short: to inflate each of the many small pieces by itself would cost a third more CPU. The rest is not held. */
async function* compressedParts(response: IncomingMessage, held: HeldBytes): AsyncGenerator<CompressedPart> {
  const isLast = await received(response, (chunk) => {
    held.add(chunk, 0, chunk.length);
    return held.bytes.length <= maxHeldBytes;
  });
  yield { part: held.bytes, isLast };
  if (isLast) return;
  for await (const part of response as AsyncIterable<Buffer>) yield { part, isLast: false };
  yield { part: Buffer.alloc(0), isLast: true };
}

const isCompressed = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  headers['content-encoding'] === 'gzip';

const inflated = (body: Buffer): Promise<Buffer> =>
  promisify(gunzip)(body, { maxOutputLength: maxBodyBytes });

/** Hands on each chunk of the body as it was sent, until `onChunk` has enough (false: the rest is still to be read) or after the last (true). */
function received(response: IncomingMessage, onChunk: (chunk: Buffer) => boolean): Promise<boolean> {
  // Listeners, not its iterator: that costs as much as all the rest of a short answer.
  return new Promise((resolve, reject) => {
    const onData = (chunk: Buffer): void => {
      try {
        if (onChunk(chunk)) return;
        response.off('data', onData);
        response.pause();
        resolve(false);
      } catch (err) {
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- it is what was thrown
        reject(err);
        response.destroy();
      }
    };
    response.on('data', onData);
    response.on('end', () => {
      resolve(true);
    });
    // Stays for good: a response may fail between two reads, too.
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
