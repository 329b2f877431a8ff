import type { Socket } from 'node:net';
import { AnswerReader, type Answer } from './http-answer.ts';
import { brokenOff } from './http-body.ts';

interface Owner {
  /** May carry another request. */
  onIdle(): void;
  onClosed(): void;
}

interface Waiting {
  readonly reader: AnswerReader;
  resolve(answer: Answer): void;
  reject(err: unknown): void;
}

/** One connection of HTTP/1.1 that carries one request at a time. Whatever is not the one answer it waits for ends it. */
export class LeanConnection {
  readonly #socket: Socket;
  readonly #owner: Owner;
  #waiting: Waiting | undefined;
  #hasServed = false;
  #hasHeard = false;
  #isReusable = false;
  #error: unknown;

  constructor(socket: Socket, owner: Owner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.on('data', (piece: Buffer) => {
      this.#receive(piece);
    });
    socket.on('timeout', () => {
      if (this.#waiting === undefined) this.destroy();
    });
    socket.on('error', (err) => (this.#error = err));
    socket.on('end', () => {
      this.#ended();
    });
    socket.on('close', () => {
      this.#closed();
    });
  }

  /** It was an idle one, and nothing has come of the answer yet: when it breaks now, the server had given it up before. */
  get isStale(): boolean {
    return this.#hasServed && !this.#hasHeard;
  }

  /** As far as anybody can tell by now. */
  get isOpen(): boolean {
    return this.#socket.writable;
  }

  /** Resolves with the whole answer to the whole request `message`; `what` names it. Then it is to be released. */
  exchange(message: string, what: string): Promise<Answer> {
    this.#hasHeard = false;
    this.#isReusable = false;
    if (this.#hasServed) this.#socket.ref();
    return new Promise((resolve, reject) => {
      this.#waiting = { reader: new AnswerReader(what), resolve, reject };
      this.#socket.write(message);
    });
  }

  /** Nobody waits for it any more, or breaks it off: it may have the next request. */
  release(): void {
    if (!this.#isReusable) return;
    // An idle one keeps no process alive.
    this.#socket.unref();
    this.#owner.onIdle();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #receive(piece: Buffer): void {
    this.#hasHeard = true;
    try {
      const answer = this.#waiting?.reader.push(piece);
      if (answer !== undefined) this.#answered(answer);
      else if (this.#waiting === undefined) this.destroy();
    } catch (err) {
      this.#error = err;
      this.destroy();
    }
  }

  #answered(answer: Answer): void {
    this.#waiting?.resolve(answer);
    this.#waiting = undefined;
    this.#hasServed = true;
    this.#isReusable = answer.isReusable;
    if (!answer.isReusable) this.destroy();
  }

  /** By the server, which may be how it ends an answer; what is broken off here, at a deadline, is none. */
  #ended(): void {
    const answer = this.#waiting?.reader.end();
    if (answer === undefined) this.destroy();
    else this.#answered(answer);
  }

  #closed(): void {
    this.#owner.onClosed();
    this.#waiting?.reject(this.#error ?? this.#hangUp());
    this.#waiting = undefined;
  }

  /** As node:http has it. */
  #hangUp(): Error {
    if (this.#hasHeard) return brokenOff();
    return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  }
}
