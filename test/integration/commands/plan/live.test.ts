import { afterEach, describe, expect, test } from 'vitest';
import type { Decision } from '../../../../src/evaluation/plan/document.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../sandbox/server.ts';
import type { Attributes } from '../../../sandbox/api/request.ts';
import type { SandboxUser } from '../../../sandbox/api/users.ts';
import {
  controllerDeployment,
  podOn,
  policy as policyOf,
  fillCluster as fill,
} from '../../controller/environment.ts';
import { dustpan, inputOfEachTest, planned, policy as policyManifest } from './fixture.ts';

const input = inputOfEachTest();
let sandbox: Sandbox | undefined;

afterEach(async () => {
  await sandbox?.stop();
  sandbox = undefined;
});

async function start(options: SandboxOptions = {}): Promise<Sandbox> {
  sandbox = await startSandbox(options);
  fill(sandbox, 3);
  return sandbox;
}

test('plans from the cluster, and only reads from it', async () => {
  const api = await start();
  const { store, kubeconfigFile } = api;
  store.apply(policyOf('Enforce', { terminated: { threshold: 1 } }));
  const plan = await planned([`--kubeconfig=${kubeconfigFile}`]);
  expect(plan.decisions).toMatchObject([
    { verdict: 'Delete', reason: 'Terminated', policy: 'default', mode: 'Enforce', order: 1 },
    { verdict: 'Delete', reason: 'Terminated', order: 2 },
  ]);
  expect(plan.totals).toMatchObject([{ unit: 'podgc', planned: 2, kept: 1 }]);
  const others = api.requests.filter(({ path }) => !path.includes('/subjectaccessreviews'));
  expect(new Set(others.map(({ method }) => method))).toEqual(new Set(['GET']));
  expect(store.list('Pod')).toHaveLength(3);
});

const controllerWithout = (...lost: readonly string[]): SandboxUser => ({
  ...{ name: 'system:serviceaccount:dustpan-system:default', token: 'controller' },
  allow: ({ verb, resource }) => !lost.includes(`${verb} ${resource}`),
});

test('names every right that the policies need and the controller lacks', async () => {
  const controller = controllerWithout('delete pods', 'list jobs', 'create pods/eviction');
  const { store, kubeconfigFile } = await start({ users: [controller] });
  store.apply(policyOf('Enforce', { terminated: { threshold: 1, protectUnfinishedJobs: true } }));
  const { notes } = await planned([`--kubeconfig=${kubeconfigFile}`]);
  expect(notes).toContainEqual(
    expect.stringContaining('The ServiceAccount of the controller may not list jobs, delete pods:'),
  );
});

test.each([
  { granted: 'dustpan-system', lacks: 0 },
  { granted: 'other', lacks: 1 },
])('the rights on the list of wanted images count in the namespace $granted', async ({ granted, lacks }) => {
  const controller = {
    ...controllerWithout(),
    allow: ({ resource, namespace }: Attributes) => resource !== 'configmaps' || namespace === granted,
  };
  const { store, kubeconfigFile } = await start({ users: [controller] });
  store.apply(controllerDeployment);
  store.apply(policyManifest('images', { nodes: { imageGC: { pinWanted: true } } }));
  const { notes } = await planned([`--kubeconfig=${kubeconfigFile}`]);
  const texts = notes.filter((note) =>
    note.includes('may not get configmaps, create configmaps, update configmaps'),
  );
  expect(texts).toHaveLength(lacks);
});

test.each(['list jobs', 'watch jobs'])(
  'reads no owners if the controller may not %s, also where only a replaced policy needs them',
  async (lost) => {
    const { store, kubeconfigFile, requests } = await start({ users: [controllerWithout(lost)] });
    store.apply(policyOf('Enforce', { terminated: { threshold: 1, protectUnfinishedJobs: true } }));
    input.use();
    input.write('policy.json', policyOf('Enforce', { terminated: { threshold: 1 } }));
    await planned([`--kubeconfig=${kubeconfigFile}`, `-f=${input.path('policy.json')}`]);
    expect(requests.filter(({ path }) => path.includes('/jobs'))).toEqual([]);
  },
);

test('the list of wanted images is read where a controller is installed, and only if a policy needs it', async () => {
  const { store, kubeconfigFile, requests } = await start();
  const reads = (): number => requests.filter(({ path }) => path.includes('/configmaps/')).length;
  store.apply(controllerDeployment);
  store.apply(policyManifest('images', { nodes: { imageGC: {} } }));
  await planned([`--kubeconfig=${kubeconfigFile}`]);
  expect(reads()).toBe(0);
  store.apply(policyManifest('images', { nodes: { imageGC: { pinWanted: true } } }));
  await planned([`--kubeconfig=${kubeconfigFile}`]);
  expect(reads()).toBe(1);
  expect(requests.map(({ path }) => path)).toContainEqual(
    '/api/v1/namespaces/dustpan-system/configmaps/dustpan-wanted-images',
  );
});

