import { join } from 'node:path';
import { listLeftovers } from '../../agent/leftovers/checks.ts';
import { imageSpace } from '../../agent/imagegc/space.ts';
import type { ImageSpace } from '../../api/image-space.ts';
import type { ContainerdClient } from '../../containerd/client.ts';
import { ImageMounts } from '../../cri/image-mounts.ts';
import type { ContainerRuntime, RuntimeFileSystems } from '../../cri/runtime.ts';
import { diskDevices, imageDiskOf, statFsReader, type StatFs } from '../../node/disk/filesystem.ts';
import { LocalLogs, type NodeLogs } from '../../node/logs/logs.ts';
import { withKubelet } from '../../evaluation/node/kubelet.ts';
import { usingRuntime } from '../../evaluation/node/node-runtime.ts';
import { attachmentReader } from '../../kube/actions/live-reads.ts';
import {
  OrphanFinder,
  type FoundOrphan,
  type NodeOrphans,
  type OrphansFound,
} from '../../node/storage/orphans-finder.ts';
import {
  CheckpointDirectory,
  type CheckpointListing,
  type NodeCheckpoints,
} from '../../node/storage/checkpoints.ts';
import { orphanRoots, type KnownPods, type OrphanPaths } from '../../node/storage/orphans.ts';
import { StateFile, type StateReading } from '../../node/disk/state-file.ts';
import { agentState, formatState } from '../../node/disk/state-format.ts';
import type { ThisNode } from '../../process/config.ts';
import type { Connected } from '../../process/connect.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import { formatRfc3339 } from '../../runtime/text/rfc3339.ts';
import { containersJson, imageFsJson, imagesJson, infoJson, sandboxesJson } from '../../snapshot/crictl.ts';
import { logListingJson, logsJson } from './logs.ts';
import { ownStats, pickedSummary, withDisk, type MeasuredDisks } from './stats.ts';

export interface NodePartDeps {
  readonly name: string;
  readonly runtime: ContainerRuntime;
  readonly containerd: Pick<ContainerdClient, 'read' | 'measure'>;
  readonly statFs: StatFs;
  readonly logs: Pick<NodeLogs, 'list'>;
  readonly orphans: Pick<NodeOrphans, 'list' | 'inspect'>;
  readonly checkpoints: Pick<NodeCheckpoints, 'list'>;
  readonly readState: (signal: AbortSignal) => Promise<StateReading>;
  /** The raw response of the node's kubelet. */
  readonly readSummary: (signal: AbortSignal) => Promise<Buffer>;
  readonly kubeletRoot: string;
  /** One sentence. */
  readonly warn: (line: string) => void;
}

type Write = (file: string, text: string) => Promise<void>;

/**
 * Reads and writes the objects on this node. They are read before the pods: the pod of a found container is then listed later, or is gone.
 * Parts that cannot be read are left out with a warning; a runtime that does not answer or is not ready rejects.
 */
export class NodeSnapshot {
  readonly #deps: NodePartDeps;
  readonly #files = new Map<string, object | string>();

  constructor(deps: NodePartDeps) {
    this.#deps = deps;
  }

  async read(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#deps;
    await runtime.checkReady(signal);
    // Before everything else, so that the pod of each directory is known.
    const places = await this.#tried('orphans', () => this.#deps.orphans.list(signal), signal);
    await this.#readIfPossible('info', async () => infoJson(await runtime.sandboxImage(signal)), signal);
    // Images first: an image from which a container is created meanwhile then counts as in use.
    const images = await runtime.listImages(signal);
    this.#files.set('images', imagesJson(images));
    await this.#readIfPossible(
      'imagespace',
      async () => {
        const store = await this.#deps.containerd.read(signal);
        return store && imageSpaceJson(imageSpace(store, images, clock.now()));
      },
      signal,
    );
    await this.#readIfPossible(
      'leftovers',
      async () =>
        (await listLeftovers({ runtime, containerd: this.#deps.containerd }, () => clock.now(), signal))
          ?.leftovers,
      signal,
    );
    const containers = await runtime.listContainers(signal);
    const mounted = await new ImageMounts(runtime).read(containers, signal);
    this.#files.set('containers', containersJson(containers, mounted));
    const sandboxes = await runtime.listSandboxes(signal);
    this.#files.set('sandboxes', sandboxesJson(sandboxes));
    await this.#readOrphans(places, { containers, sandboxes }, signal);
    const { checkpoints } = this.#deps;
    const checkpointsRead = () => checkpoints.list(signal).then(checkpointsJson);
    await this.#readIfPossible('checkpoints', checkpointsRead, signal);
    await this.#readLogs(signal);
    await this.#readIfPossible('state', () => this.#state(signal), signal);
    await this.#readDisks(signal);
  }

  async write(write: Write): Promise<void> {
    for (const [file, content] of this.#files) {
      const text = typeof content === 'string' ? content : `${JSON.stringify(content, undefined, 1)}\n`;
      await write(join('nodes', this.#deps.name, `${file}.json`), text);
    }
  }

  /** The reader of the snapshot leaves out those of pods that the API server lists. */
  async #readOrphans(
    places: OrphanPaths | undefined,
    known: Omit<KnownPods, 'pods'>,
    signal: AbortSignal,
  ): Promise<void> {
    if (places === undefined) return;
    const inspect = (): Promise<object> =>
      this.#deps.orphans.inspect(places, { ...known, pods: [] }, signal).then(orphansJson);
    await this.#readIfPossible('orphans', inspect, signal);
  }

  async #readLogs(signal: AbortSignal): Promise<void> {
    await this.#readIfPossible(
      'logs',
      async () => {
        const listing = await this.#deps.logs.list(signal);
        this.#files.set('loglisting', logListingJson(listing));
        // A reader of logs.json alone would take missing entries for missing files.
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
    await this.#readIfPossible('devices', () => this.#devices(signal), signal);
  }

  /** Which file systems are one; a plan judges the others by their values. */
  async #devices(signal: AbortSignal): Promise<object | undefined> {
    const devices = await diskDevices(this.#deps, signal);
    return Object.values(devices).some((device) => device !== undefined) ? devices : undefined;
  }

  /** The kubelet's summary with the disk as it is measured here, or what can be measured without the kubelet. */
  async #stats(usage: RuntimeFileSystems | undefined, signal: AbortSignal): Promise<object | undefined> {
    const { name, readSummary, statFs } = this.#deps;
    const warn = (err: unknown, consequence: string): void => {
      signal.throwIfAborted();
      this.#deps.warn(`node ${name}: ${errorLine(err)}; ${consequence}`);
    };
    const summary = await readSummary(signal)
      .then(pickedSummary)
      .catch((err: unknown) => {
        warn(err, 'stats.json lacks the usage of pods');
        return undefined;
      });
    const imageFs = usage && imageDiskOf(usage, statFs, signal);
    if (summary === undefined) return imageFs && this.#ownStats(await imageFs, signal);
    const measured = await imageFs?.catch((err: unknown) => {
      warn(err, "stats.json has the kubelet's values of the image file system");
      return undefined;
    });
    return withDisk(summary, { imageFs: measured, fs: undefined });
  }

  async #ownStats(imageFs: MeasuredDisks['imageFs'], signal: AbortSignal): Promise<object> {
    const { name, statFs, kubeletRoot, warn } = this.#deps;
    const fs = await statFs(kubeletRoot, signal).catch((err: unknown) => {
      signal.throwIfAborted();
      warn(`node ${name}: ${errorLine(err)}; stats.json lacks the node's own file system`);
      return undefined;
    });
    return ownStats(name, { imageFs, fs });
  }

