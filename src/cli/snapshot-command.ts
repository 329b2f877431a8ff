import type { Command } from './command.ts';
import { snapshotConfig } from './snapshot-config.ts';
import { snapshotFlags } from './snapshot-flags.ts';
import { variables } from './variables.ts';

export const snapshotCommand: Command = {
  name: 'snapshot',
  summary: 'writes down what plans are made from, without secrets',
  operands: ['DIR'],
  description:
    'Writes pods, nodes, namespaces, jobs, replicasets, GCPolicies and NodeGCReports of the cluster into the new directory DIR, as lists ' +
    'that kubectl could have written. On a node, --cri-socket adds what is on it: images, containers, sandboxes, logs, file systems, ' +
    "what pods use as its kubelet tells (which takes the right to get nodes/stats), and the agent's state. dustpan plan --snapshot=DIR makes the same plan from it as from the cluster. " +
    'It is fit to be passed on: of every object only what a rule reads is written. Names, labels, image references, phases and times are; ' +
    'environment, command lines, probes, volumes but for their types, managedFields and all annotations but the few that mark static ' +
    'pods are not. What may not be listed is left out with a warning, and counts as not known. ' +
    'DIR gets its name only when all of it is written. Fails when the pods cannot be listed, but keeps what it could write.',
  flags: Object.values(snapshotFlags),
  environment: [variables.kubeconfig, variables.nodeName, variables.hostIp],
  examples: [
    { what: 'of the current context', line: 'dustpan snapshot ./snapshot' },
    {
      what: 'what would be removed then, planned elsewhere and later',
      line: 'dustpan plan --snapshot=./snapshot --now=2026-01-15T12:00:00Z',
    },
    {
      what: 'on a node, with what is on it',
      line: 'dustpan snapshot /tmp/s --cri-socket=/run/containerd/containerd.sock --node-name=node-1',
    },
    { what: 'again, in place of the last one', line: 'dustpan snapshot ./snapshot --force' },
  ],
  run: async (line, system) => {
    const config = snapshotConfig(line, system);
    const { runSnapshot } = await import('./snapshot.ts');
    return runSnapshot(config, system);
  },
};
