import { join } from 'node:path';
import { strayContainers } from '../../agent/imagegc/holds.ts';
import type { ContainerRuntime, RuntimeContainer, RuntimeFileSystems } from '../../cri/runtime.ts';
import { nodePodCodec, type NodePodFacts } from '../../kube/cache/node-pods.ts';
import type { StatFs } from '../../node/disk/filesystem.ts';
import type { NodeLogs } from '../../node/logs/logs.ts';
import type { StateReading } from '../../node/disk/state-file.ts';
import { formatState } from '../../node/disk/state-format.ts';
import { errorLine } from '../../runtime/errors.ts';
import { containersJson, imageFsJson, imagesJson, infoJson, sandboxesJson } from './crictl.ts';
import { logListingJson, logsJson } from './logs.ts';
import { isObject, type JsonObject } from './pick.ts';
import { ownStats, pickedSummary, withDisk, type MeasuredDisks } from './stats.ts';

export interface NodePartDeps {
  readonly name: string;
  readonly runtime: ContainerRuntime;
  readonly statFs: StatFs;
  readonly logs: Pick<NodeLogs, 'list'>;
  readonly readState: (signal: AbortSignal) => Promise<StateReading>;
  /** The answer of the node's kubelet, as it is. */
  readonly readSummary: (signal: AbortSignal) => Promise<Buffer>;
  readonly kubeletRoot: string;
  /** One sentence. */
  readonly warn: (line: string) => void;
}

type Write = (file: string, text: string) => Promise<void>;

/**
 * The node this runs on. It is read before the pods are: a container that is found then has a pod that is listed later, or none any more.
 * What cannot be read is left out with a warning; a runtime that does not answer or is not ready rejects.
 */
export class NodeSnapshot {
  readonly #deps: NodePartDeps;
  readonly #files = new Map<string, object | string>();
  #containers: readonly RuntimeContainer[] = [];
  /** As the agent reads them. */
  readonly #pods: NodePodFacts[] = [];
  readonly #codec = nodePodCodec();

  constructor(deps: NodePartDeps) {
    this.#deps = deps;
  }

  async read(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#deps;
    await runtime.checkReady(signal);
    await this.#readIfPossible('info', async () => infoJson(await runtime.sandboxImage(signal)), signal);
    // An image that a new container is made from meanwhile is then seen in use.
    this.#files.set('images', imagesJson(await runtime.listImages(signal)));
    this.#containers = await runtime.listContainers(signal);
    this.#files.set('sandboxes', sandboxesJson(await runtime.listSandboxes(signal)));
    await this.#readLogs(signal);
    await this.#readIfPossible('state', () => this.#state(signal), signal);
    await this.#readDisks(signal);
  }

  /** Takes note of a pod of the cluster. */
  sawPod(pod: JsonObject): void {
    const { spec } = pod;
    if (isObject(spec) && spec['nodeName'] === this.#deps.name) this.#pods.push(this.#codec.fromJson(pod));
  }

  /** Once all pods were seen, or it is known that they cannot be. */
  async write(
    write: Write,
    { arePodsKnown }: { readonly arePodsKnown: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const mounted = arePodsKnown ? await this.#mountedImages(signal) : new Map<string, never>();
    this.#files.set('containers', containersJson(this.#containers, mounted));
    for (const [file, content] of this.#files) {
      const text = typeof content === 'string' ? content : `${JSON.stringify(content, undefined, 1)}\n`;
      await write(join('nodes', this.#deps.name, `${file}.json`), text);
    }
  }

  /** As the agent: image volumes stand in the specs of the pods; of a container whose pod is not known, only the runtime can tell. */
  async #mountedImages(signal: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>> {
    const mounted = new Map<string, readonly string[]>();
    for (const { id } of strayContainers(this.#containers, this.#pods)) {
      const status = await this.#deps.runtime.containerStatus(id, signal);
      if (status !== undefined && status.mountedImages.length > 0) mounted.set(id, status.mountedImages);
    }
    return mounted;
  }

  async #readLogs(signal: AbortSignal): Promise<void> {
    await this.#readIfPossible(
      'logs',
      async () => {
        const listing = await this.#deps.logs.list(signal);
        this.#files.set('loglisting', logListingJson(listing));
        // To whoever reads that file alone, what is missing in it would look as if it did not exist.
        if (!listing.complete) throw new Error('not all logs could be listed');
        return logsJson(listing.entries, listing.roots);
      },
      signal,
    );
  }

  async #state(signal: AbortSignal): Promise<string | undefined> {
    const reading = await this.#deps.readState(signal);
    if (reading.kind === 'startOver') throw new Error(`the agent's state file ${reading.reason}`);
    return reading.kind === 'read' ? formatState(reading.state) : undefined;
  }

  async #readDisks(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#deps;
    let usage: RuntimeFileSystems | undefined;
    await this.#readIfPossible(
      'imagefs',
      async () => {
        usage = await runtime.fileSystems(signal);
        return imageFsJson(usage);
      },
      signal,
    );
    await this.#readIfPossible('stats', () => this.#stats(usage, signal), signal);
  }

  /** The kubelet's summary with the disk as it is measured here, or what can be measured without the kubelet. */
  async #stats(usage: RuntimeFileSystems | undefined, signal: AbortSignal): Promise<object | undefined> {
    const { name, readSummary } = this.#deps;
    const tell = (err: unknown, what: string): void => {
      signal.throwIfAborted();
      this.#deps.warn(`node ${name}: ${errorLine(err)}; ${what}`);
    };
    const summary = await readSummary(signal)
      .then(pickedSummary)
      .catch((err: unknown) => {
        tell(err, 'stats.json says nothing of what pods use');
        return undefined;
      });
    const imageFs = usage && this.#imageFs(usage, signal);
    if (summary === undefined) return imageFs && this.#ownStats(await imageFs, signal);
    const measured = await imageFs?.catch((err: unknown) => {
      tell(err, "stats.json has the kubelet's figures of the image file system");
      return undefined;
    });
    return withDisk(summary, { imageFs: measured, fs: undefined });
  }

  async #imageFs({ images }: RuntimeFileSystems, signal: AbortSignal): Promise<MeasuredDisks['imageFs']> {
    const [first] = images;
    if (first === undefined || first.mountpoint === '')
      throw new Error('the runtime names no image file system');
    const { usedBytes, inodesUsed } = first;
    return { ...(await this.#deps.statFs(first.mountpoint, signal)), usedBytes, inodesUsed };
  }

  async #ownStats(imageFs: MeasuredDisks['imageFs'], signal: AbortSignal): Promise<object> {
    const { name, statFs, kubeletRoot, warn } = this.#deps;
    const fs = await statFs(kubeletRoot, signal).catch((err: unknown) => {
      signal.throwIfAborted();
      warn(`node ${name}: ${errorLine(err)}; stats.json says nothing of the node's own file system`);
      return undefined;
    });
    return ownStats(name, { imageFs, fs });
  }

  async #readIfPossible(
    file: string,
    read: () => Promise<object | string | undefined>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const content = await read();
      if (content !== undefined) this.#files.set(file, content);
    } catch (err) {
      signal.throwIfAborted();
      this.#deps.warn(`node ${this.#deps.name}: ${errorLine(err)}; ${file}.json is left out`);
    }
  }
}