  async #readIfPossible(
    file: string,
    read: () => Promise<object | string | undefined>,
    signal: AbortSignal,
  ): Promise<void> {
    const content = await this.#tried(file, read, signal);
    if (content !== undefined) this.#files.set(file, content);
  }

  /** undefined with a warning if it fails: the file is left out. */
  async #tried<T>(file: string, read: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
    try {
      return await read();
    } catch (err) {
      signal.throwIfAborted();
      this.#deps.warn(`node ${this.#deps.name}: ${errorLine(err)}; ${file}.json is left out`);
      return undefined;
    }
  }
}

/** Shares name images by their places in the list: a base that 300 images share is one line. */
function imageSpaceJson({ images, shares, ownPins, sandboxImages, pulls }: ImageSpace): object {
  const places = new Map([...images.keys()].map((id, place) => [id, place]));
  return {
    images: [...images].map(([id, bytes]) => ({
      id,
      pinnedFor: ownPins.get(id),
      isSandbox: sandboxImages.has(id) || undefined,
      ...bytes,
    })),
    shares: shares.map((share) => ({ ...share, images: share.images.map((id) => places.get(id)) })),
    pulls: pulls?.map((pull) => ({ ...pull, leaseIds: undefined })),
  };
}

/** Directories and control groups of pods that are gone. A place that the node does not have is left out; log directories are in `loglisting.json`. */
const orphansJson = ({ podDirectories, podCgroups }: OrphansFound): object => ({
  podDirectories: podDirectories?.map(orphanJson),
  podCgroups: podCgroups?.map(orphanJson),
});

const checkpointsJson = ({ files, ...listing }: CheckpointListing): object => ({
  ...listing,
  files: files.map(({ writtenMs, ...file }) => ({ ...file, written: formatRfc3339(new Date(writtenMs)) })),
});

const orphanJson = ({
  path,
  podUid,
  sinceMs,
  bytes,
  obstacle,
  holders,
  volumeDataMs,
}: FoundOrphan): object => ({
  path,
  podUid,
  since: sinceMs === undefined ? undefined : formatRfc3339(new Date(sinceMs)),
  bytes,
  obstacle,
  volumeData: volumeDataMs === undefined ? undefined : formatRfc3339(new Date(volumeDataMs)),
  holders: holders.length === 0 ? undefined : holders,
});

interface NodeTools extends Pick<Connected, 'connection' | 'transport'> {
  readonly warn: (line: string) => void;
}

export function usingNode<T>(
  config: ThisNode,
  { connection, transport, warn }: NodeTools,
  use: (node: NodeSnapshot) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { name, podLogs, containerLogs, kubeletRoot, stateDirectory } = config;
  const state = new StateFile(join(stateDirectory, 'state.json'), agentState);
  const useWith = (runtime: ContainerRuntime, containerd: ContainerdClient): Promise<T> =>
    use(
      new NodeSnapshot({
        name,
        runtime,
        containerd,
        kubeletRoot,
        warn,
        statFs: statFsReader(),
        orphans: new OrphanFinder({
          roots: orphanRoots(config),
          readAttachment: attachmentReader(transport),
        }),
        checkpoints: new CheckpointDirectory({ kubeletRoot }),
        logs: new LocalLogs({ pods: podLogs, containers: containerLogs }),
        readState: (reading) => state.read(reading),
        readSummary: (reading) => withKubelet(config, connection, (kubelet) => kubelet.summary(reading)),
      }),
    );
  const warnOfNode = (problem: string): void => warn(`node ${name}: ${problem}`);
  return usingRuntime(config, { transport, warn: warnOfNode }, useWith, signal);
}
