import { randomUUID } from 'node:crypto';
import { invalid } from './failure.ts';
import { isEqual, without, type JsonObject, type KubeObject } from './json.ts';
import type { Resource } from './resources.ts';
import { timestamp, type World } from './world.ts';

/** An object as a test writes it: what is left out is filled in. */
export interface Manifest extends JsonObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string; readonly namespace?: string | undefined };
}

/** The objects without HTTP, permissions and lifecycle: tests set the scene here, status, UID and times included. Watchers see it all. */
export class DirectStore {
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Creates or replaces the whole object. Its namespace is created when it is missing; custom resources get defaults and must be valid. */
  apply(manifest: Manifest): KubeObject {
    const resource = this.#world.registry.byKind(manifest.kind, manifest.apiVersion);
    const namespace = resource.namespaced ? (manifest.metadata.namespace ?? 'default') : undefined;
    if (namespace !== undefined) this.#ensureNamespace(namespace);
    const old = this.#world.store.get(resource, namespace, manifest.metadata.name);
    return this.#world.store.put(
      resource,
      checked(resource, this.#completed({ manifest, resource, namespace }, old)),
    );
  }

  get(kind: string, name: string, namespace?: string): KubeObject | undefined {
    const resource = this.#world.registry.byKind(kind);
    return this.#world.store.get(resource, resource.namespaced ? (namespace ?? 'default') : undefined, name);
  }

  /** Of all namespaces unless one is given. */
  list(kind: string, namespace?: string): readonly KubeObject[] {
    const all = this.#world.store.collection(this.#world.registry.byKind(kind)).sorted();
    return namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
  }

  /** At once, whatever holds the object; false when it was not there. */
  delete(kind: string, name: string, namespace?: string): boolean {
    const object = this.get(kind, name, namespace);
    if (object === undefined) return false;
    this.#world.store.remove(this.#world.registry.byKind(kind), object);
    return true;
  }

  get resourceVersion(): string {
    return String(this.#world.store.revision);
  }

  #ensureNamespace(name: string): void {
    if (this.get('Namespace', name) === undefined) {
      this.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name }, status: { phase: 'Active' } });
    }
  }

  #completed({ manifest, resource, namespace }: Applied, old: KubeObject | undefined): KubeObject {
    const { metadata } = manifest;
    const born = old?.metadata ?? { uid: randomUUID(), creationTimestamp: timestamp(this.#world.now()) };
    const { uid, creationTimestamp } = { ...born, ...(metadata as Partial<KubeObject['metadata']>) };
    const generation = resource.rules.generation ? { generation: nextGeneration(manifest, old) } : {};
    const place = namespace === undefined ? {} : { namespace };
    const own = { ...generation, ...metadata, ...place };
    return {
      ...manifest,
      metadata: { ...own, uid, creationTimestamp, resourceVersion: '' } as KubeObject['metadata'],
    };
  }
}

interface Applied {
  readonly manifest: Manifest;
  readonly resource: Resource;
  readonly namespace: string | undefined;
}

function nextGeneration(manifest: Manifest, old: KubeObject | undefined): number {
  if (old === undefined) return 1;
  const spec = (of: JsonObject): JsonObject => without(of, 'metadata', 'status', 'apiVersion', 'kind');
  return (old.metadata.generation ?? 0) + (isEqual(spec(manifest), spec(old)) ? 0 : 1);
}

function checked(resource: Resource, object: KubeObject): KubeObject {
  if (!resource.custom) return object;
  const { object: complete, causes } = resource.rules.admit(object, undefined);
  if (causes.length === 0) return complete;
  throw invalid(resource, object.metadata.name, causes);
}
