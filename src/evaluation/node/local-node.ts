import { listLeftovers } from '../../agent/leftovers/checks.ts';
import { imageSpace } from '../../agent/imagegc/space.ts';
import type { ContainerdClient } from '../../containerd/client.ts';
import { ImageMounts } from '../../cri/image-mounts.ts';
import type { DiskDevices } from '../../api/file-system.ts';
import { join } from 'node:path';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import type { ClusterConnection } from '../../kube/auth/credentials.ts';
import type { KubeTransport } from '../../kube/http/transport.ts';
import { diskDevices, imageDisk, statFsReader } from '../../node/disk/filesystem.ts';
import { LocalLogs } from '../../node/logs/logs.ts';
import { attachmentReader } from '../../kube/actions/live-reads.ts';
import { CheckpointDirectory } from '../../node/storage/checkpoints.ts';
import { OrphanFinder } from '../../node/storage/orphans-finder.ts';
import { orphanRoots } from '../../node/storage/orphans.ts';
import { StateFile } from '../../node/disk/state-file.ts';
import { agentState } from '../../node/disk/state-format.ts';
import { emptyState, type AgentState } from '../../node/disk/state-format.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import { impossibleNote, inOrder, type NodePart } from '../../snapshot/plan-facts.ts';
import { withKubelet } from './kubelet.ts';
import type { ThisNode } from '../../process/config.ts';
import { podsOnNode, usingRuntime } from './node-runtime.ts';

interface NodeReading {
  readonly transport: KubeTransport;
  readonly connection: ClusterConnection;
  readonly needsUsage: boolean;
  /** Receives one sentence for each failure. */
  readonly notes: string[];
}

/**
 * Reads this node as its agent does; rejects when the runtime does not answer, is not ready or not the kubelet's, or the pods cannot be listed.
 */
export function readThisNode(node: ThisNode, reading: NodeReading, signal: AbortSignal): Promise<NodePart> {
  const { transport, notes } = reading;
  const warn = (problem: string): void => {
    notes.push(`Node ${node.name}: ${problem}.`);
  };
  return usingRuntime(
    node,
    { transport, warn },
    (runtime, containerd) => read(node, { ...reading, runtime, containerd }, signal),
    signal,
  );
}

async function read(
  node: ThisNode,
  {
    runtime,
    containerd,
    transport,
    connection,
    needsUsage,
    notes,
  }: NodeReading & { readonly runtime: ContainerRuntime; readonly containerd: ContainerdClient },
  signal: AbortSignal,
): Promise<NodePart> {
  const { name, podLogs, containerLogs } = node;
  const orNote = async <T>(value: Promise<T>): Promise<T | undefined> => {
    try {
      return await value;
    } catch (err) {
      notes.push(`Node ${name}: ${errorLine(err)}.`);
      return undefined;
    }
  };
  await runtime.checkReady(signal);
  const finder = new OrphanFinder({ roots: orphanRoots(node), readAttachment: attachmentReader(transport) });
  // Before everything else, so that the pod of each directory is known.
  const listed = await orNote(finder.list(signal));
  const sandboxImage = await orNote(runtime.sandboxImage(signal));
  const images = await runtime.listImages(signal);
  const store = await orNote(containerd.read(signal));
  const containers = await runtime.listContainers(signal);
  const sandboxes = await runtime.listSandboxes(signal);
  const statFs = statFsReader();
  const devices = (): Promise<DiskDevices> =>
    diskDevices({ runtime, statFs, kubeletRoot: node.kubeletRoot }, signal);
  const usage = needsUsage
    ? await orNote(withKubelet({ ...node, devices }, connection, (kubelet) => kubelet.usage(signal)))
    : undefined;
  notes.push(...(usage?.impossible ?? []).map((what) => impossibleNote(name, what)));
  const pods = await podsOnNode(name, transport, signal);
  return inOrder({
    name,
    images,
    space: store && imageSpace(store, images, clock.now()),
    leftovers: (await orNote(listLeftovers({ containerd, runtime }, () => clock.now(), signal)))?.leftovers,
    sandboxImage,
    containers,
    sandboxes,
    usage,
    pods,
    mounted: [...(await new ImageMounts(runtime).read(containers, signal)).values()].flat(),
    disk: await orNote(imageDisk({ runtime, statFs }, signal)),
    orphans: listed && (await orNote(finder.inspect(listed, { pods, sandboxes, containers }, signal))),
    // The plan has a note if a policy needs them: most clusters have none, and only root may read the directory.
    checkpoints: await new CheckpointDirectory(node).list(signal).catch(() => undefined),
    logs: await orNote(new LocalLogs({ pods: podLogs, containers: containerLogs }).list(signal)),
    state: await stateOf(node, notes, signal),
  });
}

async function stateOf(
  { name, stateDirectory }: ThisNode,
  notes: string[],
  signal: AbortSignal,
): Promise<AgentState> {
  const reading = await new StateFile(join(stateDirectory, 'state.json'), agentState).read(signal);
  if (reading.kind === 'read') return reading.state;
  if (reading.kind === 'startOver') notes.push(`Node ${name}: the agent's state file ${reading.reason}.`);
  return emptyState;
}
