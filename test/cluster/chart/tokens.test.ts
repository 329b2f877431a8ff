import { beforeAll, describe, expect, test } from 'vitest';
import {
  createCoreEvent,
  createEvent,
  createReport,
  evict,
  gc,
  namespace,
  podOn,
  pods,
  policy,
  recur,
  report,
  send,
  writeReport,
  type Attempt,
  type Response,
} from './attempts.ts';
import { chartDirectory } from './chart.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { kubectl, create } from '../servers/kubectl.ts';
import { ourKindsListed } from '../servers/resources.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';

/** Attempts with a stolen token of a release; the same request succeeds with an administrator's token. */
const longName = `long-${'n'.repeat(195)}`;
/** The agent's token of a pod on each node, by the node's name; `''` is bound to no pod. */
const agentTokens = new Map<string, string>();
let controllerToken: string;
let cluster: Cluster;

const asAgent = (attempt: Attempt, node = 'node-a'): Promise<Response> =>
  send(cluster, agentTokens.get(node) ?? '', attempt);
const asAdmin = (attempt: Attempt): Promise<Response> => send(cluster, cluster.token('admin'), attempt);

const isDone = expect.toBeOneOf([200, 201, 202]) as number;
const done = { status: isDone, message: expect.any(String) as string };
const refused = (message: string): Response => ({
  status: 403,
  message: expect.stringContaining(message) as string,
});

async function expectRefused(token: string, attempt: Attempt, message: string): Promise<void> {
  expect(await asAdmin(attempt)).toEqual(done);
  expect(await send(cluster, token, attempt)).toEqual(refused(message));
}

beforeAll(async () => {
  cluster = await startCluster({ parts: ['etcd', 'api'] });
  const install = ['install', 'dustpan', chartDirectory, '--namespace', namespace, '--create-namespace'];
  expect(await cluster.run('helm', install)).toMatchObject({ code: 0, stderr: '' });
  await ourKindsListed(cluster);
  const events = [
    createEvent('of-a-kubelet', { reportingController: 'kubelet', reportingInstance: 'node-b' }),
    createEvent('of-the-agent'),
  ];
  await create(
    cluster,
    ...['node-a', 'node-b', longName].map((name) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })),
    ...[podOn('node-a'), podOn(longName), podOn('node-b', 'web')],
    ...[report('node-b'), policy('default')],
    ...events.flatMap(({ body }) => body ?? []),
  );
  const tokenOf = async (account: string, ...bound: readonly string[]): Promise<string> =>
    (await kubectl(cluster, ['create', 'token', account, '--namespace', namespace, ...bound])).trim();
  for (const node of ['node-a', longName]) {
    const pod = `--bound-object-name=${`agent-${node}`.slice(0, 63)}`;
    agentTokens.set(node, await tokenOf('dustpan-agent', '--bound-object-kind=Pod', pod));
  }
  agentTokens.set('', await tokenOf('dustpan-agent'));
  controllerToken = await tokenOf('dustpan-controller');
  // New rights and admission policies take effect after a moment.
  const foreign = createEvent('foreign', { reportingInstance: 'node-b' });
  await followed('the rights', createReport('node-a'), 201);
  await followed('the admission policy of reports', createReport('node-c'), 403);
  await followed('the admission policy of Events', foreign, 403);
});

async function followed(what: string, attempt: Attempt, status: number): Promise<void> {
  await waitUntil(`the API server follows ${what}`, async () => (await asAgent(attempt)).status === status);
}

const stored = (attempt: Attempt): Promise<Response> => asAgent({ ...attempt, keep: true });

