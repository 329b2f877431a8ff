import { once } from 'node:events';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** How a fault disturbs the writing of an answer. */
export interface Disturbance {
  /** The connection breaks after so many bytes of the body, in the middle of whatever is there. */
  readonly cutAfterBytes?: number;
  /** A pause before each piece of the body. */
  readonly pauseMs?: number;
}

/** A client that does not read is dropped when so much waits for it. */
const maxWaitingBytes = 256 * 1024 * 1024;

/** An answer on its way to the client. */
export class Reply {
  readonly #response: ServerResponse;
  readonly #pauseMs: number;
  #bytesLeft: number;

  constructor(response: ServerResponse, { cutAfterBytes = Infinity, pauseMs = 0 }: Disturbance) {
    this.#response = response;
    this.#bytesLeft = cutAfterBytes;
    this.#pauseMs = pauseMs;
  }

  head(code: number, headers: OutgoingHttpHeaders): void {
    this.#response.writeHead(code, headers);
    this.#response.flushHeaders();
  }

  write(chunk: Uint8Array): void {
    if (this.#response.destroyed || this.#response.writableEnded || this.#bytesLeft <= 0) return;
    this.#bytesLeft -= chunk.length;
    if (this.#bytesLeft <= 0) this.#cut(chunk.subarray(0, chunk.length + this.#bytesLeft));
    else this.#response.write(chunk);
    if (this.#response.writableLength > maxWaitingBytes) this.#response.destroy();
  }

  /** Resolves when the client can take more, or will not take anything any more. */
  async drained(): Promise<void> {
    if (this.#pauseMs > 0) await delay(this.#pauseMs);
    const response = this.#response;
    if (!response.writableNeedDrain || response.destroyed) return;
    const done = new AbortController();
    const { signal } = done;
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
    done.abort();
  }

  end(): void {
    if (this.#bytesLeft > 0) this.#response.end();
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener);
  }

  #cut(rest: Uint8Array): void {
    const response = this.#response;
    response.write(rest, () => {
      response.destroy();
    });
  }
}
