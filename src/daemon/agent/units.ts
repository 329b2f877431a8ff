import type { ContainerInventory } from '../../agent/containergc/facts.ts';
import type { ImageInventory } from '../../agent/imagegc/facts.ts';
import type { LastRemoved, NodePassReport } from '../../gc/pass.ts';
import { rightText, type Right } from '../../api/policy/needs.ts';
import { reportableStale } from '../../kube/cache/staleness.ts';
import type { Registry } from 'prom-client';
import { ContainerGcManager } from '../../agent/containergc/manager.ts';
import { containerGcMetrics } from '../../agent/containergc/metrics.ts';
import { ImageGcManager } from '../../agent/imagegc/manager.ts';
import { imageGcMetrics } from '../../agent/imagegc/metrics.ts';
import { LocalStorageManager } from '../../agent/localstorage/manager.ts';
import { localStorageMetrics, podStorageMetrics } from '../../agent/localstorage/metrics.ts';
import { ReportManager } from '../../agent/report/manager.ts';
import { reportMetrics } from '../../agent/report/metrics.ts';
import type { Consumer, PressureInventory } from '../../agent/nodepressure/facts.ts';
import { NodePressureManager, type NodePressureDeps } from '../../agent/nodepressure/manager.ts';
import { nodePressureMetrics } from '../../agent/nodepressure/metrics.ts';
import { UsageManager } from '../../agent/usage/manager.ts';
import { usageMetrics } from '../../agent/usage/metrics.ts';
import { hasPressureRule, hasStorageRule } from '../../api/policy/matching.ts';
import { ImageMounts } from '../../cri/image-mounts.ts';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import { NodeReports } from '../../kube/actions/node-report.ts';
import { nodeRef, type ObjectRef } from '../../api/event-refs.ts';
import type { Recorder } from '../../kube/events/recorder.ts';
import { LiveNode } from '../../kube/actions/live-reads.ts';
import { imageDisk, statFsReader } from '../../node/disk/filesystem.ts';
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
import { kubeletThresholds, sharedUsage } from './kubelet.ts';
import { reliefOf } from './relief.ts';
import { version } from '../../runtime/version.ts';
import type { StorageInventory } from '../../agent/localstorage/facts.ts';