describe("with the token of an agent's pod on a node", () => {
  test('creates and writes the report of its own node', async () => {
    expect(await stored(createReport('node-a'))).toEqual(done);
    expect(await stored(writeReport('node-a'))).toEqual(done);
  });

  test('creates Events in its own name about its Node and about pods, and continues their series', async () => {
    expect(await stored(createEvent('about-its-node'))).toEqual(done);
    expect(await stored(recur('about-its-node'))).toEqual(done);
    const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'web', uid: 'uid-web' };
    expect(await stored(createEvent('about-a-pod', { regarding }))).toEqual(done);
  });

  test('an Event must name as much of a long node name as fits', async () => {
    const regarding = { apiVersion: 'v1', kind: 'Node', name: longName, uid: 'uid-long' };
    const event = createEvent('long', { regarding, reportingInstance: longName.slice(0, 128) });
    expect(await asAgent(event, longName)).toEqual(done);
    const shorter = createEvent('long', { regarding, reportingInstance: longName.slice(0, 127) });
    expect(await asAgent(shorter, longName)).toMatchObject({ status: 403 });
  });

  const ownReport = 'the agent on node node-a may write only the report of its own node';
  test.each([createReport('node-c'), writeReport('node-b')])(
    'refused by the admission policy: $name',
    async (attempt) => {
      await expectRefused(agentTokens.get('node-a') ?? '', attempt, ownReport);
    },
  );

  const ownName = 'may write Events only as gc.dustpan.dev/agent of its own node';
  const ownSubject = 'may write Events only about pods and its own node';
  const node = { apiVersion: 'v1', kind: 'Node' };
  test.each([
    { attempt: createEvent('as-another-node', { reportingInstance: 'node-b' }), message: ownName },
    { attempt: createEvent('as-part-of-its-name', { reportingInstance: 'node-' }), message: ownName },
    { attempt: createEvent('as-the-kubelet', { reportingController: 'kubelet' }), message: ownName },
    {
      attempt: createEvent('as-the-controller', { reportingController: 'gc.dustpan.dev/controller' }),
      message: ownName,
    },
    { attempt: recur('of-a-kubelet'), message: ownName },
    {
      attempt: createEvent('about-another-node', { regarding: { ...node, name: 'node-b', uid: 'uid-b' } }),
      message: ownSubject,
    },
    {
      attempt: createEvent('about-a-policy', {
        regarding: { apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'GCPolicy', name: 'default', uid: 'uid' },
      }),
      message: ownSubject,
    },
  ])('refused by the admission policy: an Event, $attempt.name', async ({ attempt, message }) => {
    await expectRefused(agentTokens.get('node-a') ?? '', attempt, message);
  });

  test('continues the series of an Event in its own name', async () => {
    expect(await asAgent(recur('of-the-agent'))).toEqual(done);
  });

  describe('with a right to write core Events, which the chart never grants', () => {
    beforeAll(async () => {
      const role = ['create', 'clusterrole', 'core-events', '--verb=create,patch', '--resource=events'];
      await kubectl(cluster, role);
      const subject = `--serviceaccount=${namespace}:dustpan-agent`;
      const binding = ['create', 'clusterrolebinding', 'core-events', '--clusterrole=core-events', subject];
      await kubectl(cluster, binding);
    });

    test('creates an Event in its own name', async () => {
      // A new right takes effect after a moment.
      await expect.poll(() => asAgent(createCoreEvent('core')), eventually).toEqual(done);
    });

    test.each([
      createCoreEvent('as-another-node', { reportingInstance: 'node-b' }),
      createCoreEvent('as-nobody', { reportingComponent: '', reportingInstance: '' }),
      createCoreEvent('with-the-kubelet-as-its-source', { source: { component: 'kubelet' } }),
      createCoreEvent('with-another-node-as-its-source', { source: { host: 'node-b' } }),
      {
        name: 'that takes over a kubelet’s',
        method: 'PATCH',
        path: '/api/v1/namespaces/default/events/of-a-kubelet',
        body: { reportingComponent: 'gc.dustpan.dev/agent', reportingInstance: 'node-a' },
      },
    ] as const)('refused by the admission policy: an Event, $name', async (attempt) => {
      await expectRefused(agentTokens.get('node-a') ?? '', attempt, ownName);
    });
  });
});

test.each([createReport('node-c'), writeReport('node-b'), createEvent('loose'), recur('of-the-agent')])(
  "refused with a token of the agent's account that is bound to no pod: $name",
  async (attempt) => {
    expect(await asAgent(attempt, '')).toEqual(refused("the agent's token is not that of a pod on a node"));
  },
);

describe("with the controller's token", () => {
  test.each<Attempt>([
    { name: 'delete a pod', method: 'DELETE', path: `${pods}/web` },
    evict('web'),
    createEvent('as-the-controller', { reportingController: 'gc.dustpan.dev/controller' }),
    {
      name: 'write the status of a policy',
      method: 'PATCH',
      path: `${gc}/gcpolicies/default/status`,
      body: { status: { observedGeneration: 1 } },
    },
  ])('allowed: $name', async (attempt) => {
    expect(await send(cluster, controllerToken, attempt)).toEqual(done);
  });
});
