import { onAbort } from '../../runtime/scheduling/abort.ts';
import type { Identified } from './objects.ts';
import type { Reflector, Store } from './reflector.ts';
import type { Cache, StaleCache } from './staleness.ts';

/** A watch that starts when its store is first requested. */
export class OnDemand<T extends Identified> implements Cache {
  readonly resource: string;
  readonly #make: () => Reflector<T>;
  /** Called when the watch starts. */
  readonly #onStart: () => void;
  #start: (() => void) | undefined;
  #reflector: Reflector<T> | undefined;

  constructor(resource: string, make: () => Reflector<T>, onStart: () => void) {
    this.resource = resource;
    this.#make = make;
    this.#onStart = onStart;
  }

  /** Never before the first request. */
  get stale(): StaleCache | undefined {
    return this.#reflector?.stale;
  }

  /** Its first list is under way. */
  get isStarting(): boolean {
    return this.#reflector?.isStarting === true;
  }

  store(): Store<T> {
    if (this.#reflector !== undefined) return this.#reflector;
    this.#reflector = this.#make();
    this.#start?.();
    this.#onStart();
    return this.#reflector;
  }

  async run(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#start = resolve;
      onAbort(signal, resolve);
      if (this.#reflector !== undefined) resolve();
    });
    if (!signal.aborted) await this.#reflector?.run(signal);
  }
}
