import type { Command } from './command.ts';
import { planConfig } from './plan-config.ts';
import { planFlags } from './plan-flags.ts';
import { variables } from './variables.ts';

export const planCommand: Command = {
  name: 'plan',
  summary: 'shows what would be removed, and why',
  description:
    'Says what the controller and the agents would remove, in order, with the reason of each, and touches nothing. Plans from the ' +
    'cluster of the kubeconfig, or from a snapshot directory without any cluster. A policy in mode DryRun is planned like any other. ' +
    'From a cluster, the insides of nodes are only summed up, as their agents report them; on a node, --cri-socket plans them too. ' +
    'For localStorageEviction its kubelet is asked then, which takes the right to get nodes/stats.',
  flags: Object.values(planFlags),
  environment: [variables.kubeconfig, variables.nodeName, variables.hostIp, variables.noColor],
  examples: [
    { what: 'what a policy would do, before it is applied', line: 'dustpan plan --policy=policy.yaml' },
    { what: 'why everything else stays', line: 'dustpan plan --kept -o json' },
    {
      what: 'from a snapshot, as of then',
      line: 'dustpan plan --snapshot=./snapshot --policy=policy.yaml --now=2026-01-15T12:00:00Z',
    },
  ],
  run: async (line, system) => {
    const config = planConfig(line, system);
    const { runPlan } = await import('./plan.ts');
    return runPlan(config, system);
  },
};
