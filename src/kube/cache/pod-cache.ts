import type { PodFacts } from './objects.ts';
import type { Reflector, Store } from './reflector.ts';

/** The pods, with the labels that policies read; a new label key requires a new list. */
export class PodCache implements Store<PodFacts> {
  readonly reflector: Reflector<PodFacts>;
  #keys: ReadonlySet<string> = new Set<string>();
  /** Called when a new list is due. */
  readonly #onRelist: () => void;

  constructor(reflect: (labelKeys: () => ReadonlySet<string>) => Reflector<PodFacts>, onRelist: () => void) {
    this.reflector = reflect(() => this.#keys);
    this.#onRelist = onRelist;
  }

  get items(): ReadonlyMap<string, PodFacts> {
    return this.reflector.items;
  }

  get synced(): boolean {
    return this.reflector.synced;
  }

  /** Whether the pods have these labels; if not, lists them again with these too. */
  covers(labelKeys: ReadonlySet<string>): boolean {
    const missing = [...labelKeys].filter((key) => !this.#keys.has(key));
    if (missing.length === 0) return true;
    this.#keys = new Set([...this.#keys, ...missing]);
    this.reflector.relist(`policies read ${missing.join(', ')}`);
    this.#onRelist();
    return false;
  }
}
