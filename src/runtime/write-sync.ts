import { writeSync } from 'node:fs';
import { errorCode } from './errors.ts';

// A full non-blocking pipe fails with EAGAIN; after 400 waits without progress its reader is stuck.
const waitMs = 5;
const maxWaits = 400;

/** Writes `text` synchronously, so that a crash right after loses nothing. A closed or stuck reader is not an error. */
export function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0, waits = 0; written < bytes.length && waits < maxWaits;) {
    const count = writeSome(fd, bytes.subarray(written));
    if (count === undefined) return;
    written += count;
    waits = count > 0 ? 0 : waits + 1;
  }
}

/** Bytes written, 0 after waiting for a full pipe, undefined when the reader has closed it. */
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
