import { rightText, type Right } from '../../api/policy/needs.ts';
import { reportableStale } from '../../kube/cache/staleness.ts';
import type { Registry } from 'prom-client';
import { ContainerGcManager, type ContainerGcDeps } from '../../agent/containergc/manager.ts';
import { containerGcMetrics } from '../../agent/containergc/metrics.ts';
import { ImageGcManager, type ImageGcDeps } from '../../agent/imagegc/manager.ts';
import { imageGcMetrics } from '../../agent/imagegc/metrics.ts';
import { LocalStorageManager } from '../../agent/localstorage/manager.ts';
import { localStorageMetrics, podStorageMetrics } from '../../agent/localstorage/metrics.ts';
import { ReportManager } from '../../agent/report/manager.ts';
import { reportMetrics } from '../../agent/report/metrics.ts';
import type { Consumer } from '../../agent/nodepressure/facts.ts';
import { NodePressureManager, type NodePressureDeps } from '../../agent/nodepressure/manager.ts';
import { nodePressureMetrics } from '../../agent/nodepressure/metrics.ts';
import { UsageManager } from '../../agent/usage/manager.ts';
import { usageMetrics } from '../../agent/usage/metrics.ts';
import type { StorageInventory } from '../../api/local-storage.ts';
import { hasPressureRule, hasStorageRule } from '../../api/policy/matching.ts';
import type { PressureInventory } from '../../api/report/node-signals.ts';
import type {
  ContainerInventory,
  ImageInventory,
  LastRemoved,
  NodePassReport,
} from '../../api/report/node-pass.ts';
import { ImageMounts } from '../../cri/image-mounts.ts';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import { NodeReports } from '../../kube/actions/node-report.ts';
import { nodeRef, type ObjectRef } from '../../api/event-refs.ts';
import type { Recorder } from '../../kube/events/recorder.ts';
import { LiveNode } from '../../kube/actions/live-reads.ts';
import {
  imageDisk,
  statFsReader,
  type FileSystemStats,
  type MountedImageDisk,
  type StatFs,
} from '../../node/disk/filesystem.ts';
import { cachedDevices, diskDevices } from '../../node/disk/devices.ts';
import { KubeletUsage } from '../../node/kubelet/source.ts';
import { LocalLogs } from '../../node/logs/logs.ts';
import { OrphanFinder } from '../../node/storage/orphans-finder.ts';
import { orphanRoots } from '../../node/storage/orphans-listing.ts';
import { SnapshotFinder } from '../../node/storage/snapshots-finder.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { AgentCaches } from './caches.ts';
import type { AgentConfig } from './command.ts';
import type { AgentLoops, Passes } from './loops.ts';
import type { AgentMetrics } from './metrics.ts';
import type { RuntimeWatch } from './runtime.ts';
import type { StateDirectory } from './state.ts';
import type { Connected } from '../../process/connect.ts';
import { sharedUsage } from './kubelet-usage.ts';
import { kubeletThresholds, reliefOf } from './relief.ts';
import { version } from '../../runtime/version.ts';

interface AgentUnitsDeps {
  readonly config: Pick<
    AgentConfig,
    | 'nodeName'
    | 'kubelet'
    | 'localStoragePodMetrics'
    | 'localStoragePeriodMs'
    | 'imageGcPeriodMs'
    | 'containerGcPeriodMs'
    | 'directories'
  >;
  readonly cluster: Pick<Connected, 'transport' | 'connection'>;
  readonly registry: Registry;
  readonly metrics: Pick<AgentMetrics, 'units'>;
  readonly log: Logger;
  readonly runtime: ContainerRuntime;
  readonly runtimeWatch: Pick<RuntimeWatch, 'version' | 'trouble'>;
  readonly caches: Pick<AgentCaches, 'governance' | 'policies' | 'pods' | 'node' | 'lastNode' | 'all'>;
  /** The rights that the agent lacks. */
  readonly missingRights: () => readonly Right[];
  readonly recorder: Recorder;
  readonly state: StateDirectory;
  /** A pass over containers or images has carried out a decision; another call of the runtime is no progress of a pass. */
  readonly onProgress: () => void;
  /** A pass has ended. */
  readonly onPass: () => void;
  /** Runs a pass over containers or images while no other does. */
  readonly alone: AgentLoops['alone'];
}

