import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { policyManifest } from '../../manifests.ts';
import { startSandbox, type Sandbox } from '../../sandbox/server.ts';
import type { SandboxUser } from '../../sandbox/api/users.ts';
import { built, until } from '../built.ts';
import { RunningProcess } from '../running-process.ts';
import { dustpan } from './plan/fixture.ts';

let api: Sandbox;
let running: RunningProcess | undefined;

const withoutReports: SandboxUser = {
  ...{ name: 'without-reports', token: 'without-reports' },
  allow: ({ resource }) => resource === 'gcpolicies',
};

/** The service account of helm test. */
const ofRelease: SandboxUser = {
  ...{ name: 'of-release', token: 'of-release' },
  allow: ({ namespace, resource }) =>
    namespace === 'dustpan-system' ||
    ['nodes', 'customresourcedefinitions'].includes(resource) ||
    resource.startsWith('validatingadmissionpolic'),
};

beforeEach(async () => {
  api = await startSandbox({ users: [withoutReports, ofRelease] });
});
afterEach(async () => {
  running?.kill('SIGKILL');
  await api.stop();
});

const status = (...args: readonly string[]) =>
  dustpan(['status', `--kubeconfig=${api.kubeconfigFile}`, ...args]);

const time = (minutesAgo: number): string =>
  new Date(Date.now() - minutesAgo * 60_000).toISOString().replace(/\.\d+Z$/, 'Z');

function policyWith(due: number): void {
  const message = 'Nodes missing: 3, 60 % of all';
  const common = { status: 'True', reason: 'Tripped', message, lastTransitionTime: time(2) };
  const conditions = [
    { type: 'Degraded', ...common },
    { type: 'Accepted', ...common, reason: 'Valid', message: 'The spec is valid' },
  ];
  api.store.apply({
    ...policyManifest('default', { mode: 'Enforce', pods: { orphaned: {} } }),
    metadata: { name: 'default', creationTimestamp: '2026-01-01T07:05:00Z' },
    status: {
      ...{ observedGeneration: 1, lastPassTime: time(1), conditions },
      pods: { governed: 10, due, deletedTotal: 7 },
    },
  });
}

function report(name: string, minutesAgo: number): void {
  api.store.apply({
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'NodeGCReport',
    metadata: { name },
    status: {
      reportTime: time(minutesAgo),
      policy: { name: 'default', observedGeneration: 1, mode: 'Enforce' },
      imageFileSystem: { usedPercent: 81 },
      images: { removable: { count: 2, bytes: 3 * 1024 ** 3 } },
      units: [
        { name: 'imagegc', lastPassTime: time(minutesAgo), result: 'Idle', freedBytesTotal: 1024 ** 2 },
      ],
    },
  });
}

/** As the chart says that no agent belongs to its Deployment. */
const withoutAgents = { 'gc.dustpan.dev/no-agents': 'agent.enabled is false' };

