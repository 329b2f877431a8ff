import type { Socket } from 'node:net';
import { AnswerReader, type Answer } from './http-answer.ts';

interface Owner {
  /** The answer has come, and the connection may carry another request. */
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
    socket.on('close', () => {
      this.#closed();
    });
  }

  /** It was an idle one, and nothing has come of the answer yet: when it breaks now, the server had given it up before. */
  get isStale(): boolean {
    return this.#hasServed && !this.#hasHeard;
  }

  /** Resolves with the whole answer to the whole request `message`; `what` names it. */
  exchange(message: string, what: string): Promise<Answer> {
    this.#hasHeard = false;
    if (this.#hasServed) this.#socket.ref();
    return new Promise((resolve, reject) => {
      this.#waiting = { reader: new AnswerReader(what), resolve, reject };
      this.#socket.write(message);
    });
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
    if (!answer.isReusable) {
      this.destroy();
      return;
    }
    // An idle one keeps no process alive.
    this.#socket.unref();
    this.#owner.onIdle();
  }

  #closed(): void {
    this.#owner.onClosed();
    const waiting = this.#waiting;
    this.#waiting = undefined;
    const answer = this.#error === undefined ? waiting?.reader.end() : undefined;
    if (answer === undefined) waiting?.reject(this.#error ?? this.#hangUp());
    else waiting?.resolve(answer);
  }

  /** As node:http has it. */
  #hangUp(): Error {
    if (this.#hasHeard) return new Error('the connection was closed in the middle of the answer');
    return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  }
}
