import { choice, LenientCommand, onOff } from '../../process/option.ts';
import type { Load, System } from '../../process/system.ts';
import {
  planConfig,
  podFilterOf,
  shownPodsHelp,
  withNodeNames,
  withNodes,
  withPlan,
  withPodFilter,
} from '../cli/plan-options.ts';
import type { PodFilter } from '../../evaluation/plan/filter.ts';
import type { PlanInputs } from '../../evaluation/plan/inputs.ts';

const about = `Writes one page about the cluster for people: what would be removed and kept by policy, namespace, node and reason, what uses the disks and when they are full, the largest namespaces, workloads, images and logs, suggested requests and limits, what becomes due in the next days, the stuck pods, and each object with its explanation, to search. Agents report the usage of the disks, so it needs no --nodes. The page is one file that loads nothing from anywhere. Removes nothing.

Examples:
  # a page of the cluster, with the images and logs of its nodes
  dustpan report --nodes > report.html

  # for an issue or a pull request
  dustpan report --policy=policy.yaml -o markdown

  # from a snapshot, without a cluster
  dustpan report --snapshot=./snapshot > report.html`;

const reportOptions = () =>
  withPlan(
    withNodeNames(
      withPodFilter(
        new LenientCommand('report')
          .summary('writes a page for people: totals, disks, and each object')
          .description(about)
          .addOption(
            choice('-o, --output <FORMAT>', 'Output format: a page for a browser, or text.', [
              'html',
              'markdown',
            ]),
          )
          .option('--kept [true|false]', 'Also list kept objects, each with its reason.', onOff, true),
        shownPodsHelp,
      ),
    ),
  );

export interface ReportConfig extends PlanInputs {
  readonly output: 'html' | 'markdown';
  readonly kept: boolean;
  readonly filter: PodFilter;
}

export const reportCommand = (system: System, load: Load<[ReportConfig, System]>) =>
  reportOptions().action(async (options, command) => {
    const { output, kept } = options;
    const filter = podFilterOf(options, 'report');
    const inputs = withNodes(planConfig(command, system, 'report'), command, 'report');
    const run = await load();
    system.exitCode = await run({ ...inputs, output, kept, filter }, system);
  });
