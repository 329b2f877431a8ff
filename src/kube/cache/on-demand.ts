import { onAbort } from '../../runtime/scheduling/abort.ts';
import type { Identified } from './objects.ts';
import type { Reflector, Store } from './reflector.ts';

/** A watch that starts when its store is first requested. */
export class OnDemand<T extends Identified> {
  readonly #make: () => Reflector<T>;
  #start: (() => void) | undefined;
  #reflector: Reflector<T> | undefined;

  constructor(make: () => Reflector<T>) {
    this.#make = make;
  }

  store(): Store<T> {
    this.#reflector ??= this.#make();
    this.#start?.();
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
