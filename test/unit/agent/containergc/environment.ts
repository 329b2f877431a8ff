import { Registry } from 'prom-client';
import type { ContainerInventory } from '../../../../src/agent/containergc/facts.ts';
import type { PodRef } from '../../../../src/api/pod-ref.ts';
import type { NodeConfirmation } from '../../../../src/api/node-confirmation.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type { ContainerGcPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { ContainerGcManager, type ContainerGcDeps } from '../../../../src/agent/containergc/manager.ts';
import { containerGcMetrics, containerGcReasons } from '../../../../src/agent/containergc/metrics.ts';
import { startMetrics, unitMetrics } from '../../../../src/gc/metrics.ts';
import type { PodState } from '../../../../src/kube/actions/live-reads.ts';
import type { RuntimeContainer } from '../../../../src/cri/runtime.ts';
import type { LastRemoved, NodePassReport } from '../../../../src/gc/pass.ts';
import type { NodeLogs } from '../../../../src/node/logs/logs.ts';
import type { LogEntry, LogListing } from '../../../../src/node/logs/list.ts';
import type {
  FoundOrphan,
  NodeOrphans,
  OrphanRemoval,
  OrphansFound,
} from '../../../../src/node/storage/orphans-finder.ts';
import type {
  CheckpointFile,
  CheckpointListing,
  CheckpointRemoval,
  NodeCheckpoints,
} from '../../../../src/node/storage/checkpoints.ts';
import { knownPodUids, type KnownPods, type OrphanPaths } from '../../../../src/node/storage/orphans.ts';
import { nodesRules, policy } from '../../../builders.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { FakeRuntime, sandbox } from '../../../fakes/runtime.ts';
import { keptBy } from '../builders.ts';
import { reliefOf } from '../nodepressure/builders.ts';
import { apiPod, rule } from './builders.ts';

/** Logs in memory: files and links by path. */
class FakeLogs implements NodeLogs {
  readonly roots = { pods: '/var/log/pods', containers: '/var/log/containers' };
  readonly entries = new Map<string, LogEntry>();
  readonly failing = new Set<string>();
  readonly calls: string[] = [];
  /** The next removal hangs until its deadline. */
  hangs = false;
  isHanging = false;

  add(...entries: readonly LogEntry[]): this {
    for (const entry of entries) this.entries.set(entry.path, entry);
    return this;
  }

  get paths(): string[] {
    return [...this.entries.keys()].sort();
  }

  list(): Promise<LogListing> {
    if (this.failing.has('list'))
      return Promise.reject(new Error('listing logs', { cause: new Error('EACCES') }));
    const entries = [...this.entries.values()];
    return Promise.resolve({ roots: this.roots, entries, directories: [], complete: true });
  }

  removeDirectory: NodeLogs['removeDirectory'] = (path) => {
    return this.#remove(`directory ${path}`, (other) => other.startsWith(`${path}/`));
  };

  removeRotated(path: string): Promise<number> {
    return this.#remove(`rotated ${path}`, (other) => other === path);
  }

  removeContainerLog(path: string): Promise<number> {
    return this.#remove(`log ${path}`, (other) => other.startsWith(path));
  }

  async removeLink(path: string, kind: 'broken' | 'outside'): Promise<boolean> {
    const target = this.entries.get(path)?.target;
    if (kind === 'broken' && (target === undefined || this.entries.has(target))) return false;
    await this.#remove(`link ${path}`, (other) => other === path);
    return true;
  }

  #remove(call: string, isRemoved: (path: string) => boolean): Promise<number> {
    this.calls.push(call);
    if (this.hangs) {
      this.isHanging = true;
      return Promise.reject(
        new Error(`removing ${call}`, { cause: new Error('no response: the disk hangs') }),
      );
    }
    if (this.failing.has(call))
      return Promise.reject(new Error(`removing ${call}`, { cause: new Error('EROFS') }));
    const removed = [...this.entries.values()].filter(({ path }) => isRemoved(path));
    for (const { path } of removed) this.entries.delete(path);
    return Promise.resolve(removed.reduce((sum, { bytes }) => sum + bytes, 0));
  }
}

/** Orphaned resources in memory: control groups and pod directories by path. */
class FakeOrphans implements NodeOrphans {
  readonly groups: FoundOrphan[] = [];
  readonly directories: FoundOrphan[] = [];
  /** Names of the calls that fail. */
  readonly failing = new Set<string>();
  readonly calls: string[] = [];

  list(): Promise<OrphanPaths> {
    this.calls.push('list');
    if (this.failing.has('list')) return Promise.reject(new Error('listing /pods'));
    return Promise.resolve({ podDirectories: [], logDirectories: undefined, podCgroups: [] });
  }

  inspect(_listed: OrphanPaths, known: KnownPods): Promise<OrphansFound> {
    if (this.failing.has('inspect')) return Promise.reject(new Error('a disk hangs'));
    const uids = knownPodUids(known);
    const unknown = (found: readonly FoundOrphan[]) => found.filter(({ podUid }) => !uids.has(podUid));
    return Promise.resolve({
      podDirectories: unknown(this.directories),
      logDirectories: undefined,
      podCgroups: unknown(this.groups),
    });
  }

  removeDirectory(path: string, volumeDataMs: number | undefined): Promise<OrphanRemoval> {
    if (volumeDataMs !== undefined) this.calls.push(`data of ${volumeDataMs}`);
    return this.#remove(path, this.directories);
  }

  removeCgroup(path: string): Promise<OrphanRemoval> {
    return this.#remove(path, this.groups);
  }

