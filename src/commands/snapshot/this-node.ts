import { join } from 'node:path';
import { criRuntime } from '../../cri/client.ts';
import { socketPath } from '../../cri/sockets.ts';
import { statFsReader } from '../../node/disk/filesystem.ts';
import { StateFile } from '../../node/disk/state-file.ts';
import { LocalLogs } from '../../node/logs/logs.ts';
import { OrphanFinder } from '../../node/storage/orphans-finder.ts';
import { orphanRoots } from '../../node/storage/orphans-listing.ts';
import { withKubelet } from '../agent/kubelet-usage.ts';
import type { ThisNode } from '../cli/config.ts';
import type { Connected } from '../cli/connect.ts';
import { NodeSnapshot } from './node.ts';

interface NodeTools extends Pick<Connected, 'connection'> {
  readonly warn: (line: string) => void;
}

/** Calls `use` with this node. */
export async function usingNode<T>(
  config: ThisNode,
  { connection, warn }: NodeTools,
  use: (node: NodeSnapshot) => Promise<T>,
): Promise<T> {
  const { name, podLogs, containerLogs, kubeletRoot, stateDirectory } = config;
  const runtime = criRuntime({ socket: socketPath(config.criSocket) });
  const state = new StateFile(join(stateDirectory, 'state.json'));
  const node = new NodeSnapshot({
    name,
    runtime,
    kubeletRoot,
    warn,
    statFs: statFsReader(),
    orphans: new OrphanFinder({ roots: orphanRoots(config) }),
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
