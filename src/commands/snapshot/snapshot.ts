import { join } from 'node:path';
import { criRuntime } from '../../cri/client.ts';
import { socketPath } from '../../cri/sockets.ts';
import { statFsReader } from '../../node/disk/filesystem.ts';
import { StateFile } from '../../node/disk/state-file.ts';
import { LocalLogs } from '../../node/logs/logs.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { printable } from '../../runtime/text/printable.ts';
import { withKubelet } from '../agent/kubelet-usage.ts';
import type { ThisNode } from '../cli/config.ts';
import { usingCluster, type Connected } from '../cli/connect.ts';
import { exitCode, problemLine, UsageError } from '../cli/exit.ts';
import { Progress } from '../cli/progress.ts';
import { stopSignal } from '../cli/stop-signal.ts';
import type { System } from '../cli/system.ts';
import { writeClusterPart, type ClusterPart } from './cluster.ts';
import type { SnapshotConfig } from './command.ts';
import { SnapshotDirectory } from './directory.ts';
import { NodeSnapshot } from './node.ts';
import { isObject, type JsonObject } from './pick.ts';

/** Writes a snapshot; resolves with the exit code. After a failure or an interrupt, nothing is left behind. */
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

interface Output {
  readonly directory: SnapshotDirectory;
  readonly system: System;
}

async function writeParts(
  config: SnapshotConfig,
  { directory, system: { stderr } }: Output,
  signal: AbortSignal,
): Promise<ClusterPart> {
  const progress = new Progress(process.stderr.isTTY ? stderr : undefined, clock);
  const warn = (line: string): void => {
    progress.end();
    stderr(problemLine(`warning: ${line}`));
  };
  const onProgress = (file: string, objects: number): void => {
    progress.step(`writing ${file}: ${objects}`);
  };
  const pathOf = (file: string): string => directory.pathOf(file);
  try {
    return await usingCluster(config.kube, ({ transport, connection }) =>
      usingNode(config.node, { connection, warn }, async (node) => {
        const nodeNames = new Set<unknown>();
        const onObject = (object: JsonObject): void => {
          if (object['kind'] === 'Pod') node?.addPod(object);
          if (object['kind'] === 'Node' && isObject(object['metadata']))
            nodeNames.add(object['metadata']['name']);
        };
        await node?.read(signal);
        const deps = { transport, clock, pathOf, warn, onProgress, onObject };
        const part = await writeClusterPart(deps, signal);
        if (part.has('nodes')) refuseUnknownNode(config.node, nodeNames);
        const write = (file: string, text: string): Promise<void> => directory.write(file, text);
        await node?.write(write, { arePodsKnown: part.has('pods') }, signal);
        return part;
      }),
    );
  } finally {
    progress.end();
  }
}

/** No plan is possible for a node that the cluster does not have. */
function refuseUnknownNode(node: ThisNode | undefined, known: ReadonlySet<unknown>): void {
  if (node === undefined || known.has(node.name)) return;
  throw new UsageError([`snapshot: --node-name: there is no node ${node.name} in the cluster`]);
}

interface NodeTools extends Pick<Connected, 'connection'> {
  readonly warn: (line: string) => void;
}

/** Calls `use` with this node, or with undefined where the command line leaves it out. */
async function usingNode<T>(
  config: ThisNode | undefined,
  { connection, warn }: NodeTools,
  use: (node: NodeSnapshot | undefined) => Promise<T>,
): Promise<T> {
  if (config === undefined) return use(undefined);
  const { name, podLogs, containerLogs, kubeletRoot, stateDirectory } = config;
  const runtime = criRuntime({ socket: socketPath(config.criSocket) });
  const state = new StateFile(join(stateDirectory, 'state.json'));
  const node = new NodeSnapshot({
    ...{ name, runtime, kubeletRoot, warn },
    statFs: statFsReader(),
    logs: new LocalLogs({ pods: podLogs, containers: containerLogs }),
    readState: (signal) => state.read(signal),
    readSummary: (signal) => withKubelet(config, connection, (kubelet) => kubelet.summary(signal)),
  });
  try {
    return await use(node);
  } finally {
    runtime.close();
  }
}

function summaryOf(part: ClusterPart, { directory, node }: SnapshotConfig): string {
  const counts = [...part].map(([name, count]) => `${count} ${name}`);
  const onNode = node === undefined ? [] : [`the objects on node ${node.name}`];
  return `Snapshot in ${directory}: ${[...counts, ...onNode].join(', ')}`;
}
