import type { NodeGCReportStatusLargestOffender } from '../../api/gen/nodegcreport.gen.ts';
import type { NodePassReport } from '../../gc/pass.ts';
import { reportableStale } from '../../kube/cache/staleness.ts';
import type { Registry } from 'prom-client';
import type { UnitContext } from '../../agent/context.ts';
import { ContainerGcManager } from '../../agent/containergc/manager.ts';
import { lastOfEach } from '../../agent/containergc/report.ts';
import { containerGcMetrics } from '../../agent/containergc/metrics.ts';
import { ImageGcManager } from '../../agent/imagegc/manager.ts';
import { imageGcMetrics } from '../../agent/imagegc/metrics.ts';
import { LeftoversManager } from '../../agent/leftovers/manager.ts';
import { leftoverMetrics } from '../../agent/leftovers/metrics.ts';
import { LocalStorageManager } from '../../agent/localstorage/manager.ts';
import { localStorageMetrics, podStorageMetrics } from '../../agent/localstorage/metrics.ts';
import { ReportManager } from '../../agent/report/manager.ts';
import { reportMetrics } from '../../agent/report/metrics.ts';
import type { Consumer } from '../../agent/nodepressure/facts.ts';
import { NodePressureManager } from '../../agent/nodepressure/manager.ts';
import { nodePressureMetrics } from '../../agent/nodepressure/metrics.ts';
import { UsageManager } from '../../agent/usage/manager.ts';
import { usageMetrics } from '../../agent/usage/metrics.ts';
import { reportLists } from '../../agent/usage/plan.ts';
import { hasNamespaceBudgets, hasPressureRule, hasStorageRule } from '../../api/policy/matching.ts';
import type { ContainerdClient } from '../../containerd/client.ts';
import { ImageMounts } from '../../cri/image-mounts.ts';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import type { OwnRights } from '../../kube/auth/own-rights.ts';
import { NodeReports } from '../../kube/actions/node-report.ts';
import { readWantedList } from '../../kube/actions/wanted-list.ts';
import { nodeRef, type ObjectRef } from '../../api/event-refs.ts';
import type { Recorder } from '../../kube/events/recorder.ts';
import { attachmentReader, LiveNode } from '../../kube/actions/live-reads.ts';
import { imageDisk, statFsReader, cachedDevices, diskDevices } from '../../node/disk/filesystem.ts';
import { KubeletUsage } from '../../node/kubelet/source.ts';
import { LocalLogs } from '../../node/logs/logs.ts';
import { CheckpointDirectory } from '../../node/storage/checkpoints.ts';
import { OrphanFinder } from '../../node/storage/orphans-finder.ts';
import { orphanRoots } from '../../node/storage/orphans.ts';
import { SnapshotDirectories } from '../../node/storage/snapshots.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { AgentCaches } from './caches.ts';
import type { AgentConfig } from './command.ts';
import { leftoversPeriodMs, type AgentLoops, type Passes } from './loops.ts';
import type { AgentMetrics } from './metrics.ts';
import type { RuntimeWatch } from './runtime.ts';
import type { StateDirectory } from './state.ts';
import type { Connected } from '../../process/connect.ts';
import { kubeletThresholds, sharedUsage } from './kubelet.ts';
import { reliefOf } from './relief.ts';
import { WantedLists } from './wanted-lists.ts';
import { version } from '../../runtime/version.ts';

/** What the agent consists of besides its units. */
interface AgentContext {
  readonly config: AgentConfig;
  readonly cluster: Pick<Connected, 'transport' | 'connection'>;
  readonly registry: Registry;
  readonly metrics: Pick<AgentMetrics, 'units'>;
  readonly log: Logger;
  readonly runtime: ContainerRuntime;
  readonly containerd: Pick<
    ContainerdClient,
    'read' | 'labelImage' | 'isReceiving' | 'measure' | 'deleteLease' | 'abort' | 'collect'
  >;
  readonly runtimeWatch: Pick<RuntimeWatch, 'version' | 'trouble'>;
  readonly caches: Pick<
    AgentCaches,
    'governance' | 'governedNodes' | 'policies' | 'pods' | 'node' | 'lastNode' | 'all'
  >;
  readonly rights: Pick<OwnRights, 'missing'>;
  readonly recorder: Recorder;
  readonly state: StateDirectory;
  readonly loops: Pick<AgentLoops, 'alone' | 'beat' | 'wakeReport'>;
}

