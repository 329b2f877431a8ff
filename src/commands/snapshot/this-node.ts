import { join } from 'node:path';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import { statFsReader } from '../../node/disk/filesystem.ts';
import { StateFile } from '../../node/disk/state-file.ts';
import { LocalLogs } from '../../node/logs/logs.ts';
import { OrphanFinder } from '../../node/storage/orphans-finder.ts';
import { orphanRoots } from '../../node/storage/orphans-listing.ts';
import { withKubelet } from '../../evaluation/node/kubelet.ts';
import type { ThisNode } from '../../process/config.ts';
import type { Connected } from '../../process/connect.ts';
import { usingRuntime } from '../../evaluation/node/node-runtime.ts';
import { NodeSnapshot } from './node.ts';

interface NodeTools extends Pick<Connected, 'connection' | 'transport'> {
  readonly warn: (line: string) => void;
}

/** Calls `use` with this node. */
export function usingNode<T>(
  config: ThisNode,
  { connection, transport, warn }: NodeTools,
  use: (node: NodeSnapshot) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { name, podLogs, containerLogs, kubeletRoot, stateDirectory } = config;
  const state = new StateFile(join(stateDirectory, 'state.json'));
  const useWith = (runtime: ContainerRuntime): Promise<T> =>
    use(
      new NodeSnapshot({
        name,
        runtime,
        kubeletRoot,
        warn,
        statFs: statFsReader(),
        orphans: new OrphanFinder({ roots: orphanRoots(config) }),
        logs: new LocalLogs({ pods: podLogs, containers: containerLogs }),
        readState: (reading) => state.read(reading),
        readSummary: (reading) => withKubelet(config, connection, (kubelet) => kubelet.summary(reading)),
      }),
    );
  const warnOfNode = (problem: string): void => {
    warn(`node ${name}: ${problem}`);
  };
  return usingRuntime(config, { transport, warn: warnOfNode }, useWith, signal);
}
