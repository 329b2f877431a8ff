import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';

/** The API server's own limit for one object is 3 MiB; a page of 500 stays far below this. */
const maxBodyBytes = 64 * 1024 * 1024;
/** Larger pieces cost no less CPU, but more memory. */
const inflatedPieceBytes = 64 * 1024;

/** The answer is absurdly long. */
export class OversizeError extends Error {
  override readonly name = 'OversizeError';
}

/** The whole body, unless it is absurdly long. */
export function readBody(response: IncomingMessage, what: string): Promise<Buffer> {
  const body = received(response, what);
  return isCompressed(response) ? body.then(inflated) : body;
}

/** The body piece by piece as it comes; of one that comes compressed, what it stands for, once all of it is there. */
export async function* bodyPieces(response: IncomingMessage, what: string): AsyncGenerator<Buffer> {
  if (!isCompressed(response)) {
    yield* response as AsyncIterable<Buffer>;
    return;
  }
  // Whole, as it is short: to inflate each of the many small pieces by itself would cost a third more CPU.
  const body = await received(response, what);
  const inflating = createGunzip({ chunkSize: inflatedPieceBytes });
  inflating.end(body);
  yield* inflating as AsyncIterable<Buffer>;
}

const isCompressed = ({ headers }: IncomingMessage): boolean => headers['content-encoding'] === 'gzip';

const inflated = (body: Buffer): Promise<Buffer> =>
  promisify(gunzip)(body, { maxOutputLength: maxBodyBytes });

/** The whole body as it was sent. */
function received(response: IncomingMessage, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  // Listeners, not its iterator: that costs as much as all the rest of a short answer.
  return new Promise((resolve, reject) => {
    response.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length;
      chunks.push(chunk);
      if (sizeBytes <= maxBodyBytes) return;
      reject(new OversizeError(`the answer to ${what} is longer than ${maxBodyBytes} bytes`));
      response.destroy();
    });
    response.on('end', () => {
      resolve(joined(chunks, sizeBytes));
    });
    response.on('error', reject);
    // Half an answer has neither an end nor, always, an error.
    response.on('close', () => {
      if (!response.complete) reject(new Error('the connection was closed in the middle of the answer'));
    });
  });
}

/** Most answers come in one piece. */
const joined = (chunks: readonly Buffer[], sizeBytes: number): Buffer =>
  chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, sizeBytes);