/** Builds the units of the agent; the report observes every pass. */
export function buildAgentUnits(deps: AgentUnitsDeps): Omit<Passes, 'runtime'> {
  const { config, cluster, runtime, onPass } = deps;
  const { podLogs, containerLogs, kubeletRoot } = config.directories;
  const statFs = statFsReader();
  const place: Place = {
    live: new LiveNode({ transport: cluster.transport, clock, nodeName: config.nodeName }),
    logs: new LocalLogs({ pods: podLogs, containers: containerLogs }),
    imageDisk: (signal) => imageDisk({ runtime, statFs }, signal),
    nodeDisk: (signal) => statFs(kubeletRoot, signal),
    logDisk: (signal) => statFs(podLogs, signal),
  };
  const kubelet = kubeletOf(deps, statFs);
  const inventories: Inventories = { removedImages: [], removedOthers: [] };
  let freedBytes = 0;
  const usage = usageManager(deps, place, { kubelet, inventories, freedBytes: () => freedBytes });
  const report = reportManager(deps, place, { inventories, usage });
  const passed = (pass: NodePassReport, found: Partial<Inventories>): void => {
    Object.assign(inventories, found);
    freedBytes += pass.freedBytes;
    report.observe(pass);
    onPass();
  };
  const containers = containerGc(deps, place, (pass, inventory, removedOthers) => {
    passed(pass, { containers: inventory, removedOthers });
  });
  const images = imageGc(deps, place, (pass, inventory, removedImages) => {
    passed(pass, { images: inventory, removedImages });
  });
  const storage = localStorage(deps, kubelet, (pass, inventory) => {
    passed(pass, { storage: inventory });
  });
  const pressure = nodePressure(deps, kubelet, {
    disk: (name, signal) => (name === 'imagefs' ? place.imageDisk(signal) : place.nodeDisk(signal)),
    consumers: () => consumersOf(inventories),
    relieve: reliefOf({ containers, images, place, alone: deps.alone }),
    onPass: (pass, inventory) => {
      passed(pass, { pressure: inventory });
    },
  });
  return {
    containers: (signal) => containers.collect(signal),
    images: (signal) => images.collect(signal),
    storage: (signal) => storage.collect(signal),
    pressure: (signal) => pressure.collect(signal),
    usage: (signal) => usage.measure(signal),
    report: (signal, isLast) => report.reconcile(signal, isLast),
    isReportAwaited: () => report.isAwaited,
  };
}

type Kubelet = Pick<KubeletUsage, 'usage' | 'thresholds' | 'close'>;

/** This node's kubelet, with the devices that it does not report. */
function kubeletOf({ config, cluster, runtime, log }: AgentUnitsDeps, statFs: StatFs): Kubelet {
  const { kubeletRoot } = config.directories;
  const kubelet = new KubeletUsage({
    ...config.kubelet,
    nodeName: config.nodeName,
    cluster: cluster.connection,
    clock,
    devices: cachedDevices((signal) => diskDevices({ runtime, statFs, kubeletRoot }, signal), clock),
  });
  return {
    usage: sharedUsage({
      read: (signal) => kubelet.usage(signal),
      // A signal is too old after two minutes: with a long period the units must not share a reading.
      lastsMs: Math.min(config.localStoragePeriodMs / 2, 5_000),
      clock,
      log: log.named('kubelet'),
    }),
    thresholds: (signal) => kubelet.thresholds(signal),
    close: () => {
      kubelet.close();
    },
  };
}

/** Files and disks of the node, and what the API server knows of it. */
interface Place {
  readonly live: LiveNode;
  readonly logs: LocalLogs;
  readonly imageDisk: (signal: AbortSignal) => Promise<MountedImageDisk>;
  readonly nodeDisk: (signal: AbortSignal) => Promise<FileSystemStats>;
  readonly logDisk: (signal: AbortSignal) => Promise<FileSystemStats>;
}

/** Inventories of the last passes; undefined = the last pass had none. */
interface Inventories {
  removedImages: LastRemoved['images'];
  removedOthers: LastRemoved['others'];
  containers?: ContainerInventory | undefined;
  images?: ImageInventory | undefined;
  storage?: StorageInventory | undefined;
  pressure?: PressureInventory | undefined;
}

function containerGc(
  deps: AgentUnitsDeps,
  { logs, live }: Place,
  onPass: ContainerGcDeps['onPass'],
): ContainerGcManager {
  const { config, registry, metrics, log, runtime, caches, recorder, onProgress } = deps;
  return new ContainerGcManager({
    runtime,
    logs,
    recorder,
    clock,
    onProgress,
    onPass,
    orphans: new OrphanFinder({ roots: orphanRoots(config.directories) }),
    pods: caches.pods,
    governance: caches.governance,
    live,
    node: () => thisNode(caches),
    metrics: metrics.units,
    own: containerGcMetrics(registry),
    log: log.named('containergc'),
    periodMs: config.containerGcPeriodMs,
  });
}

function thisNode({ node }: Pick<AgentCaches, 'node'>): ObjectRef | undefined {
  const { name, uid } = node() ?? {};
  if (name === undefined || uid === undefined) return undefined;
  return nodeRef({ name, uid });
}

function imageGc(
  deps: AgentUnitsDeps,
  { logs, imageDisk: disk, live }: Place,
  onPass: ImageGcDeps['onPass'],
): ImageGcManager {
  const { config, registry, metrics, log, runtime, caches, recorder, state, onProgress } = deps;
  return new ImageGcManager({
    runtime,
    mounts: new ImageMounts(runtime),
    disk,
    recorder,
    clock,
    state,
    onProgress,
    onPass,
    pods: caches.pods,
    governance: caches.governance,
    node: () => thisNode(caches),
    live,
    logBytes: async (signal) => {
      const { entries } = await logs.list(signal);
      return entries.reduce((sum, { bytes, target }) => sum + (target === undefined ? bytes : 0), 0);
    },
    metrics: metrics.units,
    own: imageGcMetrics(registry),
    log: log.named('imagegc'),
    periodMs: config.imageGcPeriodMs,
  });
}

