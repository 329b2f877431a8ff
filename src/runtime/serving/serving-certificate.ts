import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../scheduling/clock.ts';
import { errorLine } from '../errors.ts';
import type { Logger } from '../logging/logger.ts';

/** PEM. */
interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

interface ServingCertificateOptions {
  /** Contains `tls.crt` and `tls.key`, like a mounted Secret. */
  readonly directory: string;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
}

/** The kubelet updates a mounted Secret within about a minute; controller-runtime reads as often. */
const readEveryMs = 10_000;

export class ServingCertificate {
  readonly #options: ServingCertificateOptions;

  constructor(options: ServingCertificateOptions) {
    this.#options = options;
  }

  /** Rejects if a file is missing or the two do not match. */
  async read(): Promise<KeyPair> {
    const { directory } = this.#options;
    try {
      const [cert, key] = await Promise.all(
        ['tls.crt', 'tls.key'].map((name) => readFile(join(directory, name), 'utf8')),
      );
      const pair = { cert: cert ?? '', key: key ?? '' };
      createSecureContext(pair);
      return pair;
    } catch (err) {
      throw new Error(`reading the serving certificate in ${directory}`, { cause: err });
    }
  }

  /**
   * Calls `onChange` for each new pair until the signal aborts. Reads the files periodically instead of watching them: a Secret's files change
   * by one symbolic link, others one by one. A half-finished change does not match and is read again.
   */
  async follow(current: KeyPair, onChange: (pair: KeyPair) => void, signal: AbortSignal): Promise<void> {
    const { directory, clock, log } = this.#options;
    let last = { pair: current, problem: '' };
    for (;;) {
      await clock.sleep(readEveryMs, signal);
      if (signal.aborted) return;
      const now = await this.#read(last.pair);
      if (now.problem !== '' && now.problem !== last.problem)
        log.warn({ reason: now.problem }, 'serving certificate cannot be read, keeping the old one');
      if (now.pair !== last.pair) {
        onChange(now.pair);
        log.info({ directory }, 'serving certificate replaced');
      }
      last = now;
    }
  }

  async #read(known: KeyPair): Promise<{ readonly pair: KeyPair; readonly problem: string }> {
    try {
      const pair = await this.read();
      const isSame = pair.cert === known.cert && pair.key === known.key;
      return { pair: isSame ? known : pair, problem: '' };
    } catch (err) {
      return { pair: known, problem: errorLine(err) };
    }
  }
}
