import { once } from 'node:events';
import type { RawFacts } from '../../src/kube/cache/objects.ts';
import type { WatchedStore } from '../../src/kube/actions/operator.ts';

/** A collection of policies as a reflector shows it, changed by hand. */
export class PolicyFeed implements WatchedStore {
  readonly synced = true;
  readonly #items = new Map<string, RawFacts>();
  #onChange: () => void = () => undefined;
  path = '';

  get items(): ReadonlyMap<string, RawFacts> {
    return this.#items;
  }

  /** The `watch` option of a PolicyOperator. */
  readonly watch = (path: string, onChange: () => void): WatchedStore => {
    this.path = path;
    this.#onChange = onChange;
    return this;
  };

  async run(signal: AbortSignal): Promise<void> {
    await once(signal, 'abort');
  }

  /** Applies one batch of created or changed policies. */
  set(...policies: readonly RawFacts[]): void {
    for (const policy of policies) this.#items.set(policy.uid, policy);
    this.#onChange();
  }

  /** A relist that found only these. */
  relist(...policies: readonly RawFacts[]): void {
    this.#items.clear();
    this.set(...policies);
  }
}

/** A stored policy, as far as a watch is concerned. */
export function storedPolicy(name: string, resourceVersion: string, uid = `uid-${name}`): RawFacts {
  const metadata = { name, uid, resourceVersion };
  const object = { apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'GCPolicy', metadata };
  return { uid, name, resourceVersion, object };
}
