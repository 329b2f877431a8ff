import type { LogFormat } from '../runtime/winston-logger.ts';
import { agentFlags } from './agent-flags.ts';
import { kubeConfigSource, set, type KubeConfigSource } from './config.ts';
import { notSubdomain } from './controller-flags.ts';
import { UsageError } from './exit.ts';
import { envName, type CommandLine, type Variables } from './flags.ts';
import { kubeletAccess, type KubeletAccess } from './kubelet-access.ts';
import { metricsSecurity, metricsSecurityProblems, type MetricsSecurity } from './metrics-security.ts';
import type { System } from './system.ts';

export interface AgentConfig {
  readonly kube: KubeConfigSource;
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
  readonly nodeName: string;
  /** A path or a `unix://` URL; undefined = to be found. */
  readonly criSocket: string | undefined;
  readonly runtimeRequestTimeoutMs: number;
  readonly imageGcPeriodMs: number;
  readonly containerGcPeriodMs: number;
  readonly localStoragePeriodMs: number;
  /** A metric for each pod. */
  readonly isStorageToldByPod: boolean;
  readonly kubelet: KubeletAccess;
  readonly directories: AgentDirectories;
  readonly metricsBindAddress: string;
  readonly metricsSecurity: MetricsSecurity;
  readonly healthProbeBindAddress: string;
  readonly verbosity: number;
  readonly logFormat: LogFormat;
}

/** Absolute paths. */
interface AgentDirectories {
  readonly state: string;
  readonly podLogs: string;
  readonly containerLogs: string;
  readonly kubeletRoot: string;
}

const directoryFlags = {
  state: agentFlags.stateDir,
  podLogs: agentFlags.podLogsDir,
  containerLogs: agentFlags.containerLogsDir,
  kubeletRoot: agentFlags.kubeletRootDir,
};

/** The agent's settings, valid together; throws UsageError for what is not. */
export function agentConfig(line: CommandLine, { env }: System): AgentConfig {
  const problems = [
    ...nodeNameProblems(line, env),
    ...directoryProblems(line),
    ...metricsSecurityProblems(line),
  ];
  if (problems.length > 0) throw new UsageError(problems.map((problem) => `agent: ${problem}`));
  return {
    kube: kubeConfigSource(line, env),
    kubeApiQps: line.value(agentFlags.kubeApiQps),
    kubeApiBurst: line.value(agentFlags.kubeApiBurst),
    nodeName: nodeName(line, env),
    criSocket: set(line.value(agentFlags.criSocket)),
    runtimeRequestTimeoutMs: line.value(agentFlags.runtimeRequestTimeout),
    imageGcPeriodMs: line.value(agentFlags.imageGcPeriod),
    containerGcPeriodMs: line.value(agentFlags.containerGcPeriod),
    localStoragePeriodMs: line.value(agentFlags.localStoragePeriod),
    isStorageToldByPod: line.value(agentFlags.localStoragePodMetrics),
    kubelet: kubeletAccess(line, env),
    directories: {
      state: line.value(directoryFlags.state),
      podLogs: line.value(directoryFlags.podLogs),
      containerLogs: line.value(directoryFlags.containerLogs),
      kubeletRoot: line.value(directoryFlags.kubeletRoot),
    },
    metricsBindAddress: line.value(agentFlags.metricsBindAddress),
    metricsSecurity: metricsSecurity(line),
    healthProbeBindAddress: line.value(agentFlags.healthProbeBindAddress),
    verbosity: line.value(agentFlags.verbosity),
    logFormat: line.value(agentFlags.logFormat),
  };
}

const nodeName = (line: CommandLine, env: Variables): string =>
  set(line.value(agentFlags.nodeName)) ?? env['NODE_NAME'] ?? '';

function nodeNameProblems(line: CommandLine, env: Variables): string[] {
  const name = nodeName(line, env);
  if (name === '')
    return [
      `--node-name is required: pass it, or set NODE_NAME or ${envName(agentFlags.nodeName)} (in a pod: from the field spec.nodeName)`,
    ];
  const problem = notSubdomain(name);
  return problem === undefined ? [] : [`NODE_NAME: ${problem}`];
}

/** What is not empty has been checked with the flag. */
const directoryProblems = (line: CommandLine): string[] =>
  Object.values(directoryFlags)
    .filter((flag) => line.value(flag) === '')
    .map(({ name }) => `--${name} must not be empty`);
