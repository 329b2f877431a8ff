import type { Command, OptionValues } from '@commander-js/extra-typings';
import {
  kubeConfigSource,
  metricsSecurity,
  metricsSecurityProblems,
  set,
  withCluster,
  withServers,
} from '../../process/config.ts';
import { UsageError } from '../../process/exit.ts';
import {
  decimal,
  duration,
  LenientCommand,
  notObjectName,
  onOff,
  text,
  filled,
  type OptionsOf,
} from '../../process/option.ts';
import type { Load, System } from '../../process/system.ts';

const about = `Deletes garbage pods as the GCPolicies define: terminated pods beyond a threshold or an age, orphaned pods of missing nodes, and pods that can never be scheduled. A policy in mode DryRun, the default, only counts and explains. Runs until SIGTERM or SIGINT. Of several replicas, the one that holds the Lease acts. POD_NAME, POD_UID and POD_NAMESPACE identify the pod it runs in, for the Lease and for Events.

Examples:
  # in a cluster
  dustpan controller

  # from a checkout, against the current context
  dustpan controller --leader-elect=false --log-format=text`;

const notNamespace = (given: string): string | undefined =>
  /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(given)
    ? undefined
    : 'Use a namespace: lower case letters, digits and dashes, at most 63.';

const withLeaderElection = <A extends unknown[], O extends OptionValues>(command: Command<A, O>) =>
  command
    .optionsGroup('Leader election options:')
    .option(
      '--leader-elect [true|false]',
      'Act only while holding the Lease, so that exactly one of several replicas acts.',
      onOff,
      true,
    )
    .addOption(
      duration(
        '--leader-elect-lease-duration <DURATION>',
        'How long other replicas wait after the last renewal before they take the Lease.',
        '15s',
      ),
    )
    .addOption(
      duration(
        '--leader-elect-renew-deadline <DURATION>',
        'How long the leader tries to renew before it stops. Must be shorter than the lease duration.',
        '10s',
      ),
    )
    .addOption(
      duration(
        '--leader-elect-retry-period <DURATION>',
        'Pause between two tries to get or renew the Lease. 1.2 times of it must be shorter than the renew deadline.',
        '2s',
        100,
      ),
    )
    .option(
      '--leader-elect-resource-namespace <NAMESPACE>',
      "Namespace of the Lease. Not set: $POD_NAMESPACE, else the service account's namespace, else dustpan-system.",
      text(notNamespace),
    )
    .option(
      '--leader-elect-resource-name <NAME>',
      'Name of the Lease.',
      filled(notObjectName),
      'dustpan-controller',
    );

export const controllerOptions = () =>
  withServers(
    withCluster(
      withLeaderElection(
        new LenientCommand('controller')
          .summary('deletes garbage pods as the GCPolicies define')
          .description(about)
          .addOption(duration('--pod-gc-period <DURATION>', 'Pause between two passes over the pods.', '20s'))
          .option(
            '--max-delete-qps <NUMBER>',
            'Maximum pod deletions per second. 0 = no limit: 32 at a time, with a pause when the API server responds with 429.',
            decimal,
            0,
          ),
      ),
    ),
    { qps: 50, burst: 100 },
  );

type Options = OptionsOf<typeof controllerOptions>;
export type ControllerConfig = ReturnType<typeof controllerConfig>;

const serviceAccountNamespace = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
const defaultNamespace = 'dustpan-system';

/** Returns the valid settings of the controller; throws UsageError if they are invalid. */
export function controllerConfig(options: Options, { env, readFile }: System) {
  const podNamespace =
    set(env['POD_NAMESPACE']) ?? set(readFile(serviceAccountNamespace)?.trim()) ?? defaultNamespace;
  const problems = [
    ...(options.leaderElect ? leaderElectionProblems(options) : []),
    ...metricsSecurityProblems(options),
  ];
  if (problems.length > 0) throw new UsageError(problems.map((problem) => `controller: ${problem}`));
  return {
    ...options,
    kube: kubeConfigSource(options, env),
    leaderElection: {
      enabled: options.leaderElect,
      leaseDurationMs: options.leaderElectLeaseDuration,
      renewDeadlineMs: options.leaderElectRenewDeadline,
      retryPeriodMs: options.leaderElectRetryPeriod,
      namespace: options.leaderElectResourceNamespace ?? podNamespace,
      name: options.leaderElectResourceName,
    },
    metricsSecurity: metricsSecurity(options),
    podGcPeriodMs: options.podGcPeriod,
    /** undefined outside a pod. */
    podName: set(env['POD_NAME']),
    podUid: set(env['POD_UID']),
    /** Where the controller runs: the default namespace of the Lease. */
    podNamespace,
    isPodNamespace: set(env['POD_NAMESPACE']) !== undefined,
  };
}

/** client-go's JitterFactor: the longest pause between two tries is this much of the retry period. */
const retryJitter = 1.2;

function leaderElectionProblems(options: Options): string[] {
  const problems: string[] = [];
  if (options.leaderElectLeaseDuration <= options.leaderElectRenewDeadline)
    problems.push('--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline');
  if (options.leaderElectRenewDeadline <= options.leaderElectRetryPeriod * retryJitter)
    problems.push(
      `--leader-elect-renew-deadline must be longer than ${retryJitter} × --leader-elect-retry-period`,
    );
  return problems;
}

export const controllerCommand = (system: System, load: Load<[ControllerConfig]>) =>
  controllerOptions().action(async (options) => {
    const config = controllerConfig(options, system);
    const run = await load();
    system.exitCode = await run(config);
  });
