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
  /** Has `tls.crt` and `tls.key`, as a mounted Secret does. */
  readonly directory: string;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly log: Logger;
}

/** The kubelet brings a changed Secret within a minute or so; controller-runtime looks this often too. */
const readEveryMs = 10_000;

/** The certificate that a server shows, as it is in its directory now. */
export class ServingCertificate {
  readonly #options: ServingCertificateOptions;

  constructor(options: ServingCertificateOptions) {
    this.#options = options;
  }

  /** Rejects when a file is missing, or the two do not belong together. */
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
   * Tells of each other pair than `shown` until the signal aborts. It looks at the files, not at events: a Secret's files change by one
   * symbolic link, others one by one. Half of a change does not belong together and waits for the next look.
   */
  async follow(shown: KeyPair, onChange: (pair: KeyPair) => void, signal: AbortSignal): Promise<void> {
    const { directory, clock, log } = this.#options;
    let last = { pair: shown, trouble: '' };
    for (;;) {
      await clock.sleep(readEveryMs, signal);
      if (signal.aborted) return;
      const now = await this.#read(last.pair);
      if (now.trouble !== '' && now.trouble !== last.trouble)
        log.warn({ reason: now.trouble }, 'serving certificate cannot be read, the old one stays');
      if (now.pair !== last.pair) {
        onChange(now.pair);
        log.info({ directory }, 'serving certificate replaced');
      }
      last = now;
    }
  }

  async #read(known: KeyPair): Promise<{ readonly pair: KeyPair; readonly trouble: string }> {
    try {
      const pair = await this.read();
      const isSame = pair.cert === known.cert && pair.key === known.key;
      return { pair: isSame ? known : pair, trouble: '' };
    } catch (err) {
      return { pair: known, trouble: errorLine(err) };
    }
  }
}
