import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CriSandbox } from '../../../sandbox/cri/server.ts';
import { startSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { policy as policyOf, fillCluster as fill } from '../../controller/environment.ts';
import { dustpan, inputOfEachTest } from '../plan/fixture.ts';

/** Without line ends and columns. */
const flat = (table: string): string => table.replaceAll(/\s+/g, ' ');

const input = inputOfEachTest();
let api: Sandbox;
let cri: CriSandbox | undefined;

beforeEach(async () => {
  api = await startSandbox();
  fill(api, 3);
  api.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-2' } });
});
afterEach(async () => {
  cri?.stop();
  cri = undefined;
  await api.stop();
});

const why = (...args: string[]) => dustpan(['why', ...args, `--kubeconfig=${api.kubeconfigFile}`]);

test('a name without a namespace is in the namespace of the context, else in default; the cluster is only read', async () => {
  api.store.apply(policyOf('Enforce', { terminated: {} }));
  expect((await why('pod', 'p0001')).stdout).toMatch(
    /^Pod default\/p0001 \(node node-1\) is kept by podgc: /,
  );
  expect(new Set(api.requests.map(({ method }) => method))).toEqual(new Set(['GET']));
  const kubeconfig = JSON.parse(readFileSync(api.kubeconfigFile, 'utf8')) as {
    contexts: { context: Record<string, string> }[];
  };
  for (const { context } of kubeconfig.contexts) context['namespace'] = 'batch';
  input.write('kubeconfig', kubeconfig);
  api.store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'batch' } });
  const { code, stderr } = await dustpan(['why', 'pod', 'p0001', `--kubeconfig=${input.path('kubeconfig')}`]);
  const message = 'dustpan: there is no pod batch/p0001, or not any more; there is default/p0001';
  expect({ code, stderr }).toEqual({ code: 1, stderr: `${message}; ${noEvent}\n` });
});

const collected = (name: string, note: string) => ({
  ...{ apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name, namespace: 'default' } },
  ...{ eventTime: '2026-01-15T12:00:00.000000Z', reason: 'PodCollected', action: 'Collect', type: 'Normal' },
  ...{ note, reportingController: 'gc.dustpan.dev/controller', reportingInstance: 'c' },
  regarding: { apiVersion: 'batch/v1', kind: 'Job', name: 'report', namespace: 'default', uid: 'u' },
});
const gone = 'dustpan: there is no pod default/report-b, or not any more';
const noEvent = 'no Event of dustpan is about it: the API server keeps Events for an hour by default';

test('explains a deleted pod by its Events', async () => {
  const note = 'Deleted 2 pods (Terminated, policy default): report-a, report-b';
  api.store.apply(collected('e1', note));
  const { code, stdout, stderr } = await why('pod', 'default/report-b', '-o=json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    ...{ kind: 'Explanation', explanations: [], notes: [] },
    object: { kind: 'Pod', namespace: 'default', name: 'report-b' },
    removed: [
      {
        ...{ verdict: 'Delete', reason: 'Terminated', policy: 'default' },
        at: expect.stringMatching(/^2026-01-15T12:00:00/) as string,
        evidence: `Event on Job report: ${note}`,
      },
    ],
  });
  expect((await why('pod', 'default/report-b')).stdout).toMatch(
    /^Pod default\/report-b was deleted: Terminated\n {2}Meaning /,
  );
});

test.each([
  [
    'Deleted 7 pods (Terminated, policy default): report-c and 6 more',
    /^[^\n]*; dustpan deleted pods of Job report at 2026[^\n]*maybe this one too[^\n]*\n$/,
  ],
  [
    'Deleted 1 pod (Terminated, policy default): report-c',
    /^[^\n]*; no Event of dustpan is about it: [^\n]*\n$/,
  ],
])('no Event names a missing pod: %s', async (note, message) => {
  api.store.apply(collected('e1', note));
  const { code, stderr } = await why('pod', 'default/report-b');
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
  expect(stderr).toContain(`${gone}; `);
});

test('says that the Events cannot be read, and which right is missing', async () => {
  api.faults.next(({ path }) => path.endsWith('/events'), { kind: 'status', status: 403 });
  const { code, stderr } = await why('pod', 'default/report-b');
  expect(code).toBe(1);
  expect(stderr).toMatch(
    new RegExp(`^${gone}; dustpan's Events in namespace default cannot be read: .*\\n$`),
  );
});

test('explains an evicted pod by its Event', async () => {
  const note = 'The node is low on disk space for local storage (nodefs.available).';
  const pod = { apiVersion: 'v1', kind: 'Pod', name: 'report-b', namespace: 'default', uid: 'u' };
  api.store.apply({ ...collected('e1', `Evicted pod report-b. ${note}`), reason: 'Evicted' });
  api.store.apply({ ...collected('e2', note), reason: 'Evicted', regarding: pod });
  api.store.apply({ ...collected('e3', note), reason: 'EvictionBlocked', regarding: pod });
  const { code, stdout } = await why('pod', 'default/report-b');
  expect(code).toBe(0);
  expect(flat(stdout)).toMatch(
    /^Pod default\/report-b was evicted When 2026-01-15T12:00:00Z, \S+ ago Evidence Event on Pod report-b: The node is low/,
  );
});

