import { set } from '../../process/config.ts';
import { LenientCommand, onOff } from '../../process/option.ts';
import {
  colorOption,
  hasColours,
  listFormats,
  outputOption,
  rowsOnlyHelp,
  type ListFormat,
} from '../../process/output.ts';
import type { Load, System } from '../../process/system.ts';
import type { PodFilter } from '../../evaluation/plan/filter.ts';
import {
  planConfig,
  podFilterOf,
  shownPodsHelp,
  withNodeNames,
  withNodes,
  withPlan,
  withPodFilter,
} from '../cli/plan-options.ts';
import type { PlanInputs } from '../../evaluation/plan/inputs.ts';

const about = `Lists the objects that the controller and the agents would remove, in order, each with its reason. Removes nothing. Reads the cluster of the kubeconfig, or a snapshot directory without a cluster. A policy in mode DryRun is planned like any other. From a cluster, a node has only the totals that its agent reports; --node and --nodes plan the images and containers of nodes too, through the pods of their agents. On a node, --cri-socket does it without an agent; for localStorageEviction this needs the right to get nodes/stats. The variable NO_COLOR turns colours off.

Examples:
  # the effect of a policy before it is applied
  dustpan plan --policy=policy.yaml

  # the same for all policies of a repository
  kustomize build . | dustpan plan --replace-policies -f -

  # kept objects too, each with its reason
  dustpan plan --kept -o json

  # the images and containers of a node too
  dustpan plan --node=node-1

  # the pods of a team, by label
  dustpan plan -n batch -l team=reports

  # in a CI job: exit status 3 if it would remove something
  dustpan plan --policy=policy.yaml --exit-code

  # what will be due in 24 hours
  dustpan plan --now=+24h

  # chosen columns of the JSON, as from kubectl
  dustpan plan -o custom-columns=POD:.object.name,WHY:.reason

  # for other commands
  dustpan plan -n batch -o name | xargs -r -L1 kubectl describe

  # from a snapshot, as of the time it was taken
  dustpan plan --snapshot=./snapshot`;

const formatHelp =
  'Output format. wide adds age, node, policy and detail; name prints what kubectl or dustpan why takes as arguments.';

const planOptions = () =>
  withPlan(
    withNodeNames(
      withPodFilter(
        new LenientCommand('plan')
          .summary('lists what would be removed, and why')
          .description(about)
          .option('--kept [true|false]', 'Also list kept objects, each with its reason.', onOff, false),
        shownPodsHelp,
      )
        .option(
          '--exit-code [true|false]',
          'Exit with 3 when something would be removed, whatever the mode of its policy. A part that is not known (unknown in -o json) does not change the exit status: add --nodes.',
          onOff,
          false,
        )
        .option('--no-headers', rowsOnlyHelp)
        .addOption(colorOption())
        .addOption(outputOption(listFormats, formatHelp)),
    ),
  );

export interface PlanConfig extends PlanInputs {
  readonly kept: boolean;
  readonly filter: PodFilter;
  readonly hasExitCode: boolean;
  readonly headers: boolean;
  readonly colours: boolean;
  readonly output: ListFormat;
}

export const planCommand = (system: System, load: Load<[PlanConfig, System]>) =>
  planOptions().action(async (options, command) => {
    const { kept, output, headers, exitCode: hasExitCode } = options;
    const config = {
      ...withNodes(planConfig(command, system), command, 'plan'),
      kept,
      output,
      headers,
      hasExitCode,
      filter: podFilterOf(options, 'plan'),
      colours: hasColours(options.color, set(system.env['NO_COLOR'])),
    };
    const run = await load();
    system.exitCode = await run(config, system);
  });
