// @bed node
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dustpanImage } from '../../../scripts/image/dustpan-image.ts';
import type { PlanDocument } from '../../../src/commands/plan/document.ts';
import { policyManifest } from '../../manifests.ts';
import { chartDirectory } from '../chart/chart.ts';
import { busyboxImage, image, images } from '../node/image.ts';
import { repositoryRoot } from '../repository.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { runCommand, type CommandResult } from '../servers/command.ts';
import { apply } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';

/** The command line reads a real node through the pod of its agent, which the chart has installed, with rights of a user. */
const namespace = 'dustpan-system';
const dir = mkdtempSync(join(tmpdir(), 'dustpan-through-agents-'));
const unused = { ...busyboxImage, ref: 'bed.test/unused:1', fill: { bytes: 4e6, kind: 'random' } } as const;
let cluster: Cluster;

const subject = (name: string): object => ({ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' });
const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };

/** Both may read what a plan needs; only `operator` may run commands in pods. */
const rights: readonly object[] = [
  {
    ...{ ...rbac, kind: 'ClusterRole', metadata: { name: 'plan' } },
    rules: [
      { apiGroups: [''], resources: ['pods', 'nodes', 'namespaces'], verbs: ['list'] },
      { apiGroups: ['batch', 'apps'], resources: ['jobs', 'replicasets'], verbs: ['list'] },
      { apiGroups: ['gc.dustpan.dev'], resources: ['gcpolicies', 'nodegcreports'], verbs: ['list'] },
    ],
  },
  {
    ...{ ...rbac, kind: 'ClusterRoleBinding', metadata: { name: 'plan' } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'plan' },
    subjects: [subject('operator'), subject('viewer')],
  },
  {
    ...{ ...rbac, kind: 'Role', metadata: { name: 'exec', namespace } },
    rules: [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['create', 'get'] }],
  },
  {
    ...{ ...rbac, kind: 'RoleBinding', metadata: { name: 'exec', namespace } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'exec' },
    subjects: [subject('operator')],
  },
];

beforeAll(async () => {
  const [archive, others] = [join(dir, 'dustpan.tar'), join(dir, 'others.tar')];
  await image(dustpanImage({ root: repositoryRoot() }), archive);
  await images([unused], others);
  cluster = await startCluster({
    parts: ['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet'],
    images: [{ archive, pinned: true }, { archive: others }],
  });
  const args = ['--namespace', namespace, '--create-namespace', '--wait', '--timeout=300s'];
  const { code, stderr } = await cluster.run('helm', ['install', 'dustpan', chartDirectory, ...args]);
  if (code !== 0) throw new Error(stderr);
  const nodes = { imageGC: { minimumAge: '1s', maximumAge: '2s' }, containerGC: {} };
  await apply(cluster, policyManifest('nodes', { mode: 'DryRun', nodes }), ...rights);
});

afterAll(async () => {
  await cluster.stop();
  rmSync(dir, { recursive: true });
});

/** Without the breaks of long lines. */
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

/** Runs the built command with the rights of a user. */
const dustpan = (user: string, ...args: readonly string[]): Promise<CommandResult> => {
  const main = join(repositoryRoot(), 'dist/main.js');
  const connection = [`--kubeconfig=${cluster.kubeconfig('admin')}`, `--as=${user}`];
  return runCommand([process.execPath, main, ...args, ...connection]);
};

test('a user with the right reads an image of the node', async () => {
  const args = ['why', 'image', unused.ref, `--node=${cluster.node.name}`];
  await expect
    .poll(async () => (await dustpan('operator', ...args)).stdout, eventually)
    .toContain(`Image ${unused.ref} `);
  const { code, stdout, stderr } = await dustpan('operator', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  // Young or not: its agent may not have written its history yet.
  expect(flat(stdout)).toMatch(/ on node-a (is kept|would be removed) by imagegc: /);
  expect(stdout).toContain('GCPolicy nodes (DryRun: nothing is removed)');
});

test('a container of the node is explained', async () => {
  const path = '-o=jsonpath={.items[0].status.containerStatuses[0].containerID}';
  const selector = '--selector=app.kubernetes.io/component=agent';
  const { stdout: id } = await cluster.run('kubectl', [
    'get',
    'pods',
    '--namespace',
    namespace,
    selector,
    path,
  ]);
  const { code, stdout } = await dustpan('operator', 'why', 'container', id, `--node=${cluster.node.name}`);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Container agent of pod dustpan-system\/[^:]* is kept by\s+containergc:\s/);
});

test('the plan of all nodes lists their images, each with its verdict', async () => {
  const { code, stdout, stderr } = await dustpan('operator', 'plan', '--nodes', '--kept', '-o', 'json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const { decisions, notes } = JSON.parse(stdout) as PlanDocument;
  expect(notes.filter((note) => note.includes('not read'))).toEqual([]);
  const kept = decisions.find(({ object }) => 'name' in object && object.name === unused.ref);
  expect(kept).toMatchObject({ unit: 'imagegc', object: { kind: 'Image', node: cluster.node.name } });
  expect(decisions.filter(({ unit }) => unit === 'containergc').length).toBeGreaterThan(0);
});

test('a user without the right gets the right to request, and the report of the node', async () => {
  const plan = await dustpan('viewer', 'plan', `--node=${cluster.node.name}`);
  expect(plan.code).toBe(0);
  expect(flat(plan.stdout)).toContain('pods/exec -n dustpan-system');
  const why = await dustpan('viewer', 'why', 'image', unused.ref, `--node=${cluster.node.name}`);
  expect(why.code).toBe(1);
  expect(why.stderr).toMatch(
    /^dustpan: node [^\n]* was not read: [^\n]*User "viewer" cannot [^\n]*pods\/exec[^\n]*\n$/,
  );
});

test('an unknown node is refused with the nearest name', async () => {
  const { code, stderr } = await dustpan('operator', 'plan', `--node=${cluster.node.name}x`);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `dustpan: --node: there is no node ${cluster.node.name}x; did you mean ${cluster.node.name}?\n`,
  });
});
