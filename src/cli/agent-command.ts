import { agentConfig } from './agent-config.ts';
import { agentFlags } from './agent-flags.ts';
import type { Command } from './command.ts';
import { variables } from './variables.ts';

/**
 * What keeps Node small (docs/benchmarks.md): a heap that grows slowly, and for two passes in a few minutes no compilers; they would not pay for
 * what their code takes.
 */
const heapFlags = '--max-semi-space-size=1 --max-old-space-size=64';
export const memoryFlags = `${heapFlags} --optimize-for-size --no-sparkplug --no-maglev --no-turbofan`;
/** One heap of C's allocator for all threads of Node instead of one for each. */
export const memoryEnvironment = 'MALLOC_ARENA_MAX=1';

export const agentCommand: Command = {
  name: 'agent',
  summary: 'cleans its node of unused images, dead containers and their logs',
  description:
    'Runs on one node, next to its container runtime. Removes what the policy that governs the node calls garbage, if its mode is ' +
    'Enforce: images nobody uses when the disk fills up or they are old, dead containers, sandboxes and logs of pods that are gone. ' +
    'Warns about pods that come near their limits of local storage, and asks the controller to evict those beyond. ' +
    'A policy in mode DryRun, the default, only counts and explains. What it found and did is in the NodeGCReport of the node. ' +
    `Runs until SIGTERM or SIGINT. To keep it below 60 MiB, start Node with ${memoryFlags}, and with ${memoryEnvironment} in its environment.`,
  flags: Object.values(agentFlags),
  environment: [
    { name: 'NODE_NAME', help: 'The node, for --node-name; in a pod from the field spec.nodeName.' },
    {
      name: 'HOST_IP',
      help: 'The address of the node, for --kubelet-endpoint; in a pod from the field status.hostIP.',
    },
    variables.kubeconfig,
    variables.server,
    { name: 'NODE_OPTIONS', help: `Read by Node itself, which takes only these there: ${heapFlags}` },
  ],
  examples: [
    { what: 'in a DaemonSet', line: `${memoryEnvironment} node ${memoryFlags} dist/main.js agent` },
    {
      what: 'on a node, against the current context',
      line: 'dustpan agent --node-name="$(hostname)" --log-format=text',
    },
  ],
  run: async (line, system) => {
    const config = agentConfig(line, system);
    const { runAgent } = await import('./agent.ts');
    return runAgent(config);
  },
};
