import { agentCommand } from './agent-command.ts';
import type { Command } from './command.ts';
import { completionCommand } from './completion-command.ts';
import { controllerConfig } from './config.ts';
import { controllerFlags } from './controller-flags.ts';
import { planCommand } from './plan-command.ts';
import { snapshotCommand } from './snapshot-command.ts';
import { statusCommand } from './status-command.ts';
import { variables } from './variables.ts';
import { versionCommand } from './version-command.ts';
import { whyCommand } from './why-command.ts';

const controllerCommand: Command = {
  name: 'controller',
  summary: 'collects garbage pods as the GCPolicies say',
  description:
    'Watches pods, nodes and GCPolicies, and removes pods that a policy in mode Enforce calls garbage: terminated ones beyond a ' +
    'threshold or an age, orphans of nodes that are gone, and those that will never be scheduled. A policy in mode DryRun, the ' +
    'default, only counts and explains. Runs until SIGTERM or SIGINT; of several replicas the one that holds the Lease acts.',
  flags: Object.values(controllerFlags),
  environment: [
    variables.kubeconfig,
    variables.server,
    { name: 'POD_NAME, POD_NAMESPACE', help: 'The pod this runs in, for the Lease and for Events.' },
  ],
  examples: [
    { what: 'in a cluster', line: 'dustpan controller' },
    {
      what: 'from a checkout, against the current context',
      line: 'dustpan controller --leader-elect=false --log-format=text',
    },
  ],
  run: async (line, system) => {
    const config = controllerConfig(line, system);
    const { runController } = await import('./controller.ts');
    return runController(config);
  },
};

/** What `dustpan` can do, in the order of the help. */
export const commands: readonly Command[] = [
  controllerCommand,
  agentCommand,
  planCommand,
  whyCommand,
  statusCommand,
  snapshotCommand,
  completionCommand,
  versionCommand,
];