  #remove(path: string, all: FoundOrphan[]): Promise<OrphanRemoval> {
    this.calls.push(`remove ${path}`);
    all.splice(0, Infinity, ...all.filter((one) => one.path !== path));
    return Promise.resolve({ kind: 'done', freedBytes: 7 });
  }
}

/** The kubelet's directory of checkpoints in memory. */
class FakeCheckpoints implements NodeCheckpoints {
  readonly files: CheckpointFile[] = [];
  readonly removed: string[] = [];
  isReadOnly = false;
  isBroken = false;
  complete = true;

  list(): Promise<CheckpointListing> {
    if (this.isBroken) return Promise.reject(new Error('listing /checkpoints'));
    const { files, complete, isReadOnly } = this;
    return Promise.resolve({ files: [...files], complete, isReadOnly, isApart: false });
  }

  remove({ path, bytes }: CheckpointFile): Promise<CheckpointRemoval> {
    this.removed.push(path);
    this.files.splice(0, Infinity, ...this.files.filter((one) => one.path !== path));
    return Promise.resolve({ kind: 'done', freedBytes: bytes });
  }
}

export const nodePolicy = (
  over: Partial<ContainerGcPolicy> = {},
  mode: Policy['mode'] = 'Enforce',
): Policy => ({ ...policy({ pods: undefined, mode }), nodes: nodesRules({ containerGC: rule(over) }) });

export const governed = (by: Policy): NodeGovernance =>
  by.nodes === undefined ? keptBy('NoPolicy') : { kind: 'governed', policy: by, nodes: by.nodes };

/** A node whose objects a test sets before a pass. */
export class Node {
  readonly runtime = new FakeRuntime();
  readonly logs = new FakeLogs();
  readonly orphans = new FakeOrphans();
  readonly checkpoints = new FakeCheckpoints();
  readonly clock = new FakeClock();
  readonly recorder = new FakeRecorder();
  readonly log = new RecordingLogger();
  readonly registry = new Registry();
  readonly reports: NodePassReport[] = [];
  readonly inventories: (ContainerInventory | undefined)[] = [];
  pods: ReturnType<ContainerGcDeps['pods']> = [];
  governance: NodeGovernance;
  /** The API server's responses about single pods by UID; any other pod is gone. */
  readonly podResponses = new Map<string, PodState | Error>();
  /** Requests for single pods so far. */
  readonly podRequests: string[] = [];
  /** How the response of the API server differs from the caches. */
  live: Partial<NodeConfirmation> | Error = {};
  /** Requests to confirm the node so far. */
  confirmations = 0;
  /** Calls of `onProgress` so far. */
  progress = 0;
  readonly #manager: ContainerGcManager;

  constructor(by: Policy = nodePolicy()) {
    this.governance = governed(by);
    const { runtime, logs, orphans, checkpoints, recorder, clock, log } = this;
    const metrics = unitMetrics(this.registry);
    startMetrics(metrics, 'containergc', containerGcReasons);
    this.#manager = new ContainerGcManager({
      runtime,
      logs,
      orphans,
      checkpoints,
      recorder,
      clock,
      log,
      metrics,
      own: containerGcMetrics(this.registry),
      pods: () => this.pods,
      governance: () => this.governance,
      live: { confirm: () => this.#confirm(), podState: (pod) => this.#podState(pod) },
      node: () => ({ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'uid-node-1' }),
      periodMs: 60_000,
      onProgress: () => (this.progress += 1),
      onPass: (report) => {
        this.reports.push(report);
        this.inventories.push(this.#manager.inventory);
      },
    });
  }

  get lastRemoved(): LastRemoved['others'] {
    return this.#manager.lastRemoved;
  }

  async pass(signal = new AbortController().signal): Promise<void> {
    await this.#manager.collect(signal);
  }

  /** A pass for node pressure; default: one that is never enough. */
  async relieve(relief = reliefOf()): Promise<Awaited<ReturnType<ContainerGcManager['relieve']>>> {
    return await this.#manager.relieve(relief, new AbortController().signal);
  }

  /** Two passes, a minute apart: a pod is gone in the second. */
  async passTwice(): Promise<void> {
    await this.pass();
    this.clock.advance(60_000);
    await this.pass();
  }

  /** Ids of the containers and sandboxes that are left. */
  get left(): string[] {
    return [...this.runtime.containers, ...this.runtime.sandboxes].map(({ id }) => id).sort();
  }

  /** Everything that passes have changed. */
  get changes(): readonly string[] {
    return [...this.runtime.changes, ...this.logs.calls];
  }

  get warnings(): RecordingLogger['lines'] {
    return this.log.lines.filter(({ level }) => level === 'warn');
  }

  #podState({ uid, namespace = '', name = '' }: PodRef): Promise<PodState> {
    this.podRequests.push(`${namespace}/${name} ${uid}`);
    const response = this.podResponses.get(uid) ?? 'gone';
    return response instanceof Error ? Promise.reject(response) : Promise.resolve(response);
  }

  #confirm(): Promise<NodeConfirmation> {
    this.confirmations += 1;
    if (this.live instanceof Error) return Promise.reject(this.live);
    return Promise.resolve({
      governance: this.governance,
      pods: [],
      labels: {},
      clockSkewMs: 0,
      ...this.live,
    });
  }
}

/** A node with the pod `pod`, its ready sandbox, and these containers. */
export function nodeWithPod(...containers: readonly RuntimeContainer[]): Node {
  const node = new Node();
  node.pods = [apiPod('pod')];
  node.runtime.add(...containers, sandbox('pod'));
  return node;
}
