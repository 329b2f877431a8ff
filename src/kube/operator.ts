import frame from '@dot-i/k8s-operator';
import type { ResourceEvent, ResourceMeta } from '@dot-i/k8s-operator';
import { errorLine } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import { onAbort } from './abort.ts';
import type { RawFacts } from './objects.ts';
import type { Store } from './reflector.ts';
import type { StatusPatcher } from './status-patch.ts';
import { StoreDiff } from './store-diff.ts';

/** What happened to a policy; of several changes while another event was being handled only the last is told. */
export interface PolicyEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** Of a deleted policy: as it was last told. */
  readonly policy: RawFacts;
}

export interface PolicyOperatorDeps {
  /** Makes the local copy of the collection at `path`; the operator runs it. */
  readonly watch: (path: string, onChange: () => void) => WatchedStore;
  readonly status: StatusPatcher;
  /** Called for one event at a time. */
  readonly onEvent: (event: PolicyEvent, signal: AbortSignal) => Promise<void>;
  readonly log: Logger;
}

export interface WatchedStore extends Store<RawFacts> {
  /** Keeps the copy current until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

type Handle = (event: ResourceEvent) => Promise<void>;
type WatchArguments = [group: string, version: string, plural: string, onEvent: Handle, namespace?: string];

/** As much of the base class's queue as is used here. */
interface SequentialQueue {
  push(task: { readonly event: string; readonly onEvent: (uid: string) => Promise<void> }): void;
}

/** In place of the base class's connection: see the static block. */
const noKubeConfig = { loadFromDefault: () => undefined, makeApiClient: () => undefined };

/** Tells of each policy's changes, one after the other. The frame is the library's; watching and writing are ours. */
export class PolicyOperator extends frame.default {
  static {
    // The base constructor reads the user's kubeconfig, throws when that is broken, and connects nowhere else. We have our
    // own connection: what it assigns to this property is dropped, what it calls on it does nothing.
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

  /** Starts, and stops when the signal aborts; resolves when nothing is under way any more. */
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
    await this.watchResource('gc.dustpan.dev', 'v1alpha1', 'gcpolicies', async ({ type, object }) => {
      await this.#deps.onEvent({ type, policy: object as unknown as RawFacts }, this.#stopped.signal);
    });
  }

  /** The base class's loses deletions, tells of everything again on each reconnect, and ends the process on any error. */
  protected override watchResource(...[group, version, plural, onEvent]: WatchArguments): Promise<void> {
    return Promise.reject(new Error('todo'));
  }
}
