import { ResourceEventType } from '@dot-i/k8s-operator';
import type { ResourceEvent, ResourceMeta } from '@dot-i/k8s-operator';
import type { Logger } from '../runtime/logger.ts';
import { onAbort } from './abort.ts';
import type { RawFacts } from './objects.ts';
import { Operator } from './operator-frame.ts';
import type { Store } from './reflector.ts';
import type { StatusPatcher } from './status-patch.ts';
import { StoreDiff } from './store-diff.ts';
import type { Difference } from './store-diff.ts';

/** What happened to a policy; of several changes that come while an event is handled only the last is told. */
export interface PolicyEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly uid: string;
  readonly name: string;
  /** The whole object; of a deleted one: as it was last told. */
  readonly object: unknown;
}

interface PolicyOperatorDeps {
  /** Makes the local copy of the collection at `path`; the operator runs it. */
  readonly watch: (path: string, onChange: () => void) => WatchedStore;
  readonly status: StatusPatcher;
  /** Called for one event at a time; a failure is logged, the next event comes all the same. */
  readonly onEvent: (event: PolicyEvent, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
}

export interface WatchedStore extends Store<RawFacts> {
  /** Keeps the copy current until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

type Handle = (event: ResourceEvent) => Promise<void>;
type WatchArguments = [group: string, version: string, plural: string, onEvent: Handle, namespace?: string];

/** As much of the base class's private queue as is used here: tasks run in turn, `event` is what `onEvent` is called with. */
interface SequentialQueue {
  push(task: { readonly event: string; readonly onEvent: (uid: string) => Promise<void> }): unknown;
}

/** In place of the base class's connection: see the static block. */
const noKubeConfig = { loadFromDefault: () => undefined, makeApiClient: () => undefined };

/** Tells of each policy's changes, one after the other. The frame is the library's; watching and writing are ours. */
export class PolicyOperator extends Operator {
  static {
    // The base constructor reads the user's kubeconfig and throws when that is broken, for a connection we have no use for.
    // What it assigns to this property is dropped, what it calls on it does nothing.
    Object.defineProperty(this.prototype, 'kubeConfig', { get: () => noKubeConfig, set: () => undefined });
  }

  readonly #deps: PolicyOperatorDeps;
  readonly #stopped = new AbortController();
  #path = '';
  #watching = Promise.resolve();
  #handling = Promise.resolve();

  constructor(deps: PolicyOperatorDeps) {
    super();
    this.#deps = deps;
  }

  /** Starts, stops when the signal aborts, and resolves when nothing is under way any more. */
  async run(signal: AbortSignal): Promise<void> {
    const forget = onAbort(signal, () => {
      this.stop();
    });
    await this.start();
    await this.#watching;
    await this.#handling;
    forget();
  }

  override stop(): void {
    this.#stopped.abort();
  }

  protected override async init(): Promise<void> {
    await this.watchResource('gc.dustpan.dev', 'v1alpha1', 'gcpolicies', async ({ type, meta, object }) => {
      const event = { type, uid: object.metadata?.uid ?? '', name: meta.name, object };
      await this.#deps.onEvent(event, this.#stopped.signal);
    });
  }

  /** The base class's loses deletions, tells everything again on each reconnect and ends the process on any error. */
  protected override watchResource(...[group, version, plural, onEvent]: WatchArguments): Promise<void> {
    const diff = new StoreDiff<RawFacts>();
    const queued = new Set<string>();
    const queue = Reflect.get(this, 'eventQueue') as SequentialQueue;
    const tell = (uid: string): Promise<void> => {
      queued.delete(uid);
      const difference = this.#stopped.signal.aborted ? undefined : diff.take(uid, store.items);
      this.#handling = difference === undefined ? Promise.resolve() : this.#tell(difference, onEvent);
      return this.#handling;
    };
    const onChange = (): void => {
      for (const uid of diff.pending(store.items)) {
        if (queued.has(uid)) continue;
        queued.add(uid);
        queue.push({ event: uid, onEvent: tell });
      }
    };
    this.#path = `/apis/${group}/${version}/${plural}`;
    const store = this.#deps.watch(this.#path, onChange);
    this.#watching = store.run(this.#stopped.signal);
    return Promise.resolve();
  }

  async #tell(difference: Difference<RawFacts>, onEvent: Handle): Promise<void> {
    const { log } = this.#deps;
    try {
      await onEvent(resourceEvent(difference));
    } catch (err) {
      if (this.#stopped.signal.aborted) return;
      log.error(
        { err, policy: difference.item.name, type: difference.type },
        'handling a policy event failed',
      );
    }
  }

  /** The same as `patchResourceStatus`: we may patch only, so what is to go from a status must be set to null. */
  override setResourceStatus(meta: ResourceMeta, status: object): Promise<ResourceMeta | null> {
    return this.patchResourceStatus(meta, status);
  }

  /** null when the policy is gone; any other failure is thrown (the base class swallows them all). */
  override async patchResourceStatus(meta: ResourceMeta, status: object): Promise<ResourceMeta | null> {
    const path = `${this.#path}/${encodeURIComponent(meta.name)}`;
    const outcome = await this.#deps.status.patchStatus(path, status, this.#stopped.signal);
    return outcome === 'gone' ? null : meta;
  }
}

const eventTypes = {
  ADDED: ResourceEventType.Added,
  MODIFIED: ResourceEventType.Modified,
  DELETED: ResourceEventType.Deleted,
};

/** An event as the base class makes them. */
function resourceEvent({ type, item }: Difference<RawFacts>): ResourceEvent {
  const { name, resourceVersion, object } = item;
  const apiVersion = String(object['apiVersion']);
  const kind = String(object['kind']);
  return {
    meta: { id: `gcpolicies.${apiVersion}`, name, resourceVersion, apiVersion, kind },
    type: eventTypes[type],
    object,
  };
}
