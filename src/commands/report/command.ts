import { choice, LenientCommand, notObjectName, onOff, text } from '../cli/option.ts';
import type { Load, System } from '../cli/system.ts';
import { planConfig, withNodeNames, withNodes, withPlan, type PlanInputs } from '../plan/command.ts';

const about = `Writes one page about the cluster for people: what would be removed and kept by policy, namespace, node and reason, the disks, the largest images and logs, what becomes due in the next days, and each object with its explanation, to search. The page is one file that loads nothing from anywhere. Removes nothing.

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
      new LenientCommand('report')
        .summary('writes a page for people: totals, disks, and each object')
        .description(about)
        .addOption(
          choice('-o, --output <FORMAT>', 'Output format: a page for a browser, or text.', [
            'html',
            'markdown',
          ]),
        )
        .option('--kept [true|false]', 'Also list kept objects, each with its reason.', onOff, true)
        .option(
          '-n, --namespace <NAMESPACE>',
          'Only the pods of this namespace and what belongs to them.',
          text(notObjectName),
        ),
    ),
  );

export interface ReportConfig extends PlanInputs {
  readonly output: 'html' | 'markdown';
  readonly kept: boolean;
  /** undefined = all. */
  readonly namespace: string | undefined;
}

export const reportCommand = (system: System, load: Load<[ReportConfig, System]>) =>
  reportOptions().action(async (options, command) => {
    const { output, kept, namespace } = options;
    const inputs = withNodes(planConfig(command, system, 'report'), command, 'report');
    const run = await load();
    system.exitCode = await run({ ...inputs, output, kept, namespace }, system);
  });
