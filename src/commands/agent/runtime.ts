import type { ContainerRuntime, RuntimeVersion } from '../../cri/runtime.ts';
import { answersCri } from '../../cri/probe.ts';
import { findSocket } from '../../cri/sockets.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Check } from '../../runtime/serving/health.ts';
import type { Logger } from '../../runtime/logging/logger.ts';

interface RuntimeWatchDeps {
  readonly runtime: Pick<ContainerRuntime, 'version' | 'checkReady'>;
  /** For log lines. */
  readonly socket: string;
  readonly log: Logger;
  /** The runtime is there for the first time, or again. */
  readonly onReady: () => void;
}

/** Whether the container runtime answers and is ready, and which one it is. */
export class RuntimeWatch implements Pick<Check, 'check'> {
  readonly #deps: RuntimeWatchDeps;
  #trouble: string | undefined = 'not asked yet';
  #version: RuntimeVersion | undefined;

  constructor(deps: RuntimeWatchDeps) {
    this.#deps = deps;
  }

  /** As it last answered; undefined before it ever did. */
  get version(): RuntimeVersion | undefined {
    return this.#version;
  }

  check(): string | undefined {
    return this.#trouble;
  }

  /** Asks once; rejects only when aborted. */
  async look(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#deps;
    try {
      const version = await runtime.version(signal);
      await runtime.checkReady(signal);
      this.#answered(version);
    } catch (err) {
      signal.throwIfAborted();
      this.#failed(err);
    }
  }

  #answered(version: RuntimeVersion): void {
    const { socket, log, onReady } = this.#deps;
    const isNews = this.#trouble !== undefined || version.version !== this.#version?.version;
    this.#trouble = undefined;
    this.#version = version;
    if (!isNews) return;
    log.info({ runtime: version.name, version: version.version, socket }, 'container runtime answers');
    onReady();
  }

  /** Once for each new cause: it comes back every few seconds. */
  #failed(err: unknown): void {
    const trouble = errorLine(err);
    if (trouble !== this.#trouble)
      this.#deps.log.warn({ err }, 'container runtime is not available, nothing is collected until it is');
    this.#trouble = trouble;
  }
}

interface SocketWait {
  /** `--cri-socket`; undefined = whichever there is. */
  readonly wanted: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Told in one line why there is none yet. */
  readonly onTrouble: (line: string) => void;
}

/** Sooner than a person looks again. */
const searchMs = 5_000;

/** The path of the runtime's socket, as soon as there is one; undefined when the signal aborts first. */
export async function waitForSocket(
  { wanted, clock, log, onTrouble }: SocketWait,
  signal: AbortSignal,
): Promise<string | undefined> {
  let told = '';
  while (!signal.aborted) {
    const found = await search(wanted, signal);
    if (typeof found === 'string' || found === undefined) return found;
    const line = errorLine(found);
    if (line !== told) log.warn({ err: found }, 'no container runtime found, waiting for one');
    told = line;
    onTrouble(line);
    await clock.sleep(searchMs, signal);
  }
  return undefined;
}

/** The path, why there is none, or undefined when the signal aborted. */
async function search(wanted: string | undefined, signal: AbortSignal): Promise<string | Error | undefined> {
  try {
    return await findSocket({ wanted, answers: answersCri }, signal);
  } catch (err) {
    return signal.aborted || !(err instanceof Error) ? undefined : err;
  }
}
