import { join } from 'node:path';
import { criRuntime } from '../../cri/client.ts';
import { socketPath } from '../../cri/sockets.ts';
import { statFsReader } from '../../node/disk/filesystem.ts';
import { LocalLogs } from '../../node/logs/logs.ts';
import { StateFile } from '../../node/disk/state-file.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { printable } from '../../runtime/text/printable.ts';
import { connect, type Connected } from '../cli/connect.ts';
import { exitCode, problemLine, UsageError } from '../cli/exit.ts';
import { withKubelet } from '../agent/kubelet-usage.ts';
import { Progress } from '../plan/progress.ts';
import { writeClusterPart, type ClusterPart } from './cluster.ts';
import type { ThisNode } from '../cli/config.ts';
import type { SnapshotConfig } from './command.ts';
import { SnapshotDirectory } from './directory.ts';
import { NodeSnapshot } from './node.ts';
import { isObject, type JsonObject } from './pick.ts';
import { stopSignal } from '../cli/stop-signal.ts';
import type { System } from '../cli/system.ts';

/** Writes a snapshot; resolves with the exit code. Where it rejects, or is interrupted, nothing is left behind. */
export async function runSnapshot(config: SnapshotConfig, system: System): Promise<number> {
  const signal = stopSignal(() => undefined);
  const directory = await SnapshotDirectory.begin(config);
  try {
    const part = await writeParts(config, { directory, system }, signal);
    signal.throwIfAborted();
    await directory.finish();
    system.stdout(`${printable(summaryOf(part, config))}\n`);
    return part.has('pods') ? exitCode.ok : exitCode.failure;
  } catch (err) {
    await directory.discard();
    throw signal.aborted ? new Error('snapshot: interrupted, nothing was written') : err;
  }
}

interface Tools {
  readonly directory: SnapshotDirectory;
  readonly system: System;
}

async function writeParts(
  config: SnapshotConfig,
  { directory, system: { stderr } }: Tools,
  signal: AbortSignal,
): Promise<ClusterPart> {
  const progress = new Progress(process.stderr.isTTY ? stderr : undefined, clock);
  const warn = (line: string): void => {
    progress.end();
    stderr(problemLine(`warning: ${line}`));
  };
  const cluster = await connect({ kube: config.kube, kubeApiQps: 0, kubeApiBurst: 1 }, () => undefined);
  const inside = config.node && openNode(config.node, { cluster, warn });
  const nodes = new Set<unknown>();
  try {
    await inside?.node.read(signal);
    const onObject = (object: JsonObject): void => {
      if (object['kind'] === 'Pod') inside?.node.sawPod(object);
      if (object['kind'] === 'Node' && isObject(object['metadata'])) nodes.add(object['metadata']['name']);
    };
    const onProgress = (file: string, objects: number): void => {
      progress.step(`writing ${file}: ${objects}`);
    };
    const pathOf = (file: string): string => directory.pathOf(file);
    const { transport } = cluster;
    const part = await writeClusterPart({ transport, clock, pathOf, warn, onProgress, onObject }, signal);
    if (part.has('nodes')) refuseStranger(config.node, nodes);
    const write = (file: string, text: string): Promise<void> => directory.write(file, text);
    await inside?.node.write(write, { arePodsKnown: part.has('pods') }, signal);
    return part;
  } finally {
    progress.end();
    inside?.close();
    cluster.close();
  }
}

/** Nothing could be planned for a node that the cluster does not know. */
function refuseStranger(node: ThisNode | undefined, known: ReadonlySet<unknown>): void {
  if (node === undefined || known.has(node.name)) return;
  throw new UsageError([`snapshot: --node-name: there is no node ${node.name} in the cluster`]);
}

interface OpenNode {
  readonly node: NodeSnapshot;
  close(): void;
}

interface NodeTools {
  readonly cluster: Pick<Connected, 'connection'>;
  readonly warn: (line: string) => void;
}

function openNode(config: ThisNode, { cluster, warn }: NodeTools): OpenNode {
  const { name, podLogs, containerLogs, kubeletRoot, stateDirectory } = config;
  const runtime = criRuntime({ socket: socketPath(config.criSocket) });
  const state = new StateFile(join(stateDirectory, 'state.json'));
  const node = new NodeSnapshot({
    ...{ name, runtime, kubeletRoot, warn },
    statFs: statFsReader(),
    logs: new LocalLogs({ pods: podLogs, containers: containerLogs }),
    readState: (signal) => state.read(signal),
    readSummary: (signal) => withKubelet(config, cluster.connection, (kubelet) => kubelet.summary(signal)),
  });
  return {
    node,
    close: () => {
      runtime.close();
    },
  };
}

function summaryOf(part: ClusterPart, { directory, node }: SnapshotConfig): string {
  const counts = [...part].map(([name, count]) => `${count} ${name}`);
  const inside = node === undefined ? [] : [`the inside of node ${node.name}`];
  return `Snapshot in ${directory}: ${[...counts, ...inside].join(', ')}`;
}