/** Builds the units of the agent; the report observes every pass. */
export function buildAgentUnits(agent: AgentContext): Omit<Passes, 'runtime'> {
  /** Since the start. */
  let freedBytes = 0;
  const onPass = (pass: NodePassReport): void => {
    freedBytes += pass.freedBytes;
    report.observe(pass);
    agent.loops.wakeReport();
  };
  const context = { ...agent, ...nodeParts(agent), onPass };
  const containers = containerGc(context);
  const images = imageGc(context);
  const storage = localStorage(context);
  const pressure = nodePressure(context, { containers, images });
  const leftovers = leftoversManager(context);
  const usage = usageManager(context, { containers, images, leftovers, freedBytes: () => freedBytes });
  const report = reportManager(context, { containers, images, storage, pressure, usage, leftovers });
  return {
    containers: (signal) => containers.collect(signal),
    images: (signal) => images.collect(signal),
    isPulling: (signal) => images.isPulling(signal),
    storage: (signal) => storage.collect(signal),
    pressure: (signal) => pressure.collect(signal),
    usage: (signal) => usage.measure(signal),
    leftovers: (signal) => leftovers.collect(signal),
    report: async (signal, isLast) => {
      // A disk that hangs must not delay the last report.
      await Promise.all([isLast === true && usage.saveMarks(signal), report.reconcile(signal, isLast)]);
    },
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
  return {
    live: new LiveNode({ transport: cluster.transport, clock, nodeName: config.nodeName }),
    logs: new LocalLogs({ pods: podLogs, containers: containerLogs }),
    imageDisk: (signal: AbortSignal) => imageDisk({ runtime, statFs }, signal),
    nodeDisk: (signal: AbortSignal) => statFs(kubeletRoot, signal),
    logDisk: (signal: AbortSignal) => statFs(podLogs, signal),
    kubelet: {
      usage: sharedUsage((signal) => kubelet.usage(signal), {
        // A signal is too old after two minutes: with a long period the units must not share a reading.
        lastsMs: Math.min(config.localStoragePeriodMs / 2, 5_000),
        clock,
        log: log.named('kubelet'),
      }),
      thresholds: kubeletThresholds((signal) => kubelet.thresholds(signal), {
        clock,
        log: log.named('nodepressure'),
      }),
      close: () => kubelet.close(),
    },
  };
}

type Context = AgentContext & ReturnType<typeof nodeParts> & Pick<UnitContext, 'onPass'>;

/** What all units have. */
const unitContext = ({ caches, metrics, recorder, log, onPass }: Context, name: string) => ({
  recorder,
  clock,
  onPass,
  governance: () => caches.governance(),
  pods: () => caches.pods(),
  node: (): ObjectRef | undefined => {
    const { name: nodeName, uid } = caches.node() ?? {};
    return nodeName === undefined || uid === undefined ? undefined : nodeRef({ name: nodeName, uid });
  },
  metrics: metrics.units,
  log: log.named(name),
});

/** What the units have that remove objects. Another call of the runtime is no progress of a pass. */
const removerContext = (context: Context, name: string) => ({
  ...unitContext(context, name),
  runtime: context.runtime,
  live: context.live,
  onProgress: () => context.loops.beat(),
});

function containerGc(context: Context): ContainerGcManager {
  const { config, registry, logs, cluster } = context;
  const readAttachment = attachmentReader(cluster.transport);
  return new ContainerGcManager({
    ...removerContext(context, 'containergc'),
    logs,
    checkpoints: new CheckpointDirectory(config.directories),
    orphans: new OrphanFinder({ roots: orphanRoots(config.directories), readAttachment }),
    own: containerGcMetrics(registry),
    periodMs: config.containerGcPeriodMs,
  });
}

function imageGc(context: Context): ImageGcManager {
  const { config, cluster, caches, registry, runtime, containerd, logs, state, imageDisk: disk } = context;
  const wanted = new WantedLists({
    periodMs: config.imageGcPeriodMs,
    clock,
    read: (signal) => readWantedList(cluster.transport, config.pod?.namespace, signal),
    labels: () => caches.node()?.labels,
  });
  return new ImageGcManager({
    ...removerContext(context, 'imagegc'),
    containerd,
    disk,
    state,
    mounts: new ImageMounts(runtime),
    wanted: (signal) => wanted.read(signal),
    logBytes: async (signal) => {
      const { entries } = await logs.list(signal);
      return entries.reduce((sum, { bytes, target }) => sum + (target === undefined ? bytes : 0), 0);
    },
    own: imageGcMetrics(registry),
    periodMs: config.imageGcPeriodMs,
  });
}

/** Connects to the kubelet only when a policy has a rule for local storage. */
function localStorage(context: Context): LocalStorageManager {
  const { config, registry, caches, kubelet } = context;
  return new LocalStorageManager({
    ...unitContext(context, 'localstorage'),
    source: kubelet,
    isUsed: () => hasStorageRule(caches.policies()),
    own: localStorageMetrics(registry),
    podMetrics: config.localStoragePodMetrics ? podStorageMetrics(registry) : undefined,
  });
}

interface Removers {
  readonly containers: ContainerGcManager;
  readonly images: ImageGcManager;
}

/** Connects to the kubelet only when a policy has a rule for node pressure. */
function nodePressure(context: Context, { containers, images }: Removers): NodePressureManager {
  const { registry, caches, kubelet, nodeDisk, loops } = context;
  return new NodePressureManager({
    ...unitContext(context, 'nodepressure'),
    source: kubelet,
    relieve: reliefOf({
      containers,
      images,
      place: context,
      alone: (pass, signal) => loops.alone(pass, signal),
    }),
    isUsed: () => hasPressureRule(caches.policies()),
    disk: (name, signal) => (name === 'imagefs' ? context.imageDisk(signal) : nodeDisk(signal)),
    consumers: () =>
      [images, containers].flatMap(({ inventory }) => (inventory?.offenders ?? []).flatMap(consumerOf)),
    own: nodePressureMetrics(registry),
  });
}

/** Images and logs: the sizes of other objects are not known. */
function consumerOf({
  kind,
  id,
  name = id ?? '',
  bytes: amount,
}: NodeGCReportStatusLargestOffender): Consumer | [] {
  if (kind === 'Image') return { kind: 'image', name, amount };
  return kind === 'LogDirectory' || kind === 'LogFile' ? { kind: 'log', name, amount } : [];
}

interface Used extends Removers {
  readonly leftovers: LeftoversManager;
  readonly freedBytes: () => number;
}

function usageManager(context: Context, { containers, images, leftovers, freedBytes }: Used): UsageManager {
  const { registry, runtime, state, nodeDisk, logDisk, imageDisk: disk, kubelet } = context;
  return new UsageManager({
    ...unitContext(context, 'usage'),
    runtime,
    nodeDisk,
    logDisk,
    kubelet: kubelet.usage,
    imageDisk: disk,
    freedBytes,
    marks: state.marks,
    podSlots: () => context.caches.node()?.podSlots,
    lists: () => {
      const { config, caches } = context;
      const policies = caches.policies();
      return reportLists(config.reportLists, {
        governedNodes: caches.governedNodes(),
        mayHaveBudgets: policies === undefined || hasNamespaceBudgets(policies),
      });
    },
    images: () => images.inventory,
    containers: () => containers.inventory,
    leftovers: () => leftovers.inventory,
    metrics: usageMetrics(registry),
  });
}

function leftoversManager(context: Context): LeftoversManager {
  const { config, registry, runtime, containerd } = context;
  return new LeftoversManager({
    ...removerContext(context, 'leftovers'),
    containerd,
    directories: new SnapshotDirectories({ runtime }),
    own: leftoverMetrics(registry),
    periodMs: leftoversPeriodMs(config.containerGcPeriodMs),
  });
}

interface Reported extends Removers {
  readonly storage: LocalStorageManager;
  readonly pressure: NodePressureManager;
  readonly usage: UsageManager;
  readonly leftovers: LeftoversManager;
}

function reportManager(
  context: Context,
  { containers, images, storage, pressure, usage, leftovers }: Reported,
): ReportManager {
  const { cluster, registry, runtimeWatch, caches, rights, nodeDisk } = context;
  const staleCaches = () => reportableStale(caches.all, clock.monotonicMs());
  return new ReportManager({
    ...unitContext(context, 'report'),
    random: Math.random,
    imageDisk: context.imageDisk,
    nodeDisk,
    // A short failure of a watch is no news; a long one is reported about the Node as last known.
    node: () => caches.node() ?? (staleCaches().length > 0 ? caches.lastNode() : undefined),
    staleCaches,
    missingRights: () => rights.missing,
    known: () => ({
      agentVersion: version,
      runtime: runtimeWatch.version,
      governance: caches.governance(),
      images: images.inventory,
      containers: containers.inventory,
      storage: storage.inventory,
      pressure: pressure.inventory,
      usage: usage.usage,
      leftovers: leftovers.inventory,
      lastRemoved: {
        images: images.lastRemoved,
        others: lastOfEach([...containers.lastRemoved, ...leftovers.lastRemoved]),
      },
    }),
    runtimeTrouble: () => runtimeWatch.trouble,
    reports: new NodeReports(cluster.transport),
    metrics: reportMetrics(registry),
  });
}
