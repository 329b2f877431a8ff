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
  const others = api.requests.filter(({ path }) => !path.includes('/subjectaccessreviews'));
  expect(new Set(others.map(({ method }) => method))).toEqual(new Set(['GET']));
  const kubeconfig = JSON.parse(readFileSync(api.kubeconfigFile, 'utf8')) as {
    contexts: { context: Record<string, string> }[];
  };
  for (const { context } of kubeconfig.contexts) context['namespace'] = 'batch';
  input.write('kubeconfig', kubeconfig);
  api.store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'batch' } });
  const { code, stderr } = await dustpan(['why', 'pod', 'p0001', `--kubeconfig=${input.path('kubeconfig')}`]);
  const message = 'dustpan: there is no pod batch/p0001, or not any more; there is default/p0001';
  expect({ code, stderr }).toEqual({ code: 1, stderr: `${message}. ${noEvent}\n` });
});

const collected = (note: string, pods?: string, more = 0) => ({
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: {
    name: 'e',
    namespace: 'default',
    // Those of an older controller have none.
    ...(pods !== undefined && {
      annotations: {
        'gc.dustpan.dev/reason': 'Terminated',
        'gc.dustpan.dev/policy': 'default',
        'gc.dustpan.dev/pods': pods,
        'gc.dustpan.dev/more-pods': String(more),
      },
    }),
  },
  ...{ eventTime: '2026-01-15T12:00:00.000000Z', reason: 'PodCollected', action: 'Collect', type: 'Normal' },
  ...{ note, reportingController: 'gc.dustpan.dev/controller', reportingInstance: 'c' },
  regarding: { apiVersion: 'batch/v1', kind: 'Job', name: 'report', namespace: 'default', uid: 'u' },
});
const gone = 'dustpan: there is no pod default/report-b, or not any more';
const noEvent =
  "No Event of dustpan is about it: the API server keeps Events for an hour by default, and dustpan writes a limited number of them. The controller's log names each deleted pod";

test('explains a deleted pod by its Events', async () => {
  const note = 'Deleted 2 pods (Terminated, policy default): report-a, report-b';
  api.store.apply(collected(note, 'report-a,report-b'));
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
});

test('gives the time of the deletion that the note names, not of later ones that the series counts', async () => {
  const series = { count: 4, lastObservedTime: '2026-01-15T14:00:00.000000Z' };
  api.store.apply({ ...collected('Deleted 1 pod (Expired, policy default): report-b', 'report-b'), series });
  const { stdout } = await why('pod', 'default/report-b', '-o=json');
  expect(JSON.parse(stdout)).toMatchObject({ removed: [{ at: '2026-01-15T12:00:00Z' }] });
  const { code, stderr } = await why('pod', 'default/report-c');
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /dustpan deleted pods of Job report at 2026-01-15T12:00:00\S* and in later passes until at least 2026-01-15T14:00:00\S*, whose pods the Event does not name, maybe this one too/,
  );
});

test('explains an evicted pod by its Event', async () => {
  const note = 'The node is low on disk space for local storage (nodefs.available).';
  const regarding = { apiVersion: 'v1', kind: 'Pod', name: 'report-b', namespace: 'default', uid: 'u' };
  const metadata = { name: 'of-pod', namespace: 'default' };
  api.store.apply({ ...collected(`Evicted pod report-b. ${note}`), reason: 'Evicted' });
  api.store.apply({ ...collected(note), metadata, reason: 'Evicted', regarding });
  expect(flat((await why('pod', 'default/report-b')).stdout)).toMatch(
    /^Pod default\/report-b was evicted When 2026-01-15T12:00:00Z, \S+ ago Evidence Event on Pod report-b: The node is low/,
  );
});

const others = 'Deleted 7 pods (Terminated, policy default): report-c and 6 more';
test.each([
  {
    name: 'only counts it, perhaps',
    event: collected(others, 'report-c', 6),
    message: /^\. dustpan deleted pods of Job report at 2026[^\n]*maybe this one too/,
  },
  {
    name: 'has no annotations, perhaps',
    event: collected('Deleted 1 pod (Terminated, policy default): report-b'),
    message: /^\. dustpan deleted pods of Job report at 2026[^\n]*maybe this one too/,
  },
  {
    name: 'is about another one',
    event: collected('Deleted 1 pod (Terminated, policy default): report-c', 'report-c'),
    message: /^\. No Event of dustpan is about it: /,
  },
  ...['gc.dustpan.dev/agent', 'example.com/gc.dustpan.dev'].map((controller) => ({
    name: `is of ${controller}`,
    event: { ...collected('Deleted 1 pod: report-b', 'report-b'), reportingController: controller },
    message: /^\. No Event of dustpan is about it: /,
  })),
])('a missing pod is not explained by an Event that $name', async ({ event, message }) => {
  api.store.apply(event);
  const { code, stderr } = await why('pod', 'default/report-b');
  expect({ code, start: stderr.slice(0, gone.length) }).toEqual({ code: 1, start: gone });
  expect(stderr.slice(gone.length)).toMatch(message);
});

