import { basename } from 'node:path';
import { isObject } from '../../api/json.ts';
import { pinsWanted } from '../../api/policy/matching.ts';
import { parsePolicy } from '../../api/policy/policy-spec.ts';
import { formatWantedList } from '../../api/wanted-images.ts';
import { readControllers } from '../../evaluation/installation/read.ts';
import { readWantedList } from '../../kube/actions/wanted-list.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { printable } from '../../runtime/text/printable.ts';
import type { ThisNode } from '../../process/config.ts';
import { usingCluster, type Connected } from '../../process/connect.ts';
import type { PersonConnection } from '../../process/connection.ts';
import { exitCode, problemLine, UsageError } from '../../process/exit.ts';
import { progressOf } from '../../process/progress.ts';
import { stopSignal, type System } from '../../process/system.ts';
import { writeClusterPart, type ClusterPart } from './cluster.ts';
import type { SnapshotConfig } from './command.ts';
import { SnapshotDirectory } from './directory.ts';
import { usingNode, type NodeSnapshot } from './node.ts';
import type { JsonObject } from './pick.ts';

/** Writes a snapshot; resolves with the exit code. After a failure or an interrupt, nothing is left behind. */
export async function runSnapshot(config: SnapshotConfig, system: System): Promise<number> {
  const signal = stopSignal(() => undefined);
  if (config.onlyNode !== undefined)
    return runOnlyNode(config.onlyNode, { kube: config.kube, system }, signal);
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

/** Writes the objects on this node to standard output: one JSON object, with a field for each file that its folder in a snapshot has. */
async function runOnlyNode(
  config: ThisNode,
  { kube, system }: { readonly kube: PersonConnection; readonly system: System },
  signal: AbortSignal,
): Promise<number> {
  const warn = (line: string): void => system.stderr(problemLine(`warning: ${line}`));
  const files: Record<string, unknown> = {};
  const write = (file: string, text: string): Promise<void> => {
    files[basename(file, '.json')] = JSON.parse(text);
    return Promise.resolve();
  };
  const copy = async (node: NodeSnapshot): Promise<void> => {
    await node.read(signal);
    await node.write(write);
  };
  await usingCluster(kube, ({ connection, transport }) =>
    usingNode(config, { connection, transport, warn }, copy, signal),
  );
  system.stdout(`${JSON.stringify(files)}\n`);
  return exitCode.ok;
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
  const progress = progressOf(config.progress, stderr);
  const warn = (line: string): void => {
    progress.end();
    stderr(problemLine(`warning: ${line}`));
  };
  const onProgress = (file: string, objects: number): void => progress.step(`writing ${file}: ${objects}`);
  const pathOf = (file: string): string => directory.pathOf(file);
  try {
    return await usingCluster(config.kube, async ({ transport, connection }) => {
      const writeWith = async (node: NodeSnapshot | undefined): Promise<ClusterPart> => {
        const nodeNames = new Set<unknown>();
        const policies: JsonObject[] = [];
        const onObject = (object: JsonObject): void => {
          if (object['kind'] === 'Node' && isObject(object['metadata']))
            nodeNames.add(object['metadata']['name']);
          if (object['kind'] === 'GCPolicy') policies.push(object);
        };
        await node?.read(signal);
        const deps = { pods: config.pods, transport, clock, pathOf, warn, onProgress, onObject };
        const part = await writeClusterPart(deps, signal);
        if (part.has('nodes')) refuseUnknownNode(config.node, nodeNames);
        const write = (file: string, text: string): Promise<void> => directory.write(file, text);
        await node?.write(write);
        if (pinsWanted(policies.map(parsePolicy)))
          await writeWanted({ transport, connection, write, warn }, signal);
        await directory.record(clock.now(), config.pods);
        return part;
      };
      if (config.node === undefined) return writeWith(undefined);
      return usingNode(config.node, { connection, transport, warn }, writeWith, signal);
    });
  } finally {
    progress.end();
  }
}

interface WantedTools extends Pick<Connected, 'transport' | 'connection'> {
  readonly write: (file: string, text: string) => Promise<void>;
  readonly warn: (line: string) => void;
}

async function writeWanted({ write, warn, ...cluster }: WantedTools, signal: AbortSignal): Promise<void> {
  const [controller] = (await readControllers(cluster, signal)) ?? [];
  const reading = await readWantedList(cluster.transport, controller?.namespace, signal);
  if (typeof reading === 'string') warn(`${reading}; wantedimages.json is left out`);
  else await write('wantedimages.json', formatWantedList(reading));
}

/** No plan is possible for a node that the cluster does not have. */
function refuseUnknownNode(node: ThisNode | undefined, known: ReadonlySet<unknown>): void {
  if (node === undefined || known.has(node.name)) return;
  throw new UsageError([`--node-name: there is no node ${node.name} in the cluster`]);
}

function summaryOf(part: ClusterPart, { directory, node }: SnapshotConfig): string {
  const counts = [...part].map(([name, count]) => `${count} ${name}`);
  const onNode = node === undefined ? [] : [`the objects on node ${node.name}`];
  return `Snapshot in ${directory}: ${[...counts, ...onNode].join(', ')}`;
}
