import { kubeFlags, logFlags } from './controller-flags.ts';
import type { Command } from './command.ts';
import { kubeConfigSource, set } from './config.ts';
import { boolFlag } from './flag-types.ts';
import { outputFlag } from './output.ts';
import { variables } from './variables.ts';

const statusFlags = {
  watch: boolFlag({
    name: 'watch',
    short: 'w',
    default: 'false',
    help: 'Stay, and show it again whenever something has changed, until Ctrl-C.',
  }),
  output: outputFlag,
  kubeconfig: kubeFlags.kubeconfig,
  context: kubeFlags.context,
  verbosity: logFlags.verbosity,
};

export const statusCommand: Command = {
  name: 'status',
  summary: 'shows policies, nodes, and what is wrong',
  description:
    'Shows what the controller and the agents have written down: first whatever is wrong, then policies and nodes with what is due, what ' +
    'can be freed and what was freed. DUE and DELETED are pods, DUE those of the last pass that was written down; CAN FREE is what nothing but a threshold or a limit keeps; FREED counts ' +
    'since the agents started; NODES is how many of the governed ones report; CHANGED is how long ago the figures of a policy changed, ' +
    'which the controller writes down every half minute at most; PASS and REPORT are the ages of the last pass and report of a node. A ' +
    'report older than 15 minutes is stale.',
  flags: Object.values(statusFlags),
  environment: [variables.kubeconfig, variables.noColor],
  examples: [
    { what: 'of the current context', line: 'dustpan status' },
    { what: 'while a policy takes hold', line: 'dustpan status --watch' },
    {
      what: 'for a script: is anything wrong?',
      line: "dustpan status -o json | jq -e '.trouble | length == 0'",
    },
  ],
  run: async (line, system) => {
    const { runStatus } = await import('./status.ts');
    const config = {
      kube: kubeConfigSource(line, system.env),
      watch: line.value(statusFlags.watch),
      output: line.value(statusFlags.output),
      isColourAllowed: set(system.env['NO_COLOR']) === undefined,
    };
    return runStatus(config, system);
  },
};