test.each([
  ['events', 'pod default/report-b', 'The Events of dustpan in namespace default'],
  ['nodegcreports', 'container cccc', 'The reports of nodes'],
])('says that %s cannot be read, and which right is missing', async (resource, words, what) => {
  api.faults.next(({ path }) => path.endsWith(`/${resource}`), { kind: 'status', status: 403 });
  const { code, stderr } = await why(...words.split(' '));
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^dustpan: [^\\n]+\\. ${what} cannot be read: [^\\n]*\\n$`));
});

const reportOf = (node: string, status: object): void => {
  const kind = { apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport' };
  api.store.apply({ ...kind, metadata: { name: node }, status });
};

test('names the problem that the agent of a node reports, as status does', async () => {
  const condition = {
    type: 'KeepListAtRisk',
    status: 'True',
    reason: 'DiskNearSignal',
    message: 'It is near',
  };
  const lastTransitionTime = '2026-01-15T11:00:00Z';
  reportOf('node-2', { conditions: [{ ...condition, lastTransitionTime }] });
  const { code, stdout } = await why('node', 'node-2');
  expect(code).toBe(0);
  expect(flat(stdout)).toMatch(/ Problem DiskNearSignal: It is near Since 2026-01-15T11:00:00Z, /);
  expect(flat((await dustpan(['status', `--kubeconfig=${api.kubeconfigFile}`])).stdout)).toContain(
    'It is near',
  );
});

test('explains a removed image by the reports of the nodes', async () => {
  const entry = {
    ...{ id: `sha256:${'a'.repeat(64)}`, name: 'docker.io/library/nginx:1.27', time: '2026-01-15T10:00:00Z' },
    ...{ reason: 'Space', policy: 'nodes' },
  };
  reportOf('node-1', { images: { lastRemoved: [entry] } });
  reportOf('node-2', { images: { lastRemoved: [{ ...entry, time: '2026-01-15T11:00:00Z' }] } });
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
  const { stderr } = await why('image', 'nginx:1.26');
  expect(stderr).toBe(
    "dustpan: images are known only on their node: run dustpan why image nginx:1.26 --node=NODE, which reads it through the pod of its agent. 'dustpan top images -o name' lists the largest with their nodes\n",
  );
});

test('explains a removed container or log by the reports of the nodes, also where the node has it no more', async () => {
  const removed = { pod: { namespace: 'default', name: 'api', uid: 'u' }, policy: 'nodes' };
  const time = '2026-01-15T10:00:00Z';
  const directory = {
    ...removed,
    kind: 'LogDirectory',
    id: '/var/log/pods/default_api_u',
    bytes: 2048,
    time,
  };
  const container = { ...removed, kind: 'Container', id: 'c'.repeat(64), name: 'main', time };
  const leftover = {
    kind: 'Leftover',
    id: 'lease left',
    name: 'docker.io/library/nginx',
    policy: 'nodes',
    time,
  };
  const lastRemoved = [
    { ...leftover, reason: 'InterruptedDownload' },
    { ...directory, reason: 'OrphanedLogs' },
    { ...container, reason: 'PodGone' },
  ];
  reportOf('node-1', { containers: { lastRemoved } });
  expect(flat((await why('container', 'cccc')).stdout)).toMatch(
    /^Container main of pod default\/api \(cccccccccccc\) on node-1 was removed: PodGone Meaning .* Policy GCPolicy nodes When 2026-01-15T10:00:00Z, /,
  );
  expect(flat((await why('container', 'lease left')).stdout)).toMatch(
    /^Leftover lease left on node-1 was removed: InterruptedDownload Meaning A pull was interrupted/,
  );
  expect((await why('container', 'lease')).stdout).toBe('');
  const log = await why('container', '/var/log/pods/default_api_u/main/0.log', '--node=node-1');
  expect(flat(log.stdout)).toMatch(
    /^Log directory \/var\/log\/pods\/default_api_u on node-1 was removed: OrphanedLogs .* Size 2.0 KiB .* It contained \/var\/log\/pods\/default_api_u\/main\/0\.log\./,
  );
  expect((await why('container', 'cccc', '--node=node-2')).stderr).toMatch(
    /^dustpan: node node-2 was not read: /,
  );
  cri = await input.startCri();
  expect((await why('container', 'cccc', ...input.nodeFlags)).stdout).toMatch(
    /^Container main of pod default\/api \(cccccccccccc\) on node-1 was removed: PodGone\n[^!]*$/,
  );
  expect((await why('container', 'dddd', ...input.nodeFlags)).stderr).toMatch(
    /^dustpan: there is no container or sandbox dddd on [^;]+, or not any more\. No agent has a record of its removal: [^\n]+\n$/,
  );
});
