import type { StatusConfig } from './status.ts';
import { set } from '../../process/config.ts';
import { personConnection, withConnection } from '../../process/connection.ts';
import { LenientCommand, onOff } from '../../process/option.ts';
import { colorOption, hasColours, listFormats, outputOption, rowsOnlyHelp } from '../../process/output.ts';
import type { Load, System } from '../../process/system.ts';

const about = `Checks the installation and shows what needs attention. The first line says whether dustpan works, and the worst problem: the controller, its leader and version, the agents that are ready. Then problems, worst first, each with the command that mends it or shows more: of the Deployment, the DaemonSet, their pods and rights, the CRDs, the admission policies, then nodes that are not ready or under pressure, and those that controller and agents report. Then totals: pods that are due now, pods that the present policies deleted, bytes that only a threshold or a limit keeps, bytes that the agents of these nodes freed, and the fullest disks. A report older than 15 minutes is stale. What you may not read is named. Without the objects of the chart, the Lease, fresh passes and reports show that dustpan works. Policies and nodes have no namespace, so there is no -n: dustpan plan -n shows one namespace. The variable NO_COLOR turns colours off.

Examples:
  # the current context
  dustpan status

  # while a policy takes effect
  dustpan status --watch

  # for a script: is there a problem?
  dustpan status -o json | jq -e '.trouble | length == 0'

  # the reasons of all problems
  dustpan status -o jsonpath='{.trouble[*].reason}'`;

const formatHelp =
  'Output format. wide lists all nodes, with more columns; name prints the nodes as kubectl takes them.';

const statusOptions = () =>
  withConnection(
    new LenientCommand('status')
      .summary('shows policies, nodes, and problems')
      .description(about)
      .option('-w, --watch [true|false]', 'Show it again after each change, until Ctrl-C.', onOff, false)
      .option('--exit-code [true|false]', 'Exit with 3 when there is a problem.', onOff, false)
      .option(
        '--installation [true|false]',
        'Only check the installation: leave out the problems of policies and nodes.',
        onOff,
        false,
      )
      .addOption(colorOption())
      .option('--no-headers', rowsOnlyHelp)
      .addOption(outputOption(listFormats, formatHelp)),
  );

export const statusCommand = (system: System, load: Load<[StatusConfig, System]>) =>
  statusOptions().action(async (options) => {
    const run = await load();
    const config = {
      ...options,
      kube: personConnection(options, system.env, 'status'),
      hasExitCode: options.exitCode,
      onlyInstallation: options.installation,
      colours: hasColours(options.color, set(system.env['NO_COLOR'])),
    };
    system.exitCode = await run(config, system);
  });
