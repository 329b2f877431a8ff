import { expect, test } from 'vitest';
import type { Installation } from '../../../../src/evaluation/installation/facts.ts';
import type { StatusFacts } from '../../../../src/evaluation/installation/trouble.ts';
import { statusView } from '../../../../src/commands/status/view.ts';
import {
  agents,
  controller,
  installation,
  lease,
  minutesAgo,
  nodes,
  now,
  policy,
  report,
} from './fixtures.ts';

const notHeld = { ...lease, holder: '' };
const oldPass = { policies: [policy('a', { lastPassTime: minutesAgo(15.1) })] };
const hidden: Partial<Installation> = {
  ...{ controllers: undefined, agents: undefined },
  unread: ['deployments of all namespaces', 'daemonsets of all namespaces'],
};

interface Row {
  readonly name: string;
  readonly found?: Partial<Installation>;
  readonly known?: Partial<StatusFacts>;
  readonly expected: readonly [verdict: string, signs: number];
}

test.each<Row>([
  { name: 'a pass that ended lately, and reports', expected: ['Works', 2] },
  { name: 'a pass that ended lately', known: { reports: [] }, expected: ['Works', 1] },
  { name: 'reports alone, as after an uninstallation', known: oldPass, expected: ['NotInstalled', 0] },
  { name: 'a Lease that is held', found: { clusterLease: lease }, known: oldPass, expected: ['Works', 2] },
  {
    name: 'a Lease that nobody holds, as after an uninstallation',
    found: { clusterLease: notHeld },
    expected: ['NotInstalled', 0],
  },
  { name: 'a Lease that may not be read', found: { clusterLease: 'unknown' }, expected: ['Works', 2] },
  { name: 'workloads that may not be read', found: hidden, expected: ['Works', 2] },
  {
    name: 'workloads that may not be read, without a pass',
    ...{ found: hidden, known: { policies: [] } },
    expected: ['Unknown', 0],
  },
  { name: 'agents that are found', found: { agents: [agents] }, expected: ['Works', 1] },
  {
    name: 'a controller that is found and does not lead, and reports',
    found: { controllers: [{ ...controller, lease: notHeld }] },
    expected: ['WorksInPart', 1],
  },
])('without the objects of the chart: $name', ({ found, known, expected }) => {
  const facts = { policies: [policy('a')], reports: [report('node-1')], nodes };
  const without = { ...installation, controllers: [], agents: [], ...found };
  const { verdict, signs, trouble } = statusView({ ...facts, installation: without, ...known }, now);
  expect([verdict, signs.length]).toEqual(expected);
  const isMissing = trouble.some(({ reason }) => ['NotInstalled', 'NoController'].includes(reason));
  expect(isMissing).toBe(verdict === 'NotInstalled');
});

test('workloads that may not be read do not count as missing', () => {
  const facts = { policies: [policy('a')], reports: [report('node-1')], nodes };
  expect(statusView({ ...facts, installation: { ...installation, ...hidden } }, now).signs).toEqual([
    'the Deployment of dustpan cannot be read, but a controller has ended a pass in the last 15 minutes',
    'the DaemonSet of dustpan cannot be read, but an agent has reported in the last 15 minutes',
  ]);
});
