import {
  kubeConfigSource,
  kubeletAccess,
  metricsSecurity,
  metricsSecurityProblems,
  nodeNameOf,
  set,
  withCluster,
  withNode,
  withServers,
} from '../../process/config.ts';
import type { PodName } from '../../kube/actions/pod-requests.ts';
import { UsageError } from '../../process/exit.ts';
import { choice, duration, LenientCommand, onOff, type OptionsOf } from '../../process/option.ts';
import type { Load, System } from '../../process/system.ts';

/**
 * Flags that keep Node small (docs/benchmarks.md): a heap that grows slowly, and no compilers: with two passes in a few minutes their code
 * costs more memory than it saves time.
 */
const heapFlags = '--max-semi-space-size=1 --max-old-space-size=64';
export const memoryFlags = `${heapFlags} --optimize-for-size --no-sparkplug --no-maglev --no-turbofan`;
/** One malloc heap for all threads of Node instead of one per thread. */
export const memoryEnvironment = 'MALLOC_ARENA_MAX=1';

const about = `Runs on one node, next to its container runtime. If the policy that governs the node is in mode Enforce, removes unused images when the disk fills up or they are old, and dead containers, sandboxes and logs of deleted pods. Warns about pods near their local storage limits, and requests evictions of pods above them from the controller. A policy in mode DryRun, the default, only counts and explains. Results are in the NodeGCReport of the node. Runs until SIGTERM or SIGINT.

To keep it near 75 MiB, start Node with ${memoryFlags}, and with ${memoryEnvironment} in its environment. NODE_OPTIONS accepts only ${heapFlags}.

Examples:
  # in a DaemonSet
  ${memoryEnvironment} node ${memoryFlags.replace(' --optimize', ' \\\n    --optimize')} \\
    dist/main.js agent

  # on a node, against the current context
  dustpan agent --node-name="$(hostname)" --log-format=text`;

export const agentOptions = () =>
  withServers(
    withNode(
      withCluster(
        new LenientCommand('agent')
          .summary('removes unused images, dead containers and their logs from its node')
          .description(about)
          .addOption(
            duration('--image-gc-period <DURATION>', 'Pause between two passes over the images.', '5m'),
          )
          .addOption(
            duration(
              '--container-gc-period <DURATION>',
              'Pause between two passes over containers, sandboxes and logs.',
              '1m',
            ),
          )
          .addOption(
            duration(
              '--local-storage-period <DURATION>',
              'Pause between two measurements of the local storage usage of pods, for policies with localStorageEviction. Node pressure is measured as often, but at least every two minutes.',
              '10s',
            ),
          )
          .option(
            '--local-storage-pod-metrics [true|false]',
            'Also serve one usage metric per pod, for the 256 pods with the highest usage. Without it, only sums of the node.',
            onOff,
            false,
          )
          .addOption(
            choice(
              '--report-lists <LISTS>',
              'How long the lists of the report are: full, or only the largest three of each list while no disk of the node is nearly full (short). auto: short while policies govern more than 2000 nodes.',
              ['auto', 'full', 'short'],
            ),
          )
          .addOption(
            duration(
              '--runtime-request-timeout <DURATION>',
              'How long to wait for a response of the container runtime, the graceful stop of a container not counted.',
              '2m',
            ),
          ),
      ),
    ),
    { qps: 5, burst: 10 },
  );

export type AgentConfig = ReturnType<typeof agentConfig>;

/** Returns the agent's settings; throws UsageError for an invalid combination. */
export function agentConfig(options: OptionsOf<typeof agentOptions>, { env }: System) {
  const nodeName = nodeNameOf(options, env, 'agent');
  const problems = metricsSecurityProblems(options);
  if (nodeName === undefined)
    problems.unshift(
      '--node-name is required: pass it, or set NODE_NAME or DUSTPAN_NODE_NAME (in a pod: from the field spec.nodeName)',
    );
  if (nodeName === undefined || problems.length > 0)
    throw new UsageError(problems.map((problem) => `agent: ${problem}`));
  return {
    ...options,
    kube: kubeConfigSource(options, env),
    nodeName,
    /** The pod it runs in; undefined = in none. */
    pod: podOf(set(env['POD_NAMESPACE']), set(env['POD_NAME'])),
    /** A path or a `unix://` URL; undefined = search. */
    criSocket: options.criSocket,
    runtimeRequestTimeoutMs: options.runtimeRequestTimeout,
    imageGcPeriodMs: options.imageGcPeriod,
    containerGcPeriodMs: options.containerGcPeriod,
    localStoragePeriodMs: options.localStoragePeriod,
    kubelet: kubeletAccess(options, env),
    directories: {
      state: options.stateDir,
      podLogs: options.podLogsDir,
      containerLogs: options.containerLogsDir,
      kubeletRoot: options.kubeletRootDir,
    },
    metricsSecurity: metricsSecurity(options),
  };
}

const podOf = (namespace: string | undefined, name: string | undefined): PodName | undefined =>
  namespace === undefined || name === undefined ? undefined : { namespace, name };

export const agentCommand = (system: System, load: Load<[AgentConfig]>) =>
  agentOptions().action(async (options) => {
    const config = agentConfig(options, system);
    const run = await load();
    system.exitCode = await run(config);
  });
