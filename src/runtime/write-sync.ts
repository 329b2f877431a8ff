import { writeSync } from 'node:fs';
import { errorCode } from './errors.ts';

// A pipe that a parent made non-blocking says EAGAIN when full; after this much waiting without progress its reader is stuck.
const waitMs = 5;
const maxWaits = 400;

/** Writes `text` before it returns, so that a crash right after loses nothing. A reader that went away or is stuck is no error. */
export function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0, waits = 0; written < bytes.length && waits < maxWaits;) {
    const count = writeSome(fd, bytes.subarray(written));
    if (count === undefined) return;
    written += count;
    waits = count > 0 ? 0 : waits + 1;
  }
}

/** Bytes written, 0 after waiting for a full pipe, undefined when nobody reads any more. */
function writeSome(fd: number, bytes: Uint8Array): number | undefined {
  try {
    return writeSync(fd, bytes);
  } catch (err) {
    const code = errorCode(err);
    if (code === 'EPIPE') return undefined;
    if (code !== 'EAGAIN') throw err;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitMs);
    return 0;
  }
}