/** What the agent consists of besides its units. */
interface AgentContext {
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
export function buildAgentUnits(agent: AgentContext): Omit<Passes, 'runtime'> {
  const context = { ...agent, ...nodeParts(agent) };
  const { last } = context;
  const usage = usageManager(context);
  const report = reportManager(context, usage);
  const passed = (pass: NodePassReport, found: Partial<LastPasses>): void => {
    Object.assign(last, found);
    last.freedBytes += pass.freedBytes;
    report.observe(pass);
    agent.onPass();
  };
  const containers = containerGc(context, passed);
  const images = imageGc(context, passed);
  const storage = localStorage(context, passed);
  const relieve = reliefOf({ containers, images, place: context, alone: agent.alone });
  const pressure = nodePressure(context, relieve, passed);
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

/** Files and disks of the node, its kubelet, and what the API server knows of it. */
function nodeParts({ config, cluster, runtime, log }: AgentContext) {
  const { podLogs, containerLogs, kubeletRoot } = config.directories;
  const statFs = statFsReader();
  const kubelet = new KubeletUsage({
    ...config.kubelet,
    nodeName: config.nodeName,
    cluster: cluster.connection,
    clock,
    devices: cachedDevices((signal) => diskDevices({ runtime, statFs, kubeletRoot }, signal), clock),
  });
  const last: LastPasses = { removedImages: [], removedOthers: [], freedBytes: 0 };
  return {
    last,
    live: new LiveNode({ transport: cluster.transport, clock, nodeName: config.nodeName }),
    logs: new LocalLogs({ pods: podLogs, containers: containerLogs }),
    imageDisk: (signal: AbortSignal) => imageDisk({ runtime, statFs }, signal),
    nodeDisk: (signal: AbortSignal) => statFs(kubeletRoot, signal),
    logDisk: (signal: AbortSignal) => statFs(podLogs, signal),
    kubelet: {
      usage: sharedUsage({
        read: (signal) => kubelet.usage(signal),
        // A signal is too old after two minutes: with a long period the units must not share a reading.
        lastsMs: Math.min(config.localStoragePeriodMs / 2, 5_000),
        clock,
        log: log.named('kubelet'),
      }),
      thresholds: (signal: AbortSignal) => kubelet.thresholds(signal),
      close: () => kubelet.close(),
    },
  };
}

type Context = AgentContext & ReturnType<typeof nodeParts>;

/** What the last passes have left; undefined = the last pass had none. */
interface LastPasses {
  removedImages: LastRemoved['images'];
  removedOthers: LastRemoved['others'];
  /** Since the start. */
  freedBytes: number;
  containers?: ContainerInventory | undefined;
  images?: ImageInventory | undefined;
  storage?: StorageInventory | undefined;
  pressure?: PressureInventory | undefined;
}

type Passed = (pass: NodePassReport, found: Partial<LastPasses>) => void;

/** What all units have. */
const unitContext = ({ caches, metrics, recorder, log }: Context, name: string) => ({
  recorder,
  clock,
  governance: caches.governance,
  pods: caches.pods,
  node: (): ObjectRef | undefined => {
    const { name: nodeName, uid } = caches.node() ?? {};
    return nodeName === undefined || uid === undefined ? undefined : nodeRef({ name: nodeName, uid });
  },
  metrics: metrics.units,
  log: log.named(name),
});

function containerGc(context: Context, passed: Passed): ContainerGcManager {
  const { config, registry, runtime, live, logs, onProgress } = context;
  return new ContainerGcManager({
    ...unitContext(context, 'containergc'),
    runtime,
    live,
    logs,
    onProgress,
    orphans: new OrphanFinder({ roots: orphanRoots(config.directories) }),
    own: containerGcMetrics(registry),
    periodMs: config.containerGcPeriodMs,
    onPass: (pass, containers, removedOthers) => passed(pass, { containers, removedOthers }),
  });
}

function imageGc(context: Context, passed: Passed): ImageGcManager {
  const { config, registry, runtime, live, logs, state, onProgress, imageDisk: disk } = context;
  return new ImageGcManager({
    ...unitContext(context, 'imagegc'),
    runtime,
    live,
    disk,
    state,
    onProgress,
    mounts: new ImageMounts(runtime),
    logBytes: async (signal) => {
      const { entries } = await logs.list(signal);
      return entries.reduce((sum, { bytes, target }) => sum + (target === undefined ? bytes : 0), 0);
    },
    own: imageGcMetrics(registry),
    periodMs: config.imageGcPeriodMs,
    onPass: (pass, images, removedImages) => passed(pass, { images, removedImages }),
  });
}

/** Connects to the kubelet only when a policy has a rule for local storage. */
function localStorage(context: Context, passed: Passed): LocalStorageManager {
  const { config, registry, caches, kubelet } = context;
  return new LocalStorageManager({
    ...unitContext(context, 'localstorage'),
    source: kubelet,
    isUsed: () => hasStorageRule(caches.policies()),
    own: localStorageMetrics(registry),
    podMetrics: config.localStoragePodMetrics ? podStorageMetrics(registry) : undefined,
    onPass: (pass, storage) => passed(pass, { storage }),
  });
}

/** Connects to the kubelet only when a policy has a rule for node pressure. */
function nodePressure(
  context: Context,
  relieve: NodePressureDeps['relieve'],
  passed: Passed,
): NodePressureManager {
  const { registry, caches, last, kubelet } = context;
  const { usage, thresholds: read } = kubelet;
  const unit = unitContext(context, 'nodepressure');
  return new NodePressureManager({
    ...unit,
    relieve,
    isUsed: () => hasPressureRule(caches.policies()),
    source: { usage, thresholds: kubeletThresholds({ read, clock, log: unit.log }) },
    disk: (name, signal) => (name === 'imagefs' ? context.imageDisk(signal) : context.nodeDisk(signal)),
    consumers: () => consumersOf(last),
    own: nodePressureMetrics(registry),
    onPass: (pass, pressure) => passed(pass, { pressure }),
  });
}

/** The largest images and logs of the last passes. */
function consumersOf({ images, containers }: LastPasses): readonly Consumer[] {
  const offenders = [...(images?.offenders ?? []), ...(containers?.offenders ?? [])];
  return offenders.flatMap(({ kind, id, name, bytes }): readonly Consumer[] => {
    const text = name ?? id ?? '';
    if (kind === 'Image') return [{ kind: 'image', name: text, amount: bytes }];
    return kind === 'LogDirectory' || kind === 'LogFile' ? [{ kind: 'log', name: text, amount: bytes }] : [];
  });
}

function usageManager(context: Context): UsageManager {
  const { registry, runtime, last, nodeDisk, logDisk, imageDisk: disk, kubelet } = context;
  return new UsageManager({
    ...unitContext(context, 'usage'),
    runtime,
    nodeDisk,
    logDisk,
    kubelet: kubelet.usage,
    imageDisk: disk,
    freedBytes: () => last.freedBytes,
    images: () => last.images,
    containers: () => last.containers,
    metrics: usageMetrics(registry),
  });
}

function reportManager(context: Context, usage: UsageManager): ReportManager {
  const { cluster, registry, runtime, runtimeWatch, caches, last, missingRights, nodeDisk } = context;
  const staleCaches = () => reportableStale(caches.all, clock.monotonicMs());
  return new ReportManager({
    ...unitContext(context, 'report'),
    random: Math.random,
    agentVersion: version,
    imageDisk: context.imageDisk,
    nodeDisk,
    // A short failure of a watch is no news; a long one is reported about the Node as last known.
    node: () => caches.node() ?? (staleCaches().length > 0 ? caches.lastNode() : undefined),
    staleCaches,
    missingRights: () => missingRights().map(rightText),
    images: () => last.images,
    containers: () => last.containers,
    storage: () => last.storage,
    pressure: () => last.pressure,
    usage: () => usage.usage,
    lastRemoved: () => ({ images: last.removedImages, others: last.removedOthers }),
    runtimeVersion: () => runtimeWatch.version,
    runtimeTrouble: () => runtimeWatch.trouble,
    snapshots: new SnapshotFinder({ runtime }),
    reports: new NodeReports(cluster.transport),
    metrics: reportMetrics(registry),
  });
}
