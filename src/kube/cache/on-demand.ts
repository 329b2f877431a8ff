import { onAbort } from '../../runtime/scheduling/abort.ts';
import type { NodeReportFacts } from './node-report-facts.ts';
import type { Identified, PodFacts } from './objects.ts';
import type { Reflector, Store } from './reflector.ts';
import type { Cache, StaleCache } from './staleness.ts';

/** A watch that starts when its store is first requested. */
export class OnDemand<T extends Identified> implements Cache {
  readonly resource: string;
  readonly #make: () => Reflector<T>;
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

  retry(): void {
    this.#reflector?.retry();
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

/** A cache that lacks the parts of its objects that nothing reads. When one is needed, that requires a new list. */
class PartialCache<T extends Identified> implements Store<T> {
  readonly reflector: Reflector<T>;
  readonly #onRelist: () => void;

  constructor(reflector: Reflector<T>, onRelist: () => void) {
    this.reflector = reflector;
    this.#onRelist = onRelist;
  }

  get items(): ReadonlyMap<string, T> {
    return this.reflector.items;
  }

  get synced(): boolean {
    return this.reflector.synced;
  }

  protected relist(reason: string): void {
    this.reflector.relist(reason);
    this.#onRelist();
  }
}

export class PodCache extends PartialCache<PodFacts> {
  #keys: ReadonlySet<string> = new Set<string>();

  constructor(reflect: (labelKeys: () => ReadonlySet<string>) => Reflector<PodFacts>, onRelist: () => void) {
    super(
      reflect(() => this.#keys),
      onRelist,
    );
  }

  /** Whether the pods have these labels; if not, lists them again with these too. */
  covers(labelKeys: ReadonlySet<string>): boolean {
    const missing = [...labelKeys].filter((key) => !this.#keys.has(key));
    if (missing.length === 0) return true;
    this.#keys = new Set([...this.#keys, ...missing]);
    this.relist(`policies read ${missing.join(', ')}`);
    return false;
  }
}

/** The reports of all nodes, with their usage while a policy has budgets. */
export class ReportCache extends PartialCache<NodeReportFacts> implements Cache {
  #keepsUsage = false;

  constructor(reflect: (keepsUsage: () => boolean) => Reflector<NodeReportFacts>, onRelist: () => void) {
    super(
      reflect(() => this.#keepsUsage),
      onRelist,
    );
  }

  get resource(): string {
    return this.reflector.resource;
  }

  /** Nothing needs the reports of a kind that is not installed: no agent can write one. */
  get stale(): StaleCache | undefined {
    return this.reflector.state === 'missing' ? undefined : this.reflector.stale;
  }

  retry(): void {
    this.reflector.retry();
  }

  /** Keeps the usage from now on, or no longer. Returns false if it is missing: then the reports are listed again. */
  keepUsage(isNeeded: boolean): boolean {
    const isNew = isNeeded && !this.#keepsUsage;
    this.#keepsUsage = isNeeded;
    if (isNew) this.relist('policies have namespaceBudgets');
    return !isNew;
  }
}
