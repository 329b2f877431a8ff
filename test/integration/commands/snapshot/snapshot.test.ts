import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SandboxUser } from '../../../sandbox/api/users.ts';
import { policyManifest } from '../../../manifests.ts';
import { nodeName } from '../../agent/environment.ts';
import { until } from '../../built.ts';
import { controllerDeployment, podOn } from '../../controller/environment.ts';
import { planned } from '../plan/fixture.ts';
import { SnapshotFixture } from './fixture.ts';

let fixture: SnapshotFixture;

/** May list nodes only. */
const onlyNodes: SandboxUser = {
  ...{ name: 'only-nodes', token: 'only-nodes' },
  allow: ({ resource }) => resource === 'nodes',
};

/** May read one namespace, and the policies. */
const owner: SandboxUser = {
  ...{ name: 'owner', token: 'owner' },
  allow: ({ resource, namespace }) => resource === 'gcpolicies' || namespace === 'team',
};

beforeEach(async () => {
  fixture = new SnapshotFixture();
  await fixture.startApi({ users: [onlyNodes, owner] });
});
afterEach(async () => {
  await fixture.stop();
});

const clusterLists = ['jobs', 'namespaces', 'nodegcreports', 'nodes', 'pods', 'policies', 'replicasets'];

function finishedPods(count: number): void {
  for (let i = 0; i < count; i += 1) fixture.api.store.apply(podOn(nodeName, `p${i}`, 'Succeeded'));
}

const pinning = policyManifest('pinning', { mode: 'DryRun', nodes: { imageGC: { pinWanted: true } } });
const podsPolicy = (pods: object) => policyManifest('default', { mode: 'DryRun', pods });

describe('of a cluster', () => {
  test('has the images that workloads want, if a policy needs them', async () => {
    const { store } = fixture.api;
    store.apply(controllerDeployment);
    store.apply(pinning);
    const without = await fixture.snapshot();
    expect(without.stderr).toMatch(
      /has not written ConfigMap dustpan-system\/\S+; wantedimages.json is left out/,
    );
    const list = { listedAtMs: 1, images: [], omitted: 2 };
    const metadata = { namespace: 'dustpan-system', name: 'dustpan-wanted-images' };
    const data = { 'images.json': JSON.stringify(list) };
    store.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    expect(await fixture.snapshot('--force')).toMatchObject({ code: 0, stderr: '' });
    expect(fixture.json('wantedimages.json')).toEqual(list);
  });

  test('writes all lists in the format of kubectl, and their plan equals the plan of the cluster', async () => {
    finishedPods(1100);
    fixture.api.store.apply(podsPolicy({ terminated: { threshold: 600 }, orphaned: {} }));
    const { code, stdout, stderr } = await fixture.snapshot();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      `Snapshot in ${fixture.directory}: 1100 pods, 1 nodes, 5 namespaces, 0 jobs, 0 replicasets, 1 policies, 0 nodegcreports\n`,
    );
    expect(readdirSync(fixture.directory)).toEqual(
      [...clusterLists, 'snapshot'].map((name) => `${name}.json`),
    );
    const at = ['--now=2031-01-15T12:00:00Z', '--kept'];
    const offline = await planned([`--snapshot=${fixture.directory}`, ...at]);
    const live = await planned([`--kubeconfig=${fixture.api.kubeconfigFile}`, ...at]);
    expect(offline.decisions).toEqual(live.decisions);
    expect(offline.totals).toEqual(live.totals);
    expect(offline.decisions.filter(({ verdict }) => verdict === 'Delete')).toHaveLength(500);
  });

  test('of a namespace with labels, has its pods alone, with the rights of its owner', async () => {
    finishedPods(2);
    const { store } = fixture.api;
    store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    const ended = { type: 'DisruptionTarget', status: 'True', lastTransitionTime: '2030-12-31T00:00:00Z' };
    for (const app of ['web', 'db'])
      store.apply({
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: app, namespace: 'team', labels: { app } } },
        ...{ spec: { nodeName, containers: [] }, status: { phase: 'Succeeded', conditions: [ended] } },
      });
    store.apply(podsPolicy({ terminated: { ttlAfterFinished: '1s' } }));
    const kubeconfig = `--kubeconfig=${fixture.api.kubeconfigOf('owner')}`;
    const { code, stdout } = await fixture.snapshot(kubeconfig, '-n=team', '-l=app=web');
    expect(code).toBe(0);
    expect(stdout).toContain(': 1 pods, 1 namespaces, 0 jobs, 0 replicasets, 1 policies\n');
    const plan = await planned([`--snapshot=${fixture.directory}`, '--now=2031-01-15T12:00:00Z']);
    expect(plan.decisions).toMatchObject([{ object: { namespace: 'team', name: 'web' }, reason: 'Expired' }]);
    expect(plan.notes).toContain(
      'The snapshot has only the pods of namespace team with labels app=web: thresholds count no others. The circuit breaker cannot count all missing nodes, so orphaned pods are kept.',
    );
    const { stdout: everywhere } = await fixture.snapshot('-l=app=web', '--force');
    expect(everywhere).toContain(': 1 pods, 1 nodes, 6 namespaces, 0 jobs, 0 replicasets, 1 policies\n');
  });

  test('fails without pods, and keeps the other lists', async () => {
    const { code, stderr } = await fixture.snapshot(`--kubeconfig=${fixture.api.kubeconfigOf('only-nodes')}`);
    expect(code).toBe(1);
    expect(stderr).toContain('cannot list pods: ');
    expect(readdirSync(fixture.directory)).toEqual(['nodes.json', 'snapshot.json']);
  });

  test('leaves nothing behind after Ctrl-C', async () => {
    fixture.api.faults.next(({ path }) => path.endsWith('/jobs'), { kind: 'hang' });
    const child = spawn(process.execPath, fixture.argv(), { stdio: ['ignore', 'ignore', 'pipe'], env: {} });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await until('it waits for jobs', () => fixture.api.requests.some(({ path }) => path.endsWith('/jobs')));
    child.kill('SIGINT');
    await once(child, 'close');
    expect([child.exitCode, stderr]).toEqual([1, 'dustpan: snapshot: interrupted, nothing was written\n']);
    expect(readdirSync(fixture.root).filter((name) => name.startsWith('snapshot'))).toEqual([]);
  });

  test('starts a list again after an expired page', async () => {
    finishedPods(1100);
    const expired = { kind: 'status', status: 410, reason: 'Expired' } as const;
    fixture.api.faults.next(({ query }) => query.has('continue'), expired);
    expect(await fixture.snapshot()).toMatchObject({ code: 0, stderr: '' });
    expect(fixture.json('pods.json')).toHaveProperty('items.length', 1100);
  });
});

test('a directory of other files is bad usage, before any request', async () => {
  mkdirSync(fixture.directory);
  writeFileSync(join(fixture.directory, 'mine'), '');
  expect(await fixture.snapshot()).toMatchObject({ code: 2 });
  expect(fixture.api.requests).toEqual([]);
});
