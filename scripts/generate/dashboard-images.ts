import { agent, increase, one, type Panel } from './dashboard-panel.ts';

/** What imagegc does. */
export const imagesPanels: readonly Panel[] = [
  {
    ...{
      title: 'Image disk, by node',
      unit: 'percentunit',
      description: 'Used part of the file system that holds the images.',
    },
    ...one(`max by (node) (dustpan_image_filesystem_used_ratio{${agent}})`, '{{node}}'),
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
      description: 'As measured on the disk, where it can be.',
    },
    ...one(
      `sum by (node) (${increase(`dustpan_image_garbage_collected_bytes_total{${agent}}`)})`,
      '{{node}}',
    ),
  },
  {
    ...{
      title: 'Bytes that are too much, by node',
      unit: 'bytes',
      description: 'What the last plan had to free for space; 0 under the threshold.',
    },
    ...one(`max by (node) (dustpan_image_gc_wanted_bytes{${agent}})`, '{{node}}'),
  },
  {
    ...{
      title: 'Images that are due',
      stacked: true,
      description: 'What the last plans would remove; in mode DryRun they stay.',
    },
    ...one(`sum by (mode, reason) (dustpan_image_gc_due_images{${agent}})`, '{{mode}} {{reason}}'),
  },
  {
    ...{
      title: 'Images that are kept, by reason',
      description: 'Of the last plans; docs/reference/reasons.md says what each means.',
    },
    ...one(`sum by (reason) (dustpan_image_gc_kept_images{${agent}})`, '{{reason}}'),
  },
  {
    ...{
      title: 'Images pulled again',
      description: 'Within a day of their removal: what should not have gone.',
    },
    ...one(`sum by (node) (${increase(`dustpan_image_repulled_after_gc_total{${agent}}`)})`, '{{node}}'),
  },
  {
    ...{
      title: 'Failures and risks',
      description:
        'Failures of passes over images by stage; nodes on which the kubelet may remove what a policy keeps.',
    },
    queries: [
      {
        expr: `sum by (stage) (${increase(`dustpan_image_gc_errors_total{${agent}}`)})`,
        legend: 'failed: {{stage}}',
      },
      { expr: `sum(dustpan_keep_list_at_risk{${agent}})`, legend: 'nodes with their keep list at risk' },
    ],
  },
];

/** What containergc does, and what it finds left. */
export const containersPanels: readonly Panel[] = [
  {
    ...{ title: 'Containers, sandboxes and logs removed', stacked: true, description: 'By reason.' },
    ...one(
      `sum by (reason) (${increase(`dustpan_container_garbage_collected_total{${agent}}`)})`,
      '{{reason}}',
    ),
  },
  {
    ...{
      title: 'Containers, sandboxes and logs that are due',
      stacked: true,
      description: 'What the last plans would remove; in mode DryRun they stay.',
    },
    ...one(`sum by (mode, reason) (dustpan_container_gc_due_objects{${agent}})`, '{{mode}} {{reason}}'),
  },
  {
    ...{
      title: 'Containers, sandboxes and logs that are kept',
      description: 'By reason, of the last plans.',
    },
    ...one(`sum by (reason) (dustpan_container_gc_kept_objects{${agent}})`, '{{reason}}'),
  },
  {
    ...{ title: 'Removals that failed', description: 'By reason of the removal.' },
    ...one(`sum by (reason) (${increase(`dustpan_container_gc_errors_total{${agent}}`)})`, '{{reason}}'),
  },
  {
    ...{ title: 'Logs, by node', unit: 'bytes', description: 'Size of all files below the log roots.' },
    ...one(`max by (node) (dustpan_container_log_bytes{${agent}})`, '{{node}}'),
  },
  {
    ...{
      title: 'Bytes freed of logs, by node',
      unit: 'bytes',
      description: 'Those of removed containers included.',
    },
    ...one(`sum by (node) (${increase(`dustpan_container_gc_log_freed_bytes_total{${agent}}`)})`, '{{node}}'),
  },
  {
    ...{ title: 'Left of pods that are gone', description: 'Counted, not removed.' },
    ...one(`sum by (kind) (dustpan_node_orphans{${agent}})`, '{{kind}}'),
  },
  {
    ...{
      title: 'Bytes left of pods that are gone',
      unit: 'bytes',
      description: 'Directories: on disk; control groups: memory.',
    },
    ...one(`sum by (kind) (dustpan_node_orphan_bytes{${agent}})`, '{{kind}}'),
  },
];
