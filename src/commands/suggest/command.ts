import { personConnection, withConnection } from '../../process/connection.ts';
import { UsageError } from '../../process/exit.ts';
import { LenientCommand, notObjectName, onOff, text } from '../../process/option.ts';
import { outputOption, rowsOnlyHelp } from '../../process/output.ts';
import type { Load, System } from '../../process/system.ts';
import type { SuggestConfig } from './suggest.ts';

const about = `Suggests requests and limits of ephemeral storage and sizeLimits of emptyDirs for workloads: at least 20 % above the highest that one pod has used in the last 7 days, rounded up by at most an eighth; limits are at least 128Mi, requests 16Mi. Changes nothing. Reads the reports of the agents, as top workloads, and the nodes for FIT: how many pods have room on a node by the suggested request and its number of pods. Values are shown as "present → suggested"; with less than 7 days, WATCHED says for how long the agents have watched, and before the first day there are no values. A node without an agent is unknown: its pods may have used more. The kubelet compares the writable layer and the logs of a container with its limit, and these of all containers together with the emptyDirs with the sum of the limits, so the container that uses most also gets the space of the emptyDirs. Below the table: the present limits that a pod has exceeded.

Examples:
  # the workloads of a namespace
  dustpan suggest -n shop

  # a patch of one of them, and its use
  dustpan suggest deployment/web -n shop -o yaml > web.yaml
  kubectl patch deployment web -n shop --patch-file web.yaml`;

/** kubectl's other names. */
const aliases: Readonly<Record<string, string>> = {
  deploy: 'deployment',
  sts: 'statefulset',
  ds: 'daemonset',
  cj: 'cronjob',
  po: 'pod',
};

const formatHelp =
  'Output format. yaml writes patches, one document for each workload; name prints the workloads as kubectl takes them.';

export const suggestCommand = (system: System, load: Load<[SuggestConfig, System]>) =>
  withConnection(
    new LenientCommand('suggest')
      .summary('suggests requests and limits of ephemeral storage')
      .description(about)
      .argument('[WORKLOAD]', 'Only this one, such as deployment/web. Not set: all that stand out.')
      .option(
        '-n, --namespace <NAMESPACE>',
        "Only this namespace. Not set: that of the kubeconfig's context.",
        text(notObjectName),
      )
      .option('-A, --all-namespaces [true|false]', 'Of all namespaces.', onOff, false)
      .option('--no-headers', rowsOnlyHelp)
      .addOption(outputOption(['table', 'json', 'yaml', 'name'], formatHelp)),
  ).action(async (word, options) => {
    const { namespace, allNamespaces, output, headers } = options;
    if (namespace !== undefined && allNamespaces)
      throw new UsageError(['suggest: -n and -A exclude each other']);
    const run = await load();
    system.exitCode = await run(
      {
        kube: personConnection(options, system.env, 'suggest'),
        question: {
          kind: 'workloads',
          sortBy: 'highest',
          namespace,
          isCurrentNamespace: namespace === undefined && !allNamespaces,
          nodes: undefined,
          selector: undefined,
        },
        workload: word === undefined ? undefined : workloadOf(word),
        output,
        headers,
      },
      system,
    );
  });

/** `deploy/web` and `deployments/web` are `deployment/web`. */
function workloadOf(word: string): string {
  const [kind = '', name = '', ...more] = word.toLowerCase().split('/');
  if (kind === '' || name === '' || more.length > 0)
    throw new UsageError([
      `suggest: ${JSON.stringify(word)} is not a workload; use KIND/NAME, such as deployment/web`,
    ]);
  return `${aliases[kind] ?? kind.replace(/s$/, '')}/${name}`;
}