describe('nodes that were not read', () => {
  const images = policyManifest('images', { mode: 'Enforce', nodes: { imageGC: { minimumAge: '1s' } } });
  const textOf = async (...args: readonly string[]) => {
    const { code, stdout } = await dustpan(['plan', '--exit-code', ...args]);
    expect(stdout).not.toMatch(/nothing would|0 more/i);
    return { code, text: stdout.replaceAll(/\s+/g, ' ') };
  };

  /** A Deployment of the controller, as the chart installs it. */
  const deployment = (annotations: Readonly<Record<string, string>>) => ({
    ...controllerDeployment,
    status: { readyReplicas: 1 },
    metadata: { ...controllerDeployment.metadata, annotations },
    spec: { template: { spec: { containers: [{ args: ['--leader-elect=false'] }] } } },
  });

  test('leave a policy of a file open, and the comparison, for 0 with --exit-code', async () => {
    const { store, kubeconfigFile } = await start();
    store.apply(deployment({}));
    store.apply(policyOf('Enforce', { terminated: { threshold: 9 } }));
    input.use();
    input.write('policy.json', images);
    const { code, text } = await textOf(`--kubeconfig=${kubeconfigFile}`, `-f=${input.path('policy.json')}`);
    expect(code).toBe(0);
    expect(text).toContain('images is in mode Enforce: what it would remove on node node-1 is not known.');
    expect(text).toContain('in force: the difference on node node-1 is not known: add --nodes,');
    expect(text).toMatch(/What would be removed on node node-1 is not known: add --nodes, [^.]*\. $/);
  });

  test('leave a policy in force open to a user without the right to their reports', async () => {
    const user = {
      name: 'user',
      token: 'user',
      allow: ({ resource }: { resource: string }) => resource !== 'nodegcreports',
    };
    const api = await start({ users: [user] });
    api.store.apply(images);
    const { text } = await textOf(`--kubeconfig=${api.kubeconfigOf('user')}`);
    expect(text).toContain('The nodegcreports are not known: ');
    expect(text).toMatch(/What would be removed on node node-1 is not known: [^.]*\. $/);
  });

  test('leave nothing open where agents are left out on purpose', async () => {
    const { store, kubeconfigFile } = await start();
    store.apply(images);
    store.apply(deployment({ 'gc.dustpan.dev/no-agents': 'Autopilot rejects them' }));
    const { unknown, notes } = await planned([`--kubeconfig=${kubeconfigFile}`]);
    expect(unknown).toEqual([]);
    expect(notes.join()).toContain('No agents on nodes: Autopilot rejects them, so spec.nodes');
  });
});

test('takes the state of the circuit breaker from the status of the policy', async () => {
  const { store, kubeconfigFile } = await start();
  const args = [`--kubeconfig=${kubeconfigFile}`, '--assume-quarantine-elapsed', '--kept'];
  const orphaned = policyOf('Enforce', { orphaned: {} });
  store.apply(orphaned);
  store.apply(podOn('gone', 'orphan', 'Running'));
  const reasonOf = async (): Promise<string | undefined> =>
    (await planned(args)).decisions.find(({ object }) => 'name' in object && object.name === 'orphan')
      ?.reason;
  expect(await reasonOf()).toBe('Orphaned');
  const at = { lastTransitionTime: '2026-01-15T12:00:00Z', message: 'the circuit breaker is open' };
  const conditions = [{ type: 'Degraded', status: 'True', reason: 'Tripped', ...at }];
  store.apply({ ...orphaned, status: { conditions, pods: { missingNodes: 1 } } });
  expect(await reasonOf()).toBe('Tripped');
  const why = await dustpan(['why', 'pod/orphan', '-n=default', ...args.slice(0, 2)]);
  expect(why.stdout).toContain('is kept by podgc: Tripped');
});

test('fails where the kind GCPolicy is not installed, unless a policy is given', async () => {
  const { kubeconfigFile } = await start({ crds: false });
  const at = `--kubeconfig=${kubeconfigFile}`;
  const failed = {
    ...{ code: 1, stdout: '' },
    stderr: expect.stringMatching(/^dustpan: the kind GCPolicy is not installed [^\n]*\n$/) as string,
  };
  input.use();
  input.drop('snapshot');
  const snapshot = input.path('snapshot');
  expect(await dustpan(['snapshot', snapshot, at])).toMatchObject({ code: 0 });
  input.write('policy.json', policyOf('Enforce', { terminated: { threshold: 1 } }));
  for (const source of [at, `--snapshot=${snapshot}`]) {
    expect(await dustpan(['plan', source])).toEqual(failed);
    expect((await planned([source, `-f=${input.path('policy.json')}`])).decisions).toHaveLength(2);
  }
});

