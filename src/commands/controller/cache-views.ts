import type { PodStore } from '../../controllers/podgc/controller.ts';
import type { Identified, PodFacts } from '../../kube/cache/objects.ts';
import type { Reflector, Store } from '../../kube/cache/reflector.ts';

/** Calls back whenever a condition becomes true. */
export class Edge {
  readonly #holds: () => boolean;
  readonly #onTrue: () => void;
  #held = false;

  constructor(holds: () => boolean, onTrue: () => void) {
    this.#holds = holds;
    this.#onTrue = onTrue;
  }

  check(): void {
    const held = this.#holds();
    if (held && !this.#held) this.#onTrue();
    this.#held = held;
  }
}

/** A view that is synced only while its watch works: nothing is decided from a stale one. */
export class Trusted<T extends Identified> implements Store<T> {
  readonly #reflector: Reflector<T>;

  constructor(reflector: Reflector<T>) {
    this.#reflector = reflector;
  }

  get items(): ReadonlyMap<string, T> {
    return this.#reflector.items;
  }

  get synced(): boolean {
    return this.#reflector.synced && this.#reflector.state === 'synced';
  }
}

/** The pods, with the labels that policies read; a new label key requires a new list. */
export class PodCache extends Trusted<PodFacts> implements PodStore {
  readonly reflector: Reflector<PodFacts>;
  readonly #keys: { current: ReadonlySet<string> };
  readonly #ready: Edge;

  constructor(reflect: (labelKeys: () => ReadonlySet<string>) => Reflector<PodFacts>, ready: Edge) {
    const keys = { current: new Set<string>() };
    const reflector = reflect(() => keys.current);
    super(reflector);
    this.#keys = keys;
    this.#ready = ready;
    this.reflector = reflector;
  }

  covers(labelKeys: ReadonlySet<string>): boolean {
    const missing = [...labelKeys].filter((key) => !this.#keys.current.has(key));
    if (missing.length === 0) return true;
    this.#keys.current = new Set([...this.#keys.current, ...missing]);
    this.reflector.relist(`policies read the labels or annotations ${missing.join(', ')}`);
    this.#ready.check();
    return false;
  }
}

/** A watch that starts when its store is first requested. */
export class OnDemand<T extends Identified> {
  readonly #make: () => Reflector<T>;
  #start: (() => void) | undefined;
  #reflector: Reflector<T> | undefined;
  #trusted: Store<T> | undefined;

  constructor(make: () => Reflector<T>) {
    this.#make = make;
  }

  store(): Store<T> {
    this.#reflector ??= this.#make();
    this.#trusted ??= new Trusted(this.#reflector);
    this.#start?.();
    return this.#trusted;
  }

  async run(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#start = resolve;
      signal.addEventListener('abort', () => {
        resolve();
      });
      if (this.#reflector !== undefined) resolve();
    });
    if (!signal.aborted) await this.#reflector?.run(signal);
  }
}
