import { parseRfc3339 } from '../runtime/rfc3339.ts';
import { kubeConfigSource, set, type KubeConfigSource } from './config.ts';
import { UsageError } from './exit.ts';
import type { Flag } from './flag-types.ts';
import type { CommandLine } from './flags.ts';
import type { OutputFormat } from './output.ts';
import { kubeletAccess, type KubeletAccess } from './kubelet-access.ts';
import { planFlags } from './plan-flags.ts';
import type { System } from './system.ts';

export interface PlanConfig {
  readonly policyFiles: readonly string[];
  /** undefined = from the cluster. */
  readonly snapshot: string | undefined;
  /** undefined = now. */
  readonly now: Date | undefined;
  readonly kept: boolean;
  readonly assumeElapsed: boolean;
  readonly output: OutputFormat;
  readonly isColourAllowed: boolean;
  readonly kube: KubeConfigSource;
  /** undefined = this is no node, or is not looked into. */
  readonly node: ThisNode | undefined;
}

/** The node this runs on. */
export interface ThisNode {
  readonly name: string;
  readonly criSocket: string;
  readonly stateDirectory: string;
  readonly podLogs: string;
  readonly containerLogs: string;
  readonly kubelet: KubeletAccess;
}

/** The settings of `dustpan plan`, valid together, or of another command that has its flags; throws UsageError for what is not. */
export function planConfig(line: CommandLine, { env }: System, command = 'plan'): PlanConfig {
  const now = parseRfc3339(line.value(planFlags.now));
  const { snapshot: from, criSocket } = planFlags;
  const snapshot = overrides(line, criSocket, from) ? undefined : set(line.value(from));
  const node = overrides(line, from, criSocket) ? undefined : thisNode(line, env, command);
  if (snapshot !== undefined && node !== undefined)
    throw new UsageError([`${command}: --cri-socket and --snapshot exclude each other`]);
  return {
    policyFiles: line.value(planFlags.policy),
    snapshot,
    now: now === undefined ? undefined : new Date(now),
    kept: line.value(planFlags.kept),
    assumeElapsed: line.value(planFlags.assumeElapsed),
    output: line.value(planFlags.output),
    isColourAllowed: set(env['NO_COLOR']) === undefined,
    kube: kubeConfigSource(line, env),
    node,
  };
}

/** On a node the socket is often in the environment; who then says --snapshot means that. */
const overrides = (line: CommandLine, one: Flag<unknown>, other: Flag<unknown>): boolean =>
  line.isGiven(one) && !line.isGiven(other);

function thisNode(line: CommandLine, env: System['env'], command: string): ThisNode | undefined {
  const criSocket = set(line.value(planFlags.criSocket));
  if (criSocket === undefined) return undefined;
  const name = set(line.value(planFlags.nodeName)) ?? set(env['NODE_NAME']);
  if (name === undefined) throw new UsageError([`${command}: --cri-socket needs --node-name, or NODE_NAME`]);
  return {
    name,
    criSocket,
    stateDirectory: line.value(planFlags.stateDir),
    podLogs: line.value(planFlags.podLogsDir),
    containerLogs: line.value(planFlags.containerLogsDir),
    kubelet: kubeletAccess(line, env),
  };
}
