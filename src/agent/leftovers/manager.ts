import type { ObjectRef } from '../../api/event-refs.ts';
import type { ContainerdClient } from '../../containerd/client.ts';
import type { ContainerdStore } from '../../containerd/store.ts';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import { Changed } from '../../gc/changed.ts';
import type { Recorder } from '../../kube/events/recorder.ts';
import type { SnapshotDirectories } from '../../node/storage/snapshots.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { leftoversFound } from './events.ts';
import type { DirectoryCounts, LeftoverInventory, UnknownLeftovers } from './facts.ts';
import { countDirectories, findLeftovers, namespaceBytes, withSizes } from './find.ts';
import { showLeftovers, type LeftoverMetrics } from './metrics.ts';

export interface LeftoversDeps {
  readonly containerd: Pick<ContainerdClient, 'read' | 'measure'>;
  readonly runtime: Pick<ContainerRuntime, 'checkReady' | 'listContainers' | 'listSandboxes'>;
  readonly directories: Pick<SnapshotDirectories, 'count'>;
  /** This node, for its Events; undefined = unknown: no Events. */
  readonly node: () => ObjectRef | undefined;
  readonly recorder: Recorder;
  readonly own: LeftoverMetrics;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** containerd reads all files of a writable layer to measure it. */
const maxMeasured = 20;

/** Finds what containerd keeps for nobody. */
export class LeftoversManager {
  readonly #deps: LeftoversDeps;
  /** Of the last pass. */
  #directories: DirectoryCounts | undefined;
  /** Leftovers of the last Event, by id. */
  readonly #announced = new Changed<string>();
  readonly #failed = new Changed<string>();
  /** undefined = no pass yet. */
  inventory: LeftoverInventory | UnknownLeftovers | undefined;

  constructor(deps: LeftoversDeps) {
    this.#deps = deps;
  }

  /** One pass. What cannot be read is unknown, and no failure of the agent. */
  async collect(signal: AbortSignal): Promise<void> {
    const { own, log } = this.#deps;
    const failed: string[] = [];
    try {
      this.inventory = await this.#observe(signal);
    } catch (err) {
      signal.throwIfAborted();
      const unknown = errorLine(err);
      this.inventory = { unknown };
      this.#directories = undefined;
      failed.push(unknown);
    }
    for (const unknown of this.#failed.added(failed)) log.warn({ err: unknown }, 'leftovers are unknown');
    const { inventory } = this;
    showLeftovers(own, inventory);
    if (!('unknown' in inventory)) this.#announce(inventory);
  }

  async #observe(signal: AbortSignal): Promise<LeftoverInventory | UnknownLeftovers> {
    const { containerd, runtime, directories, clock } = this.#deps;
    await runtime.checkReady(signal);
    // Before the snapshots: one that is made meanwhile then has no directory that is known, which is the smaller error.
    const found = await directories.count(signal);
    const [containers, sandboxes] = await Promise.all([
      runtime.listContainers(signal),
      runtime.listSandboxes(signal),
    ]);
    const store = await containerd.read(signal);
    if (store === undefined) return { unknown: 'the runtime is not containerd' };
    const given = { owners: new Set([...containers, ...sandboxes].map(({ id }) => id)), now: clock.now() };
    const measured = await this.#measured(store, findLeftovers(store, given).unmeasured, signal);
    const before = this.#directories;
    this.#directories = countDirectories(found, store);
    return {
      at: given.now,
      leftovers: findLeftovers(measured, given).leftovers,
      namespaces: namespaceBytes(store),
      directories: before && this.#directories && lowest(before, this.#directories),
    };
  }

  async #measured(
    store: ContainerdStore,
    snapshots: Parameters<ContainerdClient['measure']>[0],
    signal: AbortSignal,
  ): Promise<ContainerdStore> {
    if (snapshots.length === 0) return store;
    return withSizes(store, await this.#deps.containerd.measure(snapshots.slice(0, maxMeasured), signal));
  }

  /** One Event when there is more than at the last one. */
  #announce({ leftovers }: LeftoverInventory): void {
    const node = this.#deps.node();
    const ids = leftovers.filter(({ id }) => id !== 'unreferenced').map(({ id }) => id);
    if (node !== undefined && this.#announced.added(ids).size > 0)
      this.#deps.recorder.record(leftoversFound(node, leftovers));
  }
}

/** Of two passes, because snapshots come and go while they are counted. */
const lowest = (a: DirectoryCounts, b: DirectoryCounts): DirectoryCounts => ({
  withoutSnapshot: Math.min(a.withoutSnapshot, b.withoutSnapshot),
  missing: Math.min(a.missing, b.missing),
});
