import { expect, test } from 'vitest';
import { whyTable } from '../../../../src/commands/why/table.ts';
import { minutesAgo, node, pod, policy } from '../../../builders.ts';
import { outOfServiceNode } from '../../controllers/podgc/rows.ts';
import type { Facts } from '../facts.ts';
import { explained } from './catalogue.ts';

const ending = { deletionAtMs: minutesAgo(25), deletionGracePeriodSeconds: 30, phase: 'Running' } as const;
const pending = (reason: string, message: string, image = '') => ({
  ...{ phase: 'Pending', wait: { sinceMs: minutesAgo(180), reason, message, image } },
});
const outOfService = policy({ pods: { outOfService: true } });

/** About the pod `x`. */
const cases: Readonly<Record<string, Facts>> = {
  'a dead node': { pods: [pod('x', ending)], nodes: [node('node-1', { ready: false })] },
  'a dead node that is out of service': {
    ...{ policies: [outOfService], pods: [pod('x', ending)], nodes: [outOfServiceNode] },
  },
  'a dead node that is out of service, in mode DryRun': {
    policies: [{ ...outOfService, mode: 'DryRun' }],
    ...{ pods: [pod('x', ending)], nodes: [outOfServiceNode] },
  },
  'no node': { pods: [pod('x', ending)], nodes: [] },
  'a finalizer': {
    pods: [pod('x', { ...ending, deletionGracePeriodSeconds: 0, finalizers: ['example.com/backup'] })],
  },
  'an image': {
    pods: [pod('x', pending('ImagePullBackOff', 'Back-off pulling image "nginx:nope"', 'nginx:nope'))],
  },
  'no node fits': {
    pods: [
      pod('x', {
        ...pending('Unschedulable', '0/3 nodes are available: 3 Insufficient cpu.'),
        nodeName: undefined,
      }),
    ],
  },
  'without policies and nodes': { pods: [pod('x', ending)], nodes: undefined },
  'nothing after nine minutes': { pods: [pod('x', { ...ending, deletionAtMs: minutesAgo(9) })] },
};

test('why names what holds a stuck pod, and the command that helps', async () => {
  const text = Object.entries(cases).map(
    ([name, facts]) =>
      `# ${name}\n\n${whyTable(explained({ kind: 'pod', namespace: 'default', name: 'x' }, facts))}`,
  );
  await expect(text.join('\n')).toMatchFileSnapshot('./__snapshots__/stuck.txt');
});
