import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Turns } from '../runtime/turns.ts';

/** Limit of a body that is held whole. The API server's own limit for one object is 3 MiB; a list is read object by object. */
const maxBodyBytes = 64 * 1024 * 1024;
/** A longer body is read whole only while no other is: the response to a write repeats the object, and 64 of 1.4 MB would be 90 MB. */
const largeBytes = 256 * 1024;
/** Fewer hand-overs to the thread that decompresses than with the default of 16 KiB. */
const gunzipBytes = 64 * 1024;

/** The body is longer than anything we read whole. */
export class OversizeError extends Error {
  override readonly name = 'OversizeError';
}

/** Chunks of a body as they arrive, decompressed. Rejects when the body ends early. */
export function bodyChunks(response: IncomingMessage): AsyncIterable<Buffer> {
  if (response.headers['content-encoding'] !== 'gzip') return response;
  // Whoever reads the output gets the error.
  return pipeline(response, createGunzip({ chunkSize: gunzipBytes }), () => undefined);
}

/** The whole body of the response to the request `what`; holds `large` while it reads a long one. Rejects with OversizeError over the limit. */
export async function readBody(response: IncomingMessage, what: string, large: Turns): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  let release: (() => void) | undefined;
  try {
    for await (const chunk of bodyChunks(response)) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBodyBytes)
        throw new OversizeError(`the answer to ${what} is longer than ${maxBodyBytes} bytes`);
      chunks.push(chunk);
      if (sizeBytes > largeBytes) release ??= await acquire(large);
    }
  } finally {
    release?.();
  }
  return Buffer.concat(chunks);
}

/** Whoever has a turn reads until its deadline at most, so nobody waits for long. */
const never = new AbortController().signal;

/** Waits for a turn; returns how to end it. */
const acquire = (turns: Turns): Promise<() => void> =>
  new Promise((acquired) => {
    const turn = (): Promise<void> =>
      new Promise((release) => {
        acquired(release);
      });
    void turns.take(turn, never);
  });
