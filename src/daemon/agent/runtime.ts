import type { ContainerRuntime, RuntimeVersion } from '../../cri/runtime.ts';
import { servesCri } from '../../cri/probe.ts';
import { findSocket } from '../../cri/sockets.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import type { RuntimeTrouble } from '../../agent/report/facts.ts';
import { isForeign } from '../../gc/runtime-failures.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Check } from '../../runtime/serving/health.ts';
import type { Logger } from '../../runtime/logging/logger.ts';

interface RuntimeWatchDeps {
  readonly runtime: Pick<ContainerRuntime, 'version' | 'checkReady'>;
  readonly socket: string;
  readonly log: Logger;
  /** Called when the runtime becomes ready, and when its version changed. */
  readonly onReady: () => void;
}

export class RuntimeWatch implements Pick<Check, 'check'> {
  readonly #deps: RuntimeWatchDeps;
  #trouble: string | undefined = 'not checked yet';
  #isForeign = false;
  #version: RuntimeVersion | undefined;

  constructor(deps: RuntimeWatchDeps) {
    this.#deps = deps;
  }

  /** The version of the last response; undefined before the first. */
  get version(): RuntimeVersion | undefined {
    return this.#version;
  }

  check(): string | undefined {
    return this.#trouble;
  }

  /** Why nothing is collected; undefined = the runtime is ready. */
  get trouble(): RuntimeTrouble | undefined {
    return this.#trouble === undefined ? undefined : { message: this.#trouble, isForeign: this.#isForeign };
  }

  /** Checks once; rejects only when aborted. */
  async probe(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#deps;
    try {
      const version = await runtime.version(signal);
      await runtime.checkReady(signal);
      this.#succeeded(version);
    } catch (err) {
      signal.throwIfAborted();
      this.#failed(err);
    }
  }

  #succeeded(version: RuntimeVersion): void {
    const { socket, log, onReady } = this.#deps;
    const isNews = this.#trouble !== undefined || version.version !== this.#version?.version;
    this.#trouble = undefined;
    this.#version = version;
    if (!isNews) return;
    log.info({ runtime: version.name, version: version.version, socket }, 'container runtime answers');
    onReady();
  }

  /** Logs each new cause once: the check runs every few seconds. */
  #failed(err: unknown): void {
    const trouble = errorLine(err);
    if (trouble !== this.#trouble)
      this.#deps.log.warn({ err }, 'container runtime is not available, nothing is collected until it is');
    this.#trouble = trouble;
    this.#isForeign = isForeign(err);
  }
}

interface SocketWait {
  /** `--cri-socket`; undefined = the first on which a runtime responds. */
  readonly socket: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called with the reason why there is none yet, in one line. */
  readonly onTrouble: (line: string) => void;
}

const searchMs = 5_000;

/** Searches the runtime's socket until a runtime has responded on one, and returns its path; undefined when the signal aborts first. */
export async function waitForSocket(
  { socket, clock, log, onTrouble }: SocketWait,
  signal: AbortSignal,
): Promise<string | undefined> {
  let logged = '';
  while (!signal.aborted) {
    const found = await search(socket, signal);
    if (typeof found === 'string' || found === undefined) return found;
    const line = errorLine(found);
    if (line !== logged) log.warn({ err: found }, 'no container runtime found, waiting for one');
    logged = line;
    onTrouble(line);
    await clock.sleep(searchMs, signal);
  }
  return undefined;
}

/** Returns the path, an error if there is none, or undefined when the signal aborted. */
async function search(socket: string | undefined, signal: AbortSignal): Promise<string | Error | undefined> {
  try {
    return await findSocket({ configured: socket, servesCri }, signal);
  } catch (err) {
    return signal.aborted || !(err instanceof Error) ? undefined : err;
  }
}
