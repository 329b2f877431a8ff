import { agent, increase, type Panel } from './dashboard-panel.ts';

/** imagegc. */
export const imagesPanels: readonly Panel[] = [
  {
    title: 'Image disk, by node',
    unit: 'percentunit',
    description: 'Usage of the file system of the images.',
    queries: { '{{node}}': `max by (node) (dustpan_image_filesystem_used_ratio{${agent}})` },
  },
  {
    title: 'Inodes of the image disk, by node',
    unit: 'percentunit',
    description: 'Used inodes of the file system of the images; 0 where it reports none.',
    queries: { '{{node}}': `max by (node) (dustpan_image_filesystem_used_inodes_ratio{${agent}})` },
  },
  {
    title: 'Images removed',
    stacked: true,
    description: 'By reason: space = the disk was over its threshold, age = unused for too long.',
    queries: {
      '{{reason}}': `sum by (reason) (${increase(`dustpan_image_garbage_collected_total{${agent}}`)})`,
    },
  },
  {
    title: 'Bytes freed, by node',
    unit: 'bytes',
    description: 'Measured on the disk, if possible.',
    queries: {
      '{{node}}': `sum by (node) (${increase(`dustpan_image_garbage_collected_bytes_total{${agent}}`)})`,
    },
  },
  {
    title: 'Bytes to free, by node',
    unit: 'bytes',
    description: 'Bytes that the last plan had to free for space; 0 below the threshold.',
    queries: { '{{node}}': `max by (node) (dustpan_image_gc_wanted_bytes{${agent}})` },
  },
  {
    title: 'Inodes to free, by node',
    description: 'Inodes that the last plan had to free; 0 below the threshold.',
    queries: { '{{node}}': `max by (node) (dustpan_image_gc_wanted_inodes{${agent}})` },
  },
  {
    title: 'Images that are due',
    stacked: true,
    description: 'Objects that the last plans would remove; mode DryRun keeps them.',
    queries: {
      '{{mode}} {{reason}}': `sum by (mode, reason) (dustpan_due_objects{unit="imagegc",${agent}})`,
    },
  },
  {
    title: 'Kept images, by reason',
    description: 'In the last plans; docs/reference/reasons.md explains the reasons.',
    queries: { '{{reason}}': `sum by (reason) (dustpan_kept_objects{unit="imagegc",${agent}})` },
  },
  {
    title: 'Images pulled again',
    description: 'Within a day of their removal: images that should have been kept.',
    queries: { '{{node}}': `sum by (node) (${increase(`dustpan_image_repulled_after_gc_total{${agent}}`)})` },
  },
  {
    title: 'Failures and risks',
    description:
      'Failed removals of images by reason, other failures by stage; nodes on which the kubelet may remove what a policy keeps.',
    queries: {
      'not removed: {{reason}}': `sum by (reason) (${increase(`dustpan_failed_objects_total{unit="imagegc",${agent}}`)})`,
      'failed: {{stage}}': `sum by (stage) (${increase(`dustpan_unit_errors_total{unit="imagegc",${agent}}`)})`,
      'nodes with their keep list at risk': `sum(dustpan_keep_list_at_risk{${agent}})`,
    },
  },
];

/** containergc, and orphaned resources. */
export const containersPanels: readonly Panel[] = [
  {
    title: 'Containers, sandboxes and logs removed',
    stacked: true,
    description: 'By reason.',
    queries: {
      '{{reason}}': `sum by (reason) (${increase(`dustpan_removed_objects_total{unit="containergc",${agent}}`)})`,
    },
  },
  {
    title: 'Containers, sandboxes and logs that are due',
    stacked: true,
    description: 'Objects that the last plans would remove; mode DryRun keeps them.',
    queries: {
      '{{mode}} {{reason}}': `sum by (mode, reason) (dustpan_due_objects{unit="containergc",${agent}})`,
    },
  },
  {
    title: 'Kept containers, sandboxes and logs',
    description: 'By reason, in the last plans.',
    queries: { '{{reason}}': `sum by (reason) (dustpan_kept_objects{unit="containergc",${agent}})` },
  },
  {
    title: 'Failed removals',
    description: 'By reason of the removal.',
    queries: {
      '{{reason}}': `sum by (reason) (${increase(`dustpan_failed_objects_total{unit="containergc",${agent}}`)})`,
    },
  },
  {
    title: 'Logs, by node',
    unit: 'bytes',
    description: 'Size of all files below the log roots.',
    queries: { '{{node}}': `max by (node) (dustpan_container_log_bytes{${agent}})` },
  },
  {
    title: 'Largest log of a running container, by node',
    unit: 'bytes',
    description: 'Only above warnBytesPerContainer of the policy.',
    queries: { '{{node}}': `max by (node) (dustpan_container_log_largest_bytes{${agent}})` },
  },
  {
    title: 'Bytes freed by removing logs, by node',
    unit: 'bytes',
    description: 'Includes the logs of removed containers, and the files of orphaned pod directories.',
    queries: {
      '{{node}}': `sum by (node) (${increase(`dustpan_freed_bytes_total{unit="containergc",${agent}}`)})`,
    },
  },
  {
    title: 'Orphaned resources of deleted pods',
    description: 'Removed only if nodes.orphans of a policy allows it.',
    queries: { '{{kind}}': `sum by (kind) (dustpan_node_orphans{${agent}})` },
  },
  {
    title: 'Bytes of orphaned resources of deleted pods',
    unit: 'bytes',
    description: 'Directories: on disk; control groups: memory.',
    queries: { '{{kind}}': `sum by (kind) (dustpan_node_orphan_bytes{${agent}})` },
  },
];
