import type { LogFormat } from '../runtime/winston-logger.ts';
import { controllerFlags, kubeFlags } from './controller-flags.ts';
import { UsageError } from './exit.ts';
import type { CommandLine, Variables } from './flags.ts';
import { metricsSecurity, metricsSecurityProblems, type MetricsSecurity } from './metrics-security.ts';
import { realSystem, type System } from './system.ts';

/** How to reach the API server; what is not set is undefined. */
export interface KubeConfigSource {
  /** `--kubeconfig`. */
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  /** $KUBECONFIG: a list of files as kubectl reads it. */
  readonly kubeconfigVariable: string | undefined;
  readonly home: string | undefined;
  /** $KUBERNETES_SERVICE_HOST and _PORT: set in every pod. */
  readonly serviceHost: string | undefined;
  readonly servicePort: string | undefined;
}

interface LeaderElectionConfig {
  readonly enabled: boolean;
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly namespace: string;
  readonly name: string;
}

export interface ControllerConfig {
  readonly kube: KubeConfigSource;
  readonly kubeApiQps: number;
  readonly kubeApiBurst: number;
  /** 0 = adaptive pacing alone. */
  readonly maxDeleteQps: number;
  readonly leaderElection: LeaderElectionConfig;
  readonly metricsBindAddress: string;
  readonly metricsSecurity: MetricsSecurity;
  readonly healthProbeBindAddress: string;
  readonly podGcPeriodMs: number;
  readonly verbosity: number;
  readonly logFormat: LogFormat;
  /** undefined outside a pod. */
  readonly podName: string | undefined;
  /** Where we run: the Lease's default home. */
  readonly podNamespace: string;
}

/** client-go's JitterFactor: the longest pause between two tries is this much of the retry period. */
const retryJitter = 1.2;

const serviceAccountNamespace = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
const defaultNamespace = 'dustpan-system';

/** The process as it is: the only place that reads the environment. */
export const currentSystem = (program: string): System => realSystem(process.env, program);

/** The controller's settings, valid together; throws UsageError for what is not. */
export function controllerConfig(line: CommandLine, system: System): ControllerConfig {
  const flags = controllerFlags;
  const podNamespace = namespaceOf(system);
  const leaderElection = leaderElectionConfig(line, podNamespace);
  const problems = [
    ...(leaderElection.enabled ? leaderElectionProblems(leaderElection) : []),
    ...metricsSecurityProblems(line),
  ];
  if (problems.length > 0) throw new UsageError(problems);
  return {
    kube: kubeConfigSource(line, system.env),
    kubeApiQps: line.value(flags.kubeApiQps),
    kubeApiBurst: line.value(flags.kubeApiBurst),
    maxDeleteQps: line.value(flags.maxDeleteQps),
    leaderElection,
    metricsBindAddress: line.value(flags.metricsBindAddress),
    metricsSecurity: metricsSecurity(line),
    healthProbeBindAddress: line.value(flags.healthProbeBindAddress),
    podGcPeriodMs: line.value(flags.podGcPeriod),
    verbosity: line.value(flags.verbosity),
    logFormat: line.value(flags.logFormat),
    podName: set(system.env['POD_NAME']),
    podNamespace,
  };
}

/** Of a command that has `--kubeconfig` and `--context`. */
export function kubeConfigSource(line: CommandLine, env: Variables): KubeConfigSource {
  return {
    kubeconfig: set(line.value(kubeFlags.kubeconfig)),
    context: set(line.value(kubeFlags.context)),
    kubeconfigVariable: set(env['KUBECONFIG']),
    home: set(env['HOME']),
    serviceHost: set(env['KUBERNETES_SERVICE_HOST']),
    servicePort: set(env['KUBERNETES_SERVICE_PORT']),
  };
}

function leaderElectionConfig(line: CommandLine, podNamespace: string): LeaderElectionConfig {
  return {
    enabled: line.value(controllerFlags.leaderElect),
    leaseDurationMs: line.value(controllerFlags.leaseDuration),
    renewDeadlineMs: line.value(controllerFlags.renewDeadline),
    retryPeriodMs: line.value(controllerFlags.retryPeriod),
    namespace: set(line.value(controllerFlags.resourceNamespace)) ?? podNamespace,
    name: line.value(controllerFlags.resourceName),
  };
}

function leaderElectionProblems(config: LeaderElectionConfig): string[] {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs, name } = config;
  const problems: string[] = [];
  if (leaseDurationMs <= renewDeadlineMs)
    problems.push('--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline');
  if (renewDeadlineMs <= retryPeriodMs * retryJitter)
    problems.push(
      `--leader-elect-renew-deadline must be longer than ${retryJitter} × --leader-elect-retry-period`,
    );
  if (name === '') problems.push('--leader-elect-resource-name must not be empty');
  return problems;
}

function namespaceOf({ env, readFile }: System): string {
  return set(env['POD_NAMESPACE']) ?? set(readFile(serviceAccountNamespace)?.trim()) ?? defaultNamespace;
}

/** An empty text means the same as none. */
export const set = (text: string | undefined): string | undefined => (text === '' ? undefined : text);
