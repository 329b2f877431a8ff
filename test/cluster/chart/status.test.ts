// @bed node
import { beforeAll, expect, test } from 'vitest';
import { dustpanImage } from '../../../scripts/image/dustpan-image.ts';
import type { StatusView } from '../../../src/commands/status/view.ts';
import { repositoryRoot } from '../repository.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { resultOfDustpan } from '../servers/command.ts';
import { apply, helm, kubectl } from '../servers/kubectl.ts';
import { waitUntil } from '../servers/waiting.ts';
import { chartDirectory } from './chart.ts';

/** What keeps an installation from working, one after the other, on a node of a real cluster. */
const namespace = 'dustpan-system';
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({
    parts: ['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet'],
    pinnedImages: [dustpanImage({ root: repositoryRoot() })],
    users: [{ name: 'nobody' }],
  });
  await install();
});

const see = (...args: readonly string[]): Promise<string> => kubectl(cluster, ['-n', namespace, ...args]);

const install = (): Promise<string> =>
  helm(cluster, 'install', 'dustpan', chartDirectory, '-n', namespace, '--create-namespace', '--wait');
const upgrade = (...args: readonly string[]): Promise<string> =>
  helm(cluster, 'upgrade', 'dustpan', chartDirectory, '-n', namespace, '--reset-values', ...args);

async function status(user = 'admin'): Promise<StatusView> {
  const options = ['-o', 'json', '--installation', '--exit-code', `--kubeconfig=${cluster.kubeconfig(user)}`];
  const { stdout, stderr, code } = await resultOfDustpan('status', ...options);
  if (stdout === '') throw new Error(stderr);
  const view = JSON.parse(stdout) as StatusView;
  expect(code).toBe(view.trouble.length > 0 || view.verdict === 'Unknown' ? 3 : 0);
  return view;
}

const reasons = async (): Promise<readonly string[]> => (await status()).trouble.map(({ reason }) => reason);

/** A pod may have another problem before: while its image is looked for, or its old pod ends. */
const named = async (reason: string): Promise<void> => {
  await waitUntil(`status names ${reason}`, async () => (await reasons()).includes(reason));
};

const works = async (): Promise<void> => {
  await waitUntil('dustpan works', async () => {
    const { verdict, trouble } = await status();
    return verdict === 'Works' && trouble.length === 0;
  });
};

const deleteAgent = (): Promise<string> =>
  see('delete', 'pod', '-l', 'app.kubernetes.io/component=agent', '--wait=false');

test('nothing is wrong', async () => {
  await works();
  const { controllers, agents, unread } = await status();
  expect(controllers).toMatchObject([{ name: 'dustpan-controller', desired: 1, ready: 1 }]);
  expect(controllers?.[0]?.leader).toMatch(/^dustpan-controller-/);
  expect(agents).toMatchObject([{ name: 'dustpan-agent', desired: 1, ready: 1 }]);
  expect(unread).toEqual([]);
});

const scale = (replicas: number): Promise<string> =>
  see('scale', 'deployment', 'dustpan-controller', `--replicas=${replicas}`);

/** The first rule of the role is about pods. */
const noPods = { op: 'replace', path: '/rules/0/verbs', value: ['get', 'delete'] };

/** `mend`: not given, an upgrade without values mends it. */
test.each<{ name: string; reason: string; harm: () => Promise<unknown>; mend?: () => Promise<unknown> }>([
  {
    name: 'the controller is scaled to 0',
    reason: 'ScaledToZero',
    harm: () => scale(0),
    mend: () => scale(1),
  },
  {
    name: 'the controller has no rights',
    reason: 'MissingRights',
    harm: async () => {
      await see('delete', 'rolebinding,clusterrolebinding', '-l', 'app.kubernetes.io/component=controller');
      await see('delete', 'pod', '-l', 'app.kubernetes.io/component=controller', '--wait=false');
    },
  },
  {
    name: 'a right was taken away while the controller runs',
    reason: 'MissingRights',
    harm: () =>
      see(
        'patch',
        'clusterrole',
        `${namespace}-controller`,
        '--type=json',
        '--patch',
        JSON.stringify([noPods]),
      ),
    mend: async () => {
      const missing = (await status()).trouble.find((one) => one.reason === 'MissingRights');
      const [program, ...args] = (missing?.command ?? '')
        .replace(/ #.*/, '')
        .replace('helm/dustpan', chartDirectory)
        .split(' ');
      expect(program).toBe('helm');
      await helm(cluster, ...args);
    },
  },
  {
    name: 'a quota refuses the agent',
    reason: 'Quota',
    harm: async () => {
      const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none', namespace } };
      await apply(cluster, { ...quota, spec: { hard: { pods: '0' } } });
      await deleteAgent();
    },
    mend: () => see('delete', 'resourcequota', 'none'),
  },
  {
    name: 'Pod Security refuses the agent',
    reason: 'PodSecurity',
    harm: async () => {
      await see('label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=baseline');
      await deleteAgent();
    },
    mend: () => see('label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce-'),
  },
  {
    name: 'a path of the node is missing',
    reason: 'Path',
    harm: () => upgrade('--set=agent.criSocket=/run/none/none.sock'),
  },
  {
    name: 'the image cannot be pulled',
    reason: 'Image',
    harm: () => upgrade('--set=image.registry=127.0.0.1:1'),
  },
  {
    name: 'an admission policy is gone',
    reason: 'AdmissionPolicyMissing',
    harm: () => see('delete', 'validatingadmissionpolicybinding', '-l', 'app.kubernetes.io/part-of=dustpan'),
  },
  {
    name: 'a CRD is gone',
    reason: 'KindMissing',
    harm: () => see('delete', 'crd', 'nodegcreports.gc.dustpan.dev'),
  },
])('$name: $reason', async ({ reason, harm, mend = upgrade }) => {
  await harm();
  await named(reason);
  await mend();
  await works();
});

test('a taint excludes the node', async () => {
  await see('taint', 'node', 'node-a', 'pool=gpu:NoSchedule');
  await upgrade('--set-json=agent.tolerations=[]');
  await deleteAgent();
  await waitUntil('status names the node', async () => (await status()).withoutAgent.length > 0);
  const why = 'agent.tolerations has none for the taint pool';
  expect((await status()).withoutAgent).toEqual([{ names: ['node-a'], why }]);
  await see('taint', 'node', 'node-a', 'pool-');
  await upgrade();
  await works();
});

test('a person without rights reads what they may', async () => {
  const { verdict, trouble, unread, controllers } = await status('nobody');
  expect({ verdict, trouble, controllers }).toEqual({ verdict: 'Unknown', trouble: [], controllers: null });
  expect(unread).toEqual(expect.arrayContaining(['nodes', 'deployments of all namespaces']));
});

test('it is uninstalled, and a new installation leads within 5 s', async () => {
  await helm(cluster, 'uninstall', 'dustpan', '-n', namespace);
  await named('NotInstalled');
  expect((await status()).verdict).toBe('NotInstalled');
  await install();
  await works();
});
