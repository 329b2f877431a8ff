import { kubeConfigSource, set, type KubeConfigSource } from './config.ts';
import { notSubdomain } from './controller-flags.ts';
import { UsageError } from './exit.ts';
import type { CommandLine } from './flags.ts';
import { kubeletAccess, type KubeletAccess } from './kubelet-access.ts';
import { snapshotFlags } from './snapshot-flags.ts';
import type { System } from './system.ts';

export interface SnapshotConfig {
  readonly directory: string;
  readonly force: boolean;
  readonly kube: KubeConfigSource;
  /** undefined = only the cluster is written. */
  readonly node: SnapshotNode | undefined;
}

/** The node this runs on. Directories are absolute. */
export interface SnapshotNode {
  readonly name: string;
  readonly criSocket: string;
  readonly stateDirectory: string;
  readonly podLogs: string;
  readonly containerLogs: string;
  readonly kubeletRoot: string;
  readonly kubelet: KubeletAccess;
}

/** The settings of `dustpan snapshot`, valid together; throws UsageError for what is not. */
export function snapshotConfig(line: CommandLine, { env }: System): SnapshotConfig {
  const [directory = ''] = line.args;
  if (directory === '') throw new UsageError(['snapshot: DIR must not be empty']);
  return {
    directory,
    force: line.value(snapshotFlags.force),
    kube: kubeConfigSource(line, env),
    node: snapshotNode(line, env),
  };
}

function snapshotNode(line: CommandLine, env: System['env']): SnapshotNode | undefined {
  const criSocket = set(line.value(snapshotFlags.criSocket));
  if (criSocket === undefined) return undefined;
  const name = set(line.value(snapshotFlags.nodeName)) ?? set(env['NODE_NAME']);
  if (name === undefined) throw new UsageError(['snapshot: --cri-socket needs --node-name, or NODE_NAME']);
  const problem = notSubdomain(name);
  if (problem !== undefined) throw new UsageError([`snapshot: NODE_NAME: ${problem}`]);
  return {
    ...{ name, criSocket },
    stateDirectory: line.value(snapshotFlags.stateDir),
    podLogs: line.value(snapshotFlags.podLogsDir),
    containerLogs: line.value(snapshotFlags.containerLogsDir),
    kubeletRoot: line.value(snapshotFlags.kubeletRootDir),
    kubelet: kubeletAccess(line, env),
  };
}
