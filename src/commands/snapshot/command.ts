import { kubeConfigSource, thisNode, withCluster, withNode } from '../cli/config.ts';
import { UsageError } from '../cli/exit.ts';
import { LenientCommand, onOff, type OptionsOf } from '../cli/option.ts';
import type { Load, System } from '../cli/system.ts';

const about = `Writes pods, nodes, namespaces, jobs, replicasets, GCPolicies and NodeGCReports of the cluster into the new directory DIR, as lists that kubectl could have written. On a node, --cri-socket adds its images, containers, sandboxes, logs, file systems, the usage of pods that its kubelet measures (this needs the right to get nodes/stats), and the agent's state. dustpan plan --snapshot=DIR makes the same plan from it as from the cluster.

A snapshot can be passed on: only the fields that a rule reads are written. These are names, labels, image references, phases and times. Not written are environment, command lines, probes, volumes except their types, managedFields, and annotations except those of static pods. Kinds that may not be listed are left out with a warning, and count as not known. DIR appears only when all of it is written. If the pods cannot be listed, the command fails but keeps the rest.

Examples:
  # of the current context
  dustpan snapshot ./snapshot

  # its plan, made elsewhere and later
  dustpan plan --snapshot=./snapshot --now=2026-01-15T12:00:00Z

  # on a node, with its images and containers
  dustpan snapshot /tmp/s --cri-socket=/run/containerd/containerd.sock \\
    --node-name=node-1

  # again, in place of the last one
  dustpan snapshot ./snapshot --force`;

const snapshotOptions = () =>
  withNode(
    withCluster(
      new LenientCommand('snapshot')
        .summary('writes the objects that plans are made from, without secrets')
        .description(about)
        .argument('<DIR>', 'The directory to create.')
        .option(
          '--force [true|false]',
          'Replace the snapshot in DIR. A directory with anything else in it is never replaced.',
          onOff,
          false,
        ),
    ),
  );

export type SnapshotConfig = ReturnType<typeof snapshotConfig>;

function snapshotConfig(directory: string, options: OptionsOf<typeof snapshotOptions>, { env }: System) {
  if (directory === '') throw new UsageError(['snapshot: DIR must not be empty']);
  return {
    directory,
    force: options.force,
    kube: kubeConfigSource(options, env),
    /** undefined = only the cluster is written. */
    node: thisNode(options, env, 'snapshot'),
  };
}

export const snapshotCommand = (system: System, load: Load<[SnapshotConfig, System]>) =>
  snapshotOptions().action(async (directory, options) => {
    const config = snapshotConfig(directory, options, system);
    const run = await load();
    system.exitCode = await run(config, system);
  });