test.each(['gc.dustpan.dev/agent', 'kubelet', 'example.com/gc.dustpan.dev', 'GC.dustpan.dev/controller'])(
  'explains no deleted pod by Events that %s reports',
  async (reportingController) => {
    const notes = ['Deleted 1 pod: report-b', 'Deleted 7 pods: report-c and 6 more'];
    for (const [i, note] of notes.entries())
      api.store.apply({ ...collected(`e${i}`, note), reportingController });
    const { code, stderr } = await why('pod', 'default/report-b');
    expect({ code, stderr }).toEqual({ code: 1, stderr: `${gone}; ${noEvent}\n` });
  },
);

test.each(['image', 'container'])('an %s is known only on its node', async (kind) => {
  const { code, stdout, stderr } = await why(kind, 'abcd');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toBe(
    `dustpan: ${kind}s are known only on their node: run dustpan why ${kind} abcd --node=NODE, which reads it through the pod of its agent\n`,
  );
});

test('explains a removed image by the reports of the nodes', async () => {
  const entry = (name: string, time: string): object => ({
    ...{ id: `sha256:${'a'.repeat(64)}`, name, time, reason: 'Space', policy: 'nodes' },
  });
  for (const [node, time] of [
    ['node-1', '2026-01-15T10:00:00Z'],
    ['node-2', '2026-01-15T11:00:00Z'],
  ] as const)
    api.store.apply({
      ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport', metadata: { name: node } },
      status: { images: { lastRemoved: [entry('docker.io/library/nginx:1.27', time)] } },
    });
  const all = await why('image', 'nginx:1.27');
  expect({ code: all.code, stderr: all.stderr }).toEqual({ code: 0, stderr: '' });
  expect(flat(all.stdout)).toMatch(
    /^Image docker.io\/library\/nginx:1.27 \(aaaaaaaaaaaa\) on node-2 was removed: Space Meaning The disk is too full.* When 2026-01-15T11:00:00Z, .* on node-1 was removed: Space .* ! It may be there again: images are known only on their node: run \S+ why image nginx:1\.27 --node=NODE, /,
  );
  const one = await why('image', 'aaaaaaaaaaaa', '--node=node-1', '-o=yaml');
  expect(load(one.stdout)).toMatchObject({
    object: { kind: 'Image', text: 'aaaaaaaaaaaa', node: 'node-1' },
    removed: [{ verdict: 'Remove', object: { node: 'node-1' }, policy: 'nodes', at: '2026-01-15T10:00:00Z' }],
    notes: [expect.stringMatching(/^It may be there again: node node-1 was not read: /)],
  });
  expect((await why('image', 'nginx:1.26')).stderr).toContain('images are known only on their node');
});

const removedContainer = {
  ...{ kind: 'Container', id: 'c'.repeat(64), name: 'main', time: '2026-01-15T10:00:00Z' },
  ...{ pod: { namespace: 'default', name: 'api', uid: 'u' }, reason: 'PodGone', policy: 'nodes' },
};
const removedDirectory = {
  ...{ ...removedContainer, kind: 'LogDirectory', id: '/var/log/pods/default_api_u', name: undefined },
  ...{ reason: 'OrphanedLogs', bytes: 2048 },
};
const reportRemoved = (): void => {
  api.store.apply({
    ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport', metadata: { name: 'node-1' } },
    status: { containers: { lastRemoved: [removedDirectory, removedContainer] } },
  });
};

test('explains a removed container or log by the reports of the nodes', async () => {
  reportRemoved();
  const container = await why('container', 'cccc');
  expect(container.code).toBe(0);
  expect(flat(container.stdout)).toMatch(
    /^Container main of pod default\/api \(cccccccccccc\) on node-1 was removed: PodGone Meaning .* Policy GCPolicy nodes When 2026-01-15T10:00:00Z, /,
  );
  const log = await why('container', '/var/log/pods/default_api_u/main/0.log', '--node=node-1');
  expect(flat(log.stdout)).toMatch(
    /^Log directory \/var\/log\/pods\/default_api_u on node-1 was removed: OrphanedLogs .* Size 2.0 KiB .* It contained \/var\/log\/pods\/default_api_u\/main\/0\.log\./,
  );
  expect((await why('container', 'cccc', '--node=node-2')).stderr).toMatch(
    /^dustpan: node node-2 was not read: /,
  );
  expect((await why('container', 'dddd')).stderr).toContain('containers are known only on their node');
});

test('explains a removed container that its node does not have any more', async () => {
  cri = await input.startCri();
  reportRemoved();
  expect((await why('container', 'cccc', ...input.nodeFlags)).stdout).toMatch(
    /^Container main of pod default\/api \(cccccccccccc\) on node-1 was removed: PodGone\n[^!]*$/,
  );
  expect((await why('container', 'dddd', ...input.nodeFlags)).stderr).toMatch(
    /^dustpan: there is no container or sandbox dddd on [^;]+, or not any more; no agent has a record of its removal: [^\n]+\n$/,
  );
});

test('says that the reports cannot be read, and which right is missing', async () => {
  api.faults.next(({ path }) => path.endsWith('/nodegcreports'), { kind: 'status', status: 403 });
  const { code, stderr } = await why('container', 'cccc');
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /^dustpan: containers are known only on their node: [^\n]+; the reports of nodes cannot be read: [^\n]+\n$/,
  );
});
