import { kubeConfigSource, set, withCluster } from './config.ts';
import { LenientCommand, onOff } from './option.ts';
import { outputOption } from './output.ts';
import type { System } from './system.ts';

const about = `Shows what controller and agents have reported: problems first, then policies and nodes. DUE and DELETED count pods, DUE those of the last recorded pass. CAN FREE is what only a threshold or a limit keeps. FREED counts since the agents started. NODES is how many of the governed nodes report. CHANGED is the age of the values of a policy, which the controller records at most every half minute; PASS and REPORT are the ages of the last pass and report of a node. A report older than 15 minutes is stale. NO_COLOR, set to anything, turns colours off.

Examples:
  # of the current context
  dustpan status

  # while a policy takes effect
  dustpan status --watch

  # for a script: is there a problem?
  dustpan status -o json | jq -e '.trouble | length == 0'`;

const statusOptions = () =>
  withCluster(
    new LenientCommand('status')
      .summary('shows policies, nodes, and problems')
      .description(about)
      .option(
        '-w, --watch [true|false]',
        'Show it again whenever something has changed, until Ctrl-C.',
        onOff,
        false,
      )
      .addOption(outputOption()),
  );

export const statusCommand = (system: System) =>
  statusOptions().action(async (options) => {
    const { runStatus } = await import('./status.ts');
    const config = {
      ...options,
      kube: kubeConfigSource(options, system.env),
      isColourAllowed: set(system.env['NO_COLOR']) === undefined,
    };
    system.exitCode = await runStatus(config, system);
  });
