// @bed node
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { dustpanImage } from '../../../scripts/image/dustpan-image.ts';
import { chartDirectory } from './chart.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { resultOfDustpan, runCommand, type CommandResult } from '../servers/command.ts';
import { apply, helm, kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';
import { busyboxImage } from '../node/image.ts';
import type { PlanDocument } from '../../../src/evaluation/plan/document.ts';
import { policyManifest } from '../../manifests.ts';
import { missingLines, shownCommands } from '../../shown-output.ts';
import { repositoryRoot } from '../repository.ts';

/** Runs the commands of docs/getting-started.md on a cluster of one node, with the image that `npm run image` builds. */
const namespace = 'dustpan-system';
const root = repositoryRoot();
const dir = mkdtempSync(join(tmpdir(), 'dustpan-install-'));
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

const see = (...args: readonly string[]): Promise<string> => kubectl(cluster, args);

beforeAll(async () => {
  cluster = await startCluster({
    parts: ['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet'],
    pinnedImages: [dustpanImage({ root })],
  });
});

/** The commands of the page that need a cluster. */
const commands = shownCommands(readFileSync(join(root, 'docs/getting-started.md'), 'utf8')).filter(
  ({ script }) => !/^(npm|ctr|alias) /m.test(script) && !script.startsWith('helm uninstall'),
);

/** Runs the commands in a shell in the checkout; throws their output when one fails. */
async function copied(script = ''): Promise<string> {
  const env = {
    ...process.env,
    KUBECONFIG: cluster.kubeconfig('admin'),
    HELM_CACHE_HOME: join(dir, 'helm'),
    HELM_CONFIG_HOME: join(dir, 'helm'),
    HELM_DATA_HOME: join(dir, 'helm'),
  };
  const { code, stdout, stderr } = await runCommand(['bash', '-euxo', 'pipefail', '-c', script], {
    env,
    cwd: root,
  });
  if (code !== 0) throw new Error(`${stdout}${stderr}`);
  return stdout;
}

describe('the commands of Getting started', () => {
  test.each(commands)(
    'print the output on the page: $script',
    { timeout: 400_000 },
    async ({ script, shown = '' }) => {
      const missing = async (): Promise<readonly string[]> =>
        missingLines(shown, await copied(`dustpan() { node dist/main.js "$@"; }\n${script}`));
      // A first pass, a report or an Event may follow after a moment: for a report, up to two minutes.
      if (/^(kubectl get|dustpan) /.test(script))
        await expect.poll(missing, { timeout: 180_000, interval: 2_000 }).toEqual([]);
      // `kubectl wait` prints nothing about a pod that is gone already.
      else expect((await missing()).filter((line) => line !== 'pod/hello condition met')).toEqual([]);
    },
  );

  test('install both components', async () => {
    const ready = '-o=jsonpath={.items[*].status.containerStatuses[*].ready}';
    expect(await see('get', 'pods', '--namespace', namespace, ready)).toBe('true true');
  });
});

test('the types in the admission policies pass the check of the API server', async () => {
  const checked =
    '-o=jsonpath={range .items[*]}{.status.observedGeneration} {.status.typeChecking}{"\\n"}{end}';
  await expect
    .poll(() => see('get', 'validatingadmissionpolicies', checked), { timeout: 90_000 })
    .toBe('1 {}\n1 {}\n');
});

test('the agent misses no mount, right or flag', async () => {
  const log = await see('logs', 'daemonset/dustpan-agent', '--namespace', namespace);
  const lines = log.split('\n').filter((line) => line.startsWith('{'));
  const logged = lines.map((line) => JSON.parse(line) as { readonly level: string; readonly msg: string });
  expect(logged.map(({ msg }) => msg)).toContain('container runtime answers');
  expect(logged.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
});

/** The command line reads a real node through the pod of its agent, with rights of a user. */
describe('through the agents', () => {
  beforeAll(async () => {
    await cluster.importImages([unused]);
    const nodes = { imageGC: { minimumAge: '1s', maximumAge: '2s' }, containerGC: {} };
    // Before the policies of the page.
    const policy = policyManifest('nodes', { mode: 'DryRun', priority: 1_000, nodes });
    await apply(cluster, policy, ...rights);
  });

  /** Without the breaks of long lines. */
  const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

  /** Runs the built command with the rights of a user. */
  const dustpan = (user: string, ...args: readonly string[]): Promise<CommandResult> =>
    resultOfDustpan(...args, `--kubeconfig=${cluster.kubeconfig('admin')}`, `--as=${user}`);

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
});

test('helm test passes', async () => {
  const output = await helm(cluster, 'test', 'dustpan', '--namespace', namespace, '--logs', '--timeout=300s');
  expect(output).toMatch(
    /dustpan works; controller [^]*, leader dustpan-controller-[^]*; agents ready on 1 of 1 node\./,
  );
});

test('helm upgrade to two replicas: one becomes leader', async () => {
  const values = ['--set=controller.replicas=2,log.verbosity=4', '--wait', '--timeout=300s'];
  await helm(cluster, 'upgrade', 'dustpan', chartDirectory, '--namespace', namespace, ...values);
  // The old leader has released the Lease; a new one acquires it at its next attempt.
  const lease = ['get', 'lease', 'dustpan-controller', '--namespace', namespace] as const;
  const holder = (): Promise<string> => see(...lease, '-o=jsonpath={.spec.holderIdentity}');
  await expect.poll(holder, { timeout: 90_000 }).toContain('dustpan-controller-');
});

describe('with metrics.secure', () => {
  const reader = { kind: 'ServiceAccount', name: 'scraper', namespace };
  /** Prints the HTTP status of /metrics of its own pod, requested by the Service's name, with a token unless that is empty. */
  const scrape = `
    const { readFileSync } = require('node:fs');
    const [servername, token] = process.argv.slice(1);
    const headers = token ? { authorization: 'Bearer ' + token } : {};
    const ca = readFileSync('/etc/dustpan/metrics-tls/ca.crt');
    const options = { host: '127.0.0.1', port: 8080, path: '/metrics', servername, ca, headers };
    require('node:https').get(options, (response) => {
      console.log(response.statusCode);
      response.resume();
    });`;

  beforeAll(async () => {
    await see('create', 'serviceaccount', 'scraper', '--namespace', namespace);
    const secure = `--set-json=metrics.secure=${JSON.stringify({ enabled: true, readers: [reader] })}`;
    const waited = ['--wait', '--timeout=300s'];
    await helm(cluster, 'upgrade', 'dustpan', chartDirectory, '--namespace', namespace, secure, ...waited);
  });

  test('helm test passes', async () => {
    const output = await helm(
      cluster,
      'test',
      'dustpan',
      '--namespace',
      namespace,
      '--logs',
      '--timeout=300s',
    );
    expect(output).toContain('agents ready on 1 of 1 node.');
  });

  test.each(['deployment/dustpan-controller', 'daemonset/dustpan-agent'])(
    '%s serves its metrics to readers only',
    async (workload) => {
      const service = `${workload.split('/')[1] ?? ''}-metrics.${namespace}.svc`;
      const node = ['exec', workload, '--namespace', namespace, '--', '/nodejs/bin/node', '--eval', scrape];
      const statusWith = async (token: string): Promise<string> =>
        (await see(...node, service, token)).trim();
      const tokenOf = async (account: string): Promise<string> =>
        (await see('create', 'token', account, '--namespace', namespace)).trim();
      const tokens = [await tokenOf('scraper'), await tokenOf('default'), ''];
      // One after the other: each is a Node of its own within the pod's limit of memory.
      const statuses = async (): Promise<readonly string[]> => {
        const seen: string[] = [];
        for (const token of tokens) seen.push(await statusWith(token));
        return seen;
      };
      // An old pod may still be terminating, and a new binding takes effect after a moment.
      await expect.poll(statuses, { timeout: 120_000, interval: 1_000 }).toEqual(['200', '403', '401']);
    },
  );
});

test('after an uninstallation status says so; the next installation leads, and its policies are still there', async () => {
  const path = '-o=jsonpath={.spec.holderIdentity}';
  const holder = () => see('get', 'lease', 'dustpan-controller', '--namespace', namespace, path);
  const before = await holder();
  await helm(cluster, 'uninstall', 'dustpan', '--namespace', namespace);
  const status = (): Promise<string> => copied('node dist/main.js status || true');
  await expect.poll(status, eventually).toMatch(/^dustpan is not installed/);
  await helm(cluster, 'install', 'dustpan', chartDirectory, '--namespace', namespace, '--wait');
  // Until then the Lease names the pod that is gone.
  await expect.poll(holder, eventually).not.toBe(before);
  await expect.poll(status, { timeout: 180_000, interval: 2_000 }).toMatch(/^dustpan works; /);
  expect(await see('get', 'gcpolicies', '-o', 'name')).toContain('gcpolicy.gc.dustpan.dev/default');
}, 400_000);