describe('of one namespace', () => {
  const terminated = { finishedAt: '2030-01-01T00:00:00Z' };
  const finishedIn = (namespace: string, name: string, labels: Record<string, string> = {}) => ({
    ...podOn('node-1', name, 'Succeeded'),
    metadata: { name, namespace, labels },
    status: { phase: 'Succeeded', containerStatuses: [{ name: 'c', state: { terminated } }] },
  });

  test('and of labels, lists its pods; the threshold counts all', async () => {
    const { store, kubeconfigFile } = await start();
    store.apply(policyOf('Enforce', { terminated: { threshold: 1 } }));
    store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    store.apply(finishedIn('team', 'web', { app: 'web' }));
    store.apply(finishedIn('team', 'db', { app: 'db' }));
    const at = `--kubeconfig=${kubeconfigFile}`;
    const whole = await planned([at, '--kept']);
    const own = await planned([at, '-n', 'team', '--kept']);
    const namesOf = (decisions: readonly Decision[]) => decisions.map(({ object }) => object.name);
    expect(own.decisions).toEqual(
      whole.decisions.filter(({ object }) => 'namespace' in object && object.namespace === 'team'),
    );
    expect(namesOf(own.decisions).toSorted()).toEqual(['db', 'web']);
    expect(own.totals).toMatchObject([{ unit: 'podgc', node: null }]);
    const labelled = await planned([at, '--kept', '-l', 'app in (web)']);
    expect(labelled.decisions).toEqual(own.decisions.filter(({ object }) => object.name === 'web'));
    expect((await planned([at, '--kept', '-l=app', '-n=kube-public'])).decisions).toEqual([]);
    const named = await dustpan(['plan', at, '-A', '-o', 'name']);
    expect(named.stdout.split('\n').toSorted().at(-1)).toMatch(/^pod\/p000\d -n default$/);
    expect((await dustpan(['plan', at, '-n=default', '--exit-code'])).code).toBe(3);
    const ofDb = { podSelector: { matchLabels: { app: 'db' } }, terminated: { ttlAfterFinished: '0s' } };
    store.apply(policyOf('Enforce', ofDb));
    expect(namesOf((await planned([at, '--now=2031-01-15T12:00:00Z'])).decisions)).toEqual(['db']);
    expect((await dustpan(['plan', at, '-n=kube-public', '--exit-code'])).code).toBe(0);
  });

  test.each([
    ['plan', '-n=defualt', '--exit-code'],
    ['why', 'pod', 'defualt/p0000'],
  ])('that does not exist is bad input, with the nearest names: %s %s', async (...words) => {
    const { kubeconfigFile } = await start();
    expect(await dustpan([...words, `--kubeconfig=${kubeconfigFile}`])).toEqual({
      ...{ code: 2, stdout: '' },
      stderr: 'dustpan: there is no namespace defualt; did you mean default?\n',
    });
  });

  test('says what is known, and what is not, to its owner, who may list nothing else', async () => {
    const isOwn = ({ resource, namespace }: { resource: string; namespace?: string | undefined }): boolean =>
      resource === 'pods' && namespace === 'team';
    const api = await start({ users: [{ name: 'owner', token: 'owner', allow: isOwn }] });
    api.store.apply(policyOf('Enforce', { terminated: { ttlAfterFinished: '1s' } }));
    api.store.apply(finishedIn('team', 'mine'));
    const at = `--kubeconfig=${api.kubeconfigOf('owner')}`;
    const { code, stdout, stderr } = await dustpan(['plan', at, '-n=team', '--kept']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Only the pods of namespace team may be listed');
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('can-i list gcpolicies.gc.dustpan.dev;');
    expect(stdout).toMatch(/\nWhat would be removed is not known\.\n$/);
    const why = await dustpan(['why', 'pod/mine', at, '-n=team']);
    expect(why).toMatchObject({ code: 0, stderr: '' });
    expect(why.stdout).toMatch(/^Whether it would be deleted is not known\.\n/);
    input.write('policy.json', policyOf('Enforce', { terminated: { ttlAfterFinished: '1s' } }));
    const given = await dustpan(['plan', at, '-n=team', `-f=${input.path('policy.json')}`]);
    expect(given.stdout).toContain('Namespace team cannot be read, so its pods are kept');
  });

  test('works for its owner, who may list policies but no other pods', async () => {
    const owner: SandboxUser = {
      ...{ name: 'owner', token: 'owner' },
      allow: ({ resource, namespace }) =>
        resource === 'gcpolicies' || (['pods', 'namespaces'].includes(resource) && namespace === 'team'),
    };
    const api = await start({ users: [owner] });
    const { store } = api;
    store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
    store.apply(policyOf('Enforce', { terminated: { ttlAfterFinished: '1s' } }));
    store.apply(finishedIn('team', 'mine'));
    const at = `--kubeconfig=${api.kubeconfigOf('owner')}`;
    const plan = await planned([at, '-n', 'team', '--now=2031-01-15T12:00:00Z']);
    expect(plan.decisions).toMatchObject([
      { reason: 'Expired', object: { namespace: 'team', name: 'mine' } },
    ]);
    expect(plan.notes.join('\n')).toContain('Only the pods of namespace team may be listed');
    const why = await dustpan(['why', 'pod/mine', at, '-n', 'team', '--now=2031-01-15T12:00:00Z']);
    expect(why.stdout).toContain('Pod team/mine (node node-1) will be deleted by podgc: Expired');
    const { code, stderr } = await dustpan(['plan', at]);
    expect(code).toBe(1);
    expect(stderr).toContain('kubectl auth can-i list pods -A');
  });
});