describe('once', () => {
  test('problems first, then totals; the same as JSON and YAML', async () => {
    policyWith(12);
    report('node-a', 2);
    report('node-b', 60);
    const { code, stdout, stderr } = await status();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^dustpan works; worst problem: Tripped [^]*; 2\s+problems\.\n! GCPolicy default: Tripped [^]*\n! Node node-b: Stale [^]*\n1 policy\n/,
    );
    expect(JSON.parse((await status('-o', 'json')).stdout)).toMatchObject({
      ...{ kind: 'Status', trouble: [{ reason: 'Tripped' }, { reason: 'Stale' }] },
      totals: { policies: 1, nodes: 2, podsDue: 12, reclaimedBytes: 2 * 1024 ** 2 },
    });
    expect((await status('-o', 'yaml')).stdout).toContain('kind: Status\n');
  });

  test('leaves out reports that may not be read, with a warning', async () => {
    policyWith(12);
    const { code, stdout, stderr } = await status(`--kubeconfig=${api.kubeconfigOf('without-reports')}`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^dustpan works; worst problem: [^;]*; the\s+Deployment\s+of\s+dustpan\s+cannot\s+be\s+read[^;]* has ended\s+a\s+pass[^;]*; 1\s+problem\.\n[^]*\nYou may not read: nodegcreports, /,
    );
  });

  test('says where dustpan is not installed', async () => {
    await api.stop();
    api = await startSandbox({ crds: false });
    const { code, stdout } = await status('--exit-code');
    expect(code).toBe(3);
    expect(stdout).toMatch(/^dustpan is not installed in this cluster; 1 problem\.\n/);
  });

  test('with --installation, leaves out policies and nodes', async () => {
    policyWith(12);
    expect(await status('--installation', '--exit-code')).toEqual({
      ...{ code: 0, stderr: '' },
      stdout:
        'dustpan works; controller 0.1.0; no agents on nodes: the sandbox has none, so\n  spec.nodes of policies has no effect.\n',
    });
  });

  test.each([
    { name: 'exists', uid: 'uid-1', text: /^dustpan works; controller [^;]*, leader old for / },
    { name: 'was replaced under its name', uid: 'uid-2', text: /^dustpan does not work: nothing acts now; / },
    { name: 'exists no more', uid: undefined, text: /^dustpan does not work: nothing acts now; / },
  ])('after an uninstallation the Lease names a leader: its pod $name', async ({ uid, text }) => {
    const metadata = { namespace: 'dustpan-system', creationTimestamp: time(5) };
    const labels = { 'app.kubernetes.io/part-of': 'dustpan', 'app.kubernetes.io/component': 'controller' };
    api.store.apply({
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', spec: { replicas: 1 }, status: { readyReplicas: 1 } },
      metadata: { ...metadata, name: 'dustpan-controller', labels, annotations: withoutAgents },
    });
    api.store.apply({
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
      metadata: {
        ...{ ...metadata, name: 'dustpan-controller' },
        annotations: { 'gc.dustpan.dev/holder-pod': 'dustpan-system/old/uid-1' },
      },
      spec: {
        ...{ holderIdentity: 'old_1', leaseDurationSeconds: 15 },
        ...{ acquireTime: time(5), renewTime: time(0) },
      },
    });
    if (uid !== undefined)
      api.store.apply({ apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: 'old', uid } });
    const { stdout } = await status('--installation');
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(text);
  });

  test.each([
    { name: 'its agents are there too', hasAgents: true, line: 'agents ready on 1 of 1 node' },
    {
      name: 'its platform has no agents',
      hasAgents: false,
      line: 'no agents on nodes: Autopilot rejects them, so spec.nodes of policies has no effect',
    },
  ])('with the rights of helm test, nothing is left unread: $name', async ({ hasAgents, line }) => {
    const metadata = (name: string) => ({
      ...{ namespace: 'dustpan-system', name: `dustpan-${name}` },
      labels: { 'app.kubernetes.io/part-of': 'dustpan', 'app.kubernetes.io/component': name },
    });
    const apps = { apiVersion: 'apps/v1', metadata: metadata('agent') };
    const counts = { desiredNumberScheduled: 1, numberReady: 1 };
    if (hasAgents) api.store.apply({ ...apps, kind: 'DaemonSet', spec: {}, status: counts });
    else
      api.store.apply({
        ...{ ...apps, kind: 'Deployment', status: { readyReplicas: 1 } },
        metadata: {
          ...metadata('controller'),
          annotations: { 'gc.dustpan.dev/no-agents': 'Autopilot rejects them' },
        },
        spec: { template: { spec: { containers: [{ args: ['--leader-elect=false'] }] } } },
      });
    const given = JSON.parse(readFileSync(api.kubeconfigOf('of-release'), 'utf8')) as {
      contexts: { context: Record<string, string> }[];
    };
    for (const { context } of given.contexts) context['namespace'] = 'dustpan-system';
    const kubeconfig = `${api.kubeconfigOf('of-release')}.own`;
    writeFileSync(kubeconfig, JSON.stringify(given));
    const { code, stdout } = await status('--installation', '--exit-code', `--kubeconfig=${kubeconfig}`);
    expect({ code, text: stdout.replaceAll(/\s+/g, ' ') }).toEqual({
      code: 0,
      text: expect.stringMatching(new RegExp(`^dustpan works; controller [^;]*; ${line}\\. $`)) as string,
    });
  });
});

test('--watch shows each change once, reports a read that fails, and succeeds on Ctrl-C', async () => {
  policyWith(12);
  const at = `--kubeconfig=${api.kubeconfigFile}`;
  const output = new RunningProcess([built.main, 'status', at, '--watch', '-o', 'json']);
  running = output;
  const documents = (): number => output.stdout.split('"kind": "Status"').length - 1;
  await until('the first', () => documents() === 1);
  policyWith(13);
  await until('a change', () => output.stdout.includes('"podsDue": 13'));
  report('node-a', 2);
  await until('a new report', () => output.stdout.includes('"name": "node-a"'));
  expect({ documents: documents(), stderr: output.stderr }).toEqual({ documents: 3, stderr: '' });
  api.faults.next(({ path }) => path.endsWith('/gcpolicies'), { kind: 'status', status: 400 });
  policyWith(14);
  await until('the change after a failure', () => output.stdout.includes('"podsDue": 14'));
  output.kill('SIGINT');
  expect(await output.ended()).toBe(0);
  expect(output.stderr).toMatch(/^dustpan: warning: the values may be stale: [^\n]+\n$/);
});
