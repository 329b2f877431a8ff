import { agent, increase, one, type Panel } from './dashboard-panel.ts';

/** imagegc. */
export const imagesPanels: readonly Panel[] = [
  {
    ...{
      title: 'Image disk, by node',
      unit: 'percentunit',
      description: 'Usage of the file system of the images.',
    },
    ...one(`max by (node) (dustpan_image_filesystem_used_ratio{${agent}})`, '{{node}}'),
  },
  {
    ...{
      title: 'Inodes of the image disk, by node',
      unit: 'percentunit',
      description: 'Used inodes of the file system of the images; 0 where it reports none.',
    },
    ...one(`max by (node) (dustpan_image_filesystem_used_inodes_ratio{${agent}})`, '{{node}}'),
  },
  {
    ...{
      title: 'Images removed',
      stacked: true,
      description: 'By reason: space = the disk was over its threshold, age = unused for too long.',
    },
    ...one(`sum by (reason) (${increase(`dustpan_image_garbage_collected_total{${agent}}`)})`, '{{reason}}'),
  },
  {
    ...{
      title: 'Bytes freed, by node',
      unit: 'bytes',
      description: 'Measured on the disk, if possible.',
    },
    ...one(
      `sum by (node) (${increase(`dustpan_image_garbage_collected_bytes_total{${agent}}`)})`,
      '{{node}}',
    ),
  },
  {
    ...{
      title: 'Bytes to free, by node',
      unit: 'bytes',
      description: 'Bytes that the last plan had to free for space; 0 below the threshold.',
    },
    ...one(`max by (node) (dustpan_image_gc_wanted_bytes{${agent}})`, '{{node}}'),
  },
  {
    ...{
      title: 'Inodes to free, by node',
      description: 'Inodes that the last plan had to free; 0 below the threshold.',
    },
    ...one(`max by (node) (dustpan_image_gc_wanted_inodes{${agent}})`, '{{node}}'),
  },
  {
    ...{
      title: 'Images that are due',
      stacked: true,
      description: 'Objects that the last plans would remove; mode DryRun keeps them.',
    },
    ...one(`sum by (mode, reason) (dustpan_due_objects{unit="imagegc",${agent}})`, '{{mode}} {{reason}}'),
  },
  {
    ...{
      title: 'Kept images, by reason',
      description: 'In the last plans; docs/reference/reasons.md explains the reasons.',
    },
    ...one(`sum by (reason) (dustpan_kept_objects{unit="imagegc",${agent}})`, '{{reason}}'),
  },
  {
    ...{
      title: 'Images pulled again',
      description: 'Within a day of their removal: images that should have been kept.',
    },
    ...one(`sum by (node) (${increase(`dustpan_image_repulled_after_gc_total{${agent}}`)})`, '{{node}}'),
  },
  {
    ...{
      title: 'Failures and risks',
      description:
        'Failed removals of images by reason, other failures by stage; nodes on which the kubelet may remove what a policy keeps.',
    },
    queries: [
      {
        expr: `sum by (reason) (${increase(`dustpan_failed_objects_total{unit="imagegc",${agent}}`)})`,
        legend: 'not removed: {{reason}}',
      },
      {
        expr: `sum by (stage) (${increase(`dustpan_unit_errors_total{unit="imagegc",${agent}}`)})`,
        legend: 'failed: {{stage}}',
      },
      { expr: `sum(dustpan_keep_list_at_risk{${agent}})`, legend: 'nodes with their keep list at risk' },
    ],
  },
];

/** containergc, and orphaned resources. */
export const containersPanels: readonly Panel[] = [
  {
    ...{ title: 'Containers, sandboxes and logs removed', stacked: true, description: 'By reason.' },
    ...one(
      `sum by (reason) (${increase(`dustpan_removed_objects_total{unit="containergc",${agent}}`)})`,
      '{{reason}}',
    ),
  },
  {
    ...{
      title: 'Containers, sandboxes and logs that are due',
      stacked: true,
      description: 'Objects that the last plans would remove; mode DryRun keeps them.',
    },
    ...one(`sum by (mode, reason) (dustpan_due_objects{unit="containergc",${agent}})`, '{{mode}} {{reason}}'),
  },
  {
    ...{
      title: 'Kept containers, sandboxes and logs',
      description: 'By reason, in the last plans.',
    },
    ...one(`sum by (reason) (dustpan_kept_objects{unit="containergc",${agent}})`, '{{reason}}'),
  },
  {
    ...{ title: 'Failed removals', description: 'By reason of the removal.' },
    ...one(
      `sum by (reason) (${increase(`dustpan_failed_objects_total{unit="containergc",${agent}}`)})`,
      '{{reason}}',
    ),
  },
  {
    ...{ title: 'Logs, by node', unit: 'bytes', description: 'Size of all files below the log roots.' },
    ...one(`max by (node) (dustpan_container_log_bytes{${agent}})`, '{{node}}'),
  },
  {
    ...{
      title: 'Largest log of a running container, by node',
      unit: 'bytes',
      description: 'Only above warnBytesPerContainer of the policy.',
    },
    ...one(`max by (node) (dustpan_container_log_largest_bytes{${agent}})`, '{{node}}'),
  },
  {
    ...{
      title: 'Bytes freed by removing logs, by node',
      unit: 'bytes',
      description: 'Includes the logs of removed containers, and the files of orphaned pod directories.',
    },
    ...one(
      `sum by (node) (${increase(`dustpan_freed_bytes_total{unit="containergc",${agent}}`)})`,
      '{{node}}',
    ),
  },
  {
    ...{
      title: 'Orphaned resources of deleted pods',
      description: 'Removed only if nodes.orphans of a policy allows it.',
    },
    ...one(`sum by (kind) (dustpan_node_orphans{${agent}})`, '{{kind}}'),
  },
  {
    ...{
      title: 'Bytes of orphaned resources of deleted pods',
      unit: 'bytes',
      description: 'Directories: on disk; control groups: memory.',
    },
    ...one(`sum by (kind) (dustpan_node_orphan_bytes{${agent}})`, '{{kind}}'),
  },
];
