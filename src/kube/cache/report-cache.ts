import type { NodeReportFacts } from './node-report-facts.ts';
import type { Reflector, Store } from './reflector.ts';
import type { Cache, StaleCache } from './staleness.ts';

/** The reports of all nodes. The usage is kept only while a policy has budgets; when the first one gets some, that requires a new list. */
export class ReportCache implements Store<NodeReportFacts>, Cache {
  readonly reflector: Reflector<NodeReportFacts>;
  #keepsUsage = false;
  /** Called when a new list is due. */
  readonly #onRelist: () => void;

  constructor(reflect: (keepsUsage: () => boolean) => Reflector<NodeReportFacts>, onRelist: () => void) {
    this.reflector = reflect(() => this.#keepsUsage);
    this.#onRelist = onRelist;
  }

  get items(): ReadonlyMap<string, NodeReportFacts> {
    return this.reflector.items;
  }

  get synced(): boolean {
    return this.reflector.synced;
  }

  get resource(): string {
    return this.reflector.resource;
  }

  /** Nothing needs the reports of a kind that is not installed: no agent can write one. */
  get stale(): StaleCache | undefined {
    return this.reflector.state === 'missing' ? undefined : this.reflector.stale;
  }

  /** Keeps the usage from now on, or no longer. Returns false if it is missing: then the reports are listed again. */
  keepUsage(isNeeded: boolean): boolean {
    const isNew = isNeeded && !this.#keepsUsage;
    this.#keepsUsage = isNeeded;
    if (!isNew) return true;
    this.reflector.relist('policies have namespaceBudgets');
    this.#onRelist();
    return false;
  }
}
