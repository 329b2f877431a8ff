import type { PodStorageUsage, StoragePod, StorageUsage } from '../api/local-storage.ts';
import type { ContainerRuntime } from '../cri/runtime.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { StatFs } from './filesystem.ts';
import {
  jobsOf,
  kubeletUid,
  measurablePods,
  usageOf,
  type RunningLayer,
  type StorageRoots,
} from './storage-files.ts';
import type { StorageJobResult } from './storage-jobs.ts';
import { StorageWalker, type StorageWalkerOptions } from './storage-walker.ts';

export interface FileUsageOptions extends StorageWalkerOptions {
  readonly runtime: Pick<ContainerRuntime, 'listContainers' | 'containerStats' | 'fileSystems'>;
  readonly statFs: StatFs;
  readonly roots: StorageRoots;
  /** Of this node; undefined = not known. */
  readonly pods: () => readonly StoragePod[] | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

const label = { uid: 'io.kubernetes.pod.uid', container: 'io.kubernetes.container.name' } as const;

/** What pods use by the files they have on this node and what the runtime says of their writable layers. */
export class FileUsage {
  readonly #options: FileUsageOptions;
  readonly #walker: StorageWalker;
  /** Something could not be measured in the last look, and that has been said. */
  #isInTrouble = false;

  constructor(options: FileUsageOptions) {
    this.#options = options;
    this.#walker = new StorageWalker(options);
  }

  /** By the UIDs that the kubelet has: of a static pod that is its mirror's `configHash`. Rejects when the runtime does not answer, or the thread has died. */
  async usage(signal: AbortSignal): Promise<StorageUsage> {
    const { roots, clock } = this.#options;
    const pods = measurablePods(this.#options.pods() ?? []);
    const [layers, dedicatedImageFs, known] = await Promise.all([
      this.#runningLayers(signal),
      this.#isImageFsDedicated(signal),
      this.#walker.look(
        pods.flatMap((pod) => jobsOf(pod, roots)),
        signal,
      ),
    ]);
    const problem = this.#tellTrouble(pods, known);
    const usage = pods.map((pod): [string, PodStorageUsage] => {
      const uid = kubeletUid(pod);
      return [uid, usageOf(pod, layers.get(uid) ?? [], known)];
    });
    return { atMs: clock.now().getTime(), dedicatedImageFs, pods: new Map(usage), problem };
  }

  /** Ends the thread; a later look starts it again. */
  close(): Promise<void> {
    return this.#walker.close();
  }

  /** By the UID of the pod. */
  async #runningLayers(signal: AbortSignal): Promise<ReadonlyMap<string, readonly RunningLayer[]>> {
    const { runtime, clock } = this.#options;
    const [containers, stats] = await Promise.all([
      runtime.listContainers(signal),
      runtime.containerStats(signal),
    ]);
    const atMs = clock.now().getTime();
    const running = new Set(containers.filter(({ state }) => state === 'Running').map(({ id }) => id));
    const found = new Map<string, RunningLayer[]>();
    for (const { id, labels, writableLayerBytes: bytes } of stats) {
      const [uid, name] = [labels[label.uid], labels[label.container]];
      if (!running.has(id) || uid === undefined || name === undefined) continue;
      const layer = { name, layer: bytes === undefined ? undefined : { bytes, atMs } };
      found.set(uid, [...(found.get(uid) ?? []), layer]);
    }
    return found;
  }

  /** As the kubelet's figures show it: the capacities differ. */
  async #isImageFsDedicated(signal: AbortSignal): Promise<boolean> {
    const { runtime, statFs, roots } = this.#options;
    const [first] = (await runtime.fileSystems(signal)).images;
    if (first === undefined || first.mountpoint === '') return true;
    const [images, node] = await Promise.all([
      statFs(first.mountpoint, signal),
      statFs(roots.kubelet, signal),
    ]);
    return images.capacityBytes !== node.capacityBytes;
  }

  /** Logged when it begins; in the second look in a row it is also returned, for what is being mounted or unmounted passes. */
  #tellTrouble(
    pods: readonly StoragePod[],
    known: ReadonlyMap<string, StorageJobResult>,
  ): string | undefined {
    const wasInTrouble = this.#isInTrouble;
    const problems = [...known].flatMap(([key, { walked }]) =>
      walked.kind === 'unknown' ? [{ what: key, problem: walked.problem }] : [],
    );
    const [first] = problems;
    this.#isInTrouble = first !== undefined;
    if (first === undefined) return undefined;
    const count = problems.length;
    if (!wasInTrouble)
      this.#options.log.warn({ ...first, count }, 'local storage that cannot be measured counts as unknown');
    return wasInTrouble ? problemLine(first, { pods, count }) : undefined;
  }
}

function problemLine(
  { what, problem }: { readonly what: string; readonly problem: string },
  { pods, count }: { readonly pods: readonly StoragePod[]; readonly count: number },
): string {
  const pod = pods.find((one) => what.startsWith(`${kubeletUid(one)}/`));
  const part = what.slice(what.indexOf('/') + 1);
  const others = count > 1 ? `, and ${count - 1} more` : '';
  return `${part} of pod ${pod?.namespace ?? ''}/${pod?.name ?? ''} cannot be measured: ${problem}${others}`;
}
