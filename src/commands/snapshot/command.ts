import { thisNode, withNode } from '../../process/config.ts';
import { personConnection, withConnection } from '../../process/connection.ts';
import { UsageError } from '../../process/exit.ts';
import { LenientCommand, onOff, type OptionsOf } from '../../process/option.ts';
import { progressOption } from '../../process/output.ts';
import type { Load, System } from '../../process/system.ts';
import { podFilterOf, withPodFilter } from '../cli/plan-options.ts';

const about = `Writes pods, nodes, namespaces, jobs, replicasets, GCPolicies and NodeGCReports of the cluster to the new directory DIR, as lists in the format of kubectl. On a node, --cri-socket adds its images, containers, sandboxes, logs, directories and control groups of deleted pods, file systems, the usage of pods that its kubelet measures (this needs the right to get nodes/stats), and the agent's state. dustpan plan --snapshot=DIR makes the same plan from it as from the cluster, for the time at which the snapshot was taken.

A snapshot can be shared: it contains only the fields that a rule reads, such as names, labels, image references, phases and times. It has no environment, command lines, probes, managedFields, contents of volumes, or annotations except those of static pods, those that refuse evictions and gc.dustpan.dev/ttl-after-finished. Kinds that may not be listed are left out with a warning, and count as not known. DIR appears once it is complete. If the pods cannot be listed, the command fails but keeps the rest.

Examples:
  # the current context
  dustpan snapshot ./snapshot

  # plan from it, on another machine and later
  dustpan plan --snapshot=./snapshot

  # the pods of a team, with the rights of its namespace
  dustpan snapshot ./snapshot -n batch -l team=reports

  # on a node, with its images and containers
  dustpan snapshot /tmp/s --cri-socket=/run/containerd/containerd.sock \\
    --node-name=node-1

  # replace the last one
  dustpan snapshot ./snapshot --force`;

const snapshotOptions = () =>
  withNode(
    withConnection(
      withPodFilter(
        new LenientCommand('snapshot')
          .summary('writes the objects that plans are made from, without secrets')
          .description(about)
          .argument('<DIR>', 'The directory to create.'),
        {
          namespace:
            'Write only the pods, jobs and replicasets of this namespace, and no NodeGCReports. Plans from the snapshot count no other pods. Excludes --cri-socket.',
          allNamespaces: 'Write the pods of all namespaces, as without -n.',
          selector:
            "Write only the pods with these labels, such as app=web,tier!=cache or 'env in (dev,test)', and no NodeGCReports. Plans from the snapshot count no other pods. Excludes --cri-socket.",
        },
      )
        .option(
          '--force [true|false]',
          'Replace the snapshot in DIR. A directory with anything else in it is never replaced.',
          onOff,
          false,
        )
        .option(
          '--only-node [true|false]',
          'Write only the objects on this node, as one JSON object, to standard output; DIR is -. Needs --cri-socket.',
          onOff,
          false,
        )
        .addOption(progressOption()),
    ),
  );

export type SnapshotConfig = ReturnType<typeof snapshotConfig>;

function snapshotConfig(directory: string, options: OptionsOf<typeof snapshotOptions>, { env }: System) {
  if (directory === '') throw new UsageError(['snapshot: DIR must not be empty']);
  if ((directory === '-') !== options.onlyNode)
    throw new UsageError(['snapshot: DIR - (standard output) and --only-node need each other']);
  const node = thisNode(options, env, 'snapshot');
  if (options.onlyNode && node === undefined)
    throw new UsageError(['snapshot: --only-node needs --cri-socket']);
  const { namespace, selector } = podFilterOf(options, 'snapshot');
  if (node !== undefined && (namespace ?? selector) !== undefined)
    throw new UsageError([
      'snapshot: -n and -l exclude --cri-socket: what is garbage on a node depends on the pods of all namespaces',
    ]);
  return {
    directory,
    progress: options.progress,
    pods: { namespace, selector: options.selector },
    force: options.force,
    kube: personConnection(options, env, 'snapshot'),
    /** undefined = only the cluster. */
    node,
    /** The node whose objects are written to standard output, instead of a directory. */
    onlyNode: options.onlyNode ? node : undefined,
  };
}

export const snapshotCommand = (system: System, load: Load<[SnapshotConfig, System]>) =>
  snapshotOptions().action(async (directory, options) => {
    const config = snapshotConfig(directory, options, system);
    const run = await load();
    system.exitCode = await run(config, system);
  });
