import module, { ResourceEventType } from '@dot-i/k8s-operator';
import type { ResourceEvent, ResourceMeta } from '@dot-i/k8s-operator';
import type { Logger } from '../../runtime/logging/logger.ts';
import { onAbort } from '../../runtime/scheduling/abort.ts';
import type { RawFacts } from '../cache/objects.ts';
import type { Store } from '../cache/reflector.ts';
import { patchStatus } from './status-patch.ts';
import type { KubeTransport } from '../http/transport.ts';

/** A change of a policy. Several changes while an event is handled are reported as one. */
export interface PolicyEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly uid: string;
  readonly name: string;
  /** The whole object; of a deleted policy, the last reported one. */
  readonly object: unknown;
}

interface PolicyName {
  readonly uid: string;
  readonly name: string;
}

interface PolicyOperatorDeps {
  /** Creates the local copy of the collection at `path`; the operator runs it. */
  readonly watch: (path: string, onChange: () => void) => WatchedStore;
  readonly transport: Pick<KubeTransport, 'send'>;
  /** Called for one event at a time. A failure is logged, and the next event follows. */
  readonly onEvent: (event: PolicyEvent, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
}

export interface WatchedStore extends Store<RawFacts> {
  /** Updates the copy until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

type Handle = (event: ResourceEvent) => Promise<void>;
type WatchArguments = [group: string, version: string, plural: string, onEvent: Handle, namespace?: string];

/** The library's base class: Node and the bundler wrap a CommonJS default export, Vitest unwraps it. */
const Operator: typeof module.default =
  (module as { readonly default?: typeof module.default }).default ??
  (module as unknown as typeof module.default);

/**
 * Watches the policies and writes their status, as an operator of the library: `init`, `watchResource`, events one at a time,
 * `setResourceStatus`. Two methods that use the library's own connection are overridden (ADR 39): watching uses our reflector, writing our transport.
 */
export class PolicyOperator extends Operator {
  readonly #deps: PolicyOperatorDeps;
  readonly #stopped = new AbortController();
  #watching = Promise.resolve();
  /** Resolves when all events so far are handled. */
  #handled = Promise.resolve();

  constructor(deps: PolicyOperatorDeps) {
    super();
    this.#deps = deps;
  }

  /** Runs until the signal aborts, and resolves when the last event is handled. */
  async run(signal: AbortSignal): Promise<void> {
    const forget = onAbort(signal, () => this.stop());
    await this.start();
    await this.#watching;
    await this.#handled;
    forget();
  }

  override stop(): void {
    this.#stopped.abort();
  }

  /** Replaces the status of the policy with this UID. A deleted policy is not an error. */
  async writeStatus({ uid, name }: PolicyName, status: object, signal: AbortSignal): Promise<void> {
    const { apiVersion, kind } = gcPolicy;
    await this.setResourceStatus(
      { id: '', uid, name, resourceVersion: '', apiVersion, kind },
      status,
      signal,
    );
  }

  protected override async init(): Promise<void> {
    const { group, version, plural } = gcPolicy;
    await this.watchResource(group, version, plural, async ({ type, meta, object }) => {
      const event = { type, uid: object.metadata?.uid ?? '', name: meta.name, object };
      await this.#deps.onEvent(event, this.#stopped.signal);
    });
  }

  /** The library's method loses deletions, reports all objects again on each reconnect and exits the process on any error. */
  protected override watchResource(...[group, version, plural, onEvent]: WatchArguments): Promise<void> {
    const reported = new Map<string, RawFacts>();
    const queued = new Set<string>();
    const handle = async (uid: string): Promise<void> => {
      queued.delete(uid);
      const change = this.#stopped.signal.aborted ? undefined : changeOf(uid, reported, store.items);
      if (change === undefined) return;
      if (change.type === ResourceEventType.Deleted) reported.delete(uid);
      else reported.set(uid, change.item);
      await this.#handle(change, onEvent);
    };
    // Deleted objects first: a new object may have the same name.
    const onChange = (): void => {
      for (const uid of [...reported.keys(), ...store.items.keys()]) {
        if (queued.has(uid) || changeOf(uid, reported, store.items) === undefined) continue;
        queued.add(uid);
        this.#handled = this.#handled.then(() => handle(uid));
      }
    };
    const store = this.#deps.watch(`/apis/${group}/${version}/${plural}`, onChange);
    this.#watching = store.run(this.#stopped.signal);
    return Promise.resolve();
  }

  async #handle(change: Change, onEvent: Handle): Promise<void> {
    const { log } = this.#deps;
    try {
      await onEvent(resourceEvent(change));
    } catch (err) {
      if (this.#stopped.signal.aborted) return;
      log.error({ err, policy: change.item.name, type: change.type }, 'handling a policy event failed');
    }
  }

  /**
   * Replaces the whole status, and of no later policy of this name: a write in flight must not reach an object that was created anew. The API server
   * ignores a UID in a merge patch of such a status, so this is a JSON patch that tests it; another UID is rejected with 422.
   * Returns null if the policy no longer exists. Other failures are thrown: the library's method ignores all, after one more request.
   */
  protected override async setResourceStatus(
    meta: ResourceMeta & PolicyName,
    status: object,
    signal = this.#stopped.signal,
  ): Promise<ResourceMeta | null> {
    const { group, version, plural } = gcPolicy;
    const path = `/apis/${group}/${version}/${plural}/${encodeURIComponent(meta.name)}`;
    const body = [
      { op: 'test', path: '/metadata/uid', value: meta.uid },
      { op: 'add', path: '/status', value: status },
    ];
    const outcome = await patchStatus(this.#deps.transport, path, { type: 'json-patch', body }, signal);
    return outcome === 'gone' ? null : meta;
  }
}

const gcPolicy = {
  group: 'gc.dustpan.dev',
  version: 'v1alpha1',
  plural: 'gcpolicies',
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'GCPolicy',
} as const;

interface Change {
  readonly type: ResourceEventType;
  /** The object; for a deleted one, its last reported state. */
  readonly item: RawFacts;
}

/** The change of one policy since it was last reported, whatever events led to it; undefined if there is none. */
function changeOf(
  uid: string,
  reported: ReadonlyMap<string, RawFacts>,
  items: ReadonlyMap<string, RawFacts>,
): Change | undefined {
  const before = reported.get(uid);
  const item = items.get(uid);
  if (item === undefined) return before && { type: ResourceEventType.Deleted, item: before };
  if (before === undefined) return { type: ResourceEventType.Added, item };
  return before.resourceVersion === item.resourceVersion
    ? undefined
    : { type: ResourceEventType.Modified, item };
}

function resourceEvent({ type, item }: Change): ResourceEvent {
  const { name, resourceVersion, object } = item;
  const apiVersion = String(object['apiVersion']);
  const kind = String(object['kind']);
  return { meta: { id: `gcpolicies.${apiVersion}`, name, resourceVersion, apiVersion, kind }, type, object };
}
