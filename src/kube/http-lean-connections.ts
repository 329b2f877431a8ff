import type { Socket } from 'node:net';
import { LeanConnection } from './http-lean-connection.ts';

/** Keep-alive connections to one server, as many as there are requests under way. */
export class LeanConnections {
  readonly #dial: () => Socket;
  readonly #all = new Set<LeanConnection>();
  /** Last the one that was used last: the server closes those that are long idle. */
  readonly #idle: LeanConnection[] = [];
  #isRetired = false;

  /** `dial` begins to connect; its socket times out when nothing is sent for long. */
  constructor(dial: () => Socket) {
    this.#dial = dial;
  }

  /** An idle one, or a new one; whoever takes it must release it. */
  take(): LeanConnection {
    for (;;) {
      const connection = this.#idle.pop();
      // Of one that is being closed nobody has told yet.
      if (connection?.isOpen !== false) return connection ?? this.#create();
    }
  }

  dropIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  /** Keeps none any more; what is under way may end. */
  retire(): void {
    this.#isRetired = true;
    this.dropIdle();
  }

  close(): void {
    this.retire();
    for (const connection of this.#all) connection.destroy();
  }

  #create(): LeanConnection {
    const connection = new LeanConnection(this.#dial(), {
      onIdle: () => {
        if (this.#isRetired) connection.destroy();
        else this.#idle.push(connection);
      },
      onClosed: () => {
        this.#all.delete(connection);
        const at = this.#idle.indexOf(connection);
        if (at >= 0) this.#idle.splice(at, 1);
      },
    });
    this.#all.add(connection);
    return connection;
  }
}
