import { randomUUID } from 'node:crypto';
import { invalid } from './failure.ts';
import { isEqual, without, type JsonObject, type KubeObject, type ObjectMeta } from './format/json.ts';
import type { Registry, Resource } from './resources.ts';
import { timestamp, type Store } from './store.ts';

/** An object of a test; the store adds missing metadata. */
export interface Manifest extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly namespace?: string | undefined };
}

/** Direct access for tests: objects without requests, permissions and lifecycle, including status, UID and times. Watches see every change. */
export class DirectStore {
  readonly #registry: Registry;
  readonly #store: Store;

  constructor(registry: Registry, store: Store) {
    this.#registry = registry;
    this.#store = store;
  }

  /** Creates or replaces the whole object, and creates its namespace. Custom resources get defaults and must be valid. */
  apply(manifest: Manifest): KubeObject {
    const { kind, metadata } = manifest;
    const resource = this.#registry.byKind(kind);
    const namespace = resource.namespaced ? (metadata.namespace ?? 'default') : undefined;
    if (namespace !== undefined) this.ensureNamespace(namespace);
    const old = this.#store.get(resource, namespace, metadata.name);
    const given = without(metadata, 'namespace');
    const place = namespace === undefined ? {} : { namespace };
    const identity = { uid: randomUUID(), creationTimestamp: timestamp(), resourceVersion: '' };
    const { uid, creationTimestamp } = old?.metadata ?? identity;
    const generation = resource.rules.countsGenerations ? { generation: nextGeneration(manifest, old) } : {};
    const kept = { ...identity, uid, creationTimestamp, ...generation };
    const whole: ObjectMeta = { ...kept, ...given, name: metadata.name, ...place };
    return this.#store.put(resource, admitted(resource, { ...manifest, metadata: whole }));
  }

  get(kind: string, name: string, namespace = 'default'): KubeObject | undefined {
    const resource = this.#registry.byKind(kind);
    return this.#store.get(resource, resource.namespaced ? namespace : undefined, name);
  }

  list(kind: string): readonly KubeObject[] {
    return this.#store.collection(this.#registry.byKind(kind)).sorted();
  }

  /** Deletes at once, ignoring finalizers and grace period. */
  delete(kind: string, name: string, namespace?: string): void {
    const object = this.get(kind, name, namespace);
    if (object !== undefined) this.#store.remove(this.#registry.byKind(kind), object);
  }

  get revision(): string {
    return String(this.#store.revision);
  }

  ensureNamespace(name: string): void {
    if (this.get('Namespace', name) !== undefined) return;
    const labels = { 'kubernetes.io/metadata.name': name };
    this.apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels },
      status: { phase: 'Active' },
    });
  }
}

function nextGeneration(manifest: Manifest, old: KubeObject | undefined): number {
  if (old === undefined) return 1;
  const spec = (of: JsonObject): JsonObject => without(of, 'metadata', 'status');
  return (old.metadata.generation ?? 0) + (isEqual(spec(manifest), spec(old)) ? 0 : 1);
}

function admitted(resource: Resource, object: KubeObject): KubeObject {
  if (!resource.custom) return object;
  const { object: complete, causes } = resource.rules.admit(object, undefined);
  if (causes.length === 0) return complete;
  throw invalid(resource, object.metadata.name, causes);
}