/** Connects to the kubelet only when a policy has a rule for local storage. */
function localStorage(
  { config, registry, metrics, log, caches, recorder }: AgentUnitsDeps,
  kubelet: Kubelet,
  onPass: (pass: NodePassReport, inventory: StorageInventory | undefined) => void,
): LocalStorageManager {
  return new LocalStorageManager({
    recorder,
    clock,
    onPass,
    source: kubelet,
    isUsed: () => hasStorageRule(caches.policies()),
    node: () => thisNode(caches),
    pods: caches.pods,
    governance: caches.governance,
    metrics: metrics.units,
    own: localStorageMetrics(registry),
    podMetrics: config.localStoragePodMetrics ? podStorageMetrics(registry) : undefined,
    log: log.named('localstorage'),
  });
}

/** Connects to the kubelet only when a policy has a rule for node pressure. */
function nodePressure(
  { registry, metrics, log, caches, recorder }: AgentUnitsDeps,
  kubelet: Kubelet,
  parts: Pick<NodePressureDeps, 'disk' | 'consumers' | 'relieve' | 'onPass'>,
): NodePressureManager {
  const logger = log.named('nodepressure');
  return new NodePressureManager({
    ...parts,
    recorder,
    clock,
    log: logger,
    isUsed: () => hasPressureRule(caches.policies()),
    pods: caches.pods,
    governance: caches.governance,
    node: () => thisNode(caches),
    source: {
      usage: (signal) => kubelet.usage(signal),
      thresholds: kubeletThresholds({ read: (signal) => kubelet.thresholds(signal), clock, log: logger }),
    },
    metrics: metrics.units,
    own: nodePressureMetrics(registry),
  });
}

/** The largest images and logs of the last passes. */
function consumersOf({ images, containers }: Inventories): readonly Consumer[] {
  const offenders = [...(images?.offenders ?? []), ...(containers?.offenders ?? [])];
  return offenders.flatMap(({ kind, id, name, bytes }): readonly Consumer[] => {
    const text = name ?? id ?? '';
    if (kind === 'Image') return [{ kind: 'image', name: text, amount: bytes }];
    return kind === 'LogDirectory' || kind === 'LogFile' ? [{ kind: 'log', name: text, amount: bytes }] : [];
  });
}

interface UsageSources {
  readonly kubelet: Kubelet;
  readonly inventories: Inventories;
  readonly freedBytes: () => number;
}

function usageManager(
  { registry, log, runtime, caches, recorder }: AgentUnitsDeps,
  { nodeDisk, logDisk, imageDisk: disk }: Place,
  { kubelet, inventories, freedBytes }: UsageSources,
): UsageManager {
  return new UsageManager({
    clock,
    recorder,
    runtime,
    nodeDisk,
    logDisk,
    freedBytes,
    imageDisk: disk,
    kubelet: (signal) => kubelet.usage(signal),
    pods: caches.pods,
    node: () => thisNode(caches),
    images: () => inventories.images,
    containers: () => inventories.containers,
    metrics: usageMetrics(registry),
    log: log.named('usage'),
  });
}

interface ReportSources {
  readonly inventories: Inventories;
  readonly usage: Pick<UsageManager, 'usage'>;
}

function reportManager(
  deps: AgentUnitsDeps,
  place: Place,
  { inventories, usage }: ReportSources,
): ReportManager {
  const { cluster, registry, log, runtime, runtimeWatch, caches, recorder, missingRights } = deps;
  const staleCaches = () => reportableStale(caches.all, clock.monotonicMs());
  return new ReportManager({
    clock,
    random: Math.random,
    agentVersion: version,
    imageDisk: place.imageDisk,
    nodeDisk: place.nodeDisk,
    // A short failure of a watch is no news; a long one is reported about the Node as last known.
    node: () => caches.node() ?? (staleCaches().length > 0 ? caches.lastNode() : undefined),
    staleCaches,
    missingRights: () => missingRights().map(rightText),
    governance: caches.governance,
    images: () => inventories.images,
    containers: () => inventories.containers,
    storage: () => inventories.storage,
    pressure: () => inventories.pressure,
    usage: () => usage.usage,
    lastRemoved: () => ({ images: inventories.removedImages, others: inventories.removedOthers }),
    runtimeVersion: () => runtimeWatch.version,
    runtimeTrouble: () => runtimeWatch.trouble,
    recorder,
    snapshots: new SnapshotFinder({ runtime }),
    reports: new NodeReports(cluster.transport),
    metrics: reportMetrics(registry),
    log: log.named('report'),
  });
}
