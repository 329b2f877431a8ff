import type { Cluster } from '../servers/cluster.ts';
import { busyboxImage } from '../node/image.ts';
import { write, type Overrun } from '../local-storage/pods.ts';
import type { Grant } from './rbac-usage.ts';
import type { Rule } from '../servers/resources.ts';
import { policyManifest } from '../../manifests.ts';
import { apply, kubectl, listed } from '../servers/kubectl.ts';

/** The namespace of the release. */
export const namespace = 'dustpan-system';

/** The user name of a component of the release. */
export const account = (component: string): string =>
  `system:serviceaccount:${namespace}:dustpan-${component}`;

/** Longer than an uninstall on a busy machine, and within the grace period of a pod. */
export const renewMs = 25_000;

/** Short periods, because a test has no minutes, and the duration of the Lease. */
export const releaseValues = {
  'controller.podGCPeriod': '2s',
  'controller.extraArgs': [
    '--leader-elect-lease-duration=28s',
    `--leader-elect-renew-deadline=${renewMs / 1_000}s`,
  ],
  'agent.imageGCPeriod': '2s',
  'agent.containerGCPeriod': '2s',
  'agent.localStorage.period': '2s',
};

/** The rules of the examples, with times of seconds. */
export const quickPolicy = (storage: object, imageGC: object = {}): object =>
  policyManifest('quick', {
    ...{ mode: 'Enforce', priority: 100 },
    pods: {
      excludeNamespaces: ['kube-*', namespace],
      terminated: { ttlAfterFinished: '1s', keepPerOwner: 1 },
      orphaned: { quarantine: '10s' },
      safety: { maxOrphanedNodesPercent: 100, holdAbove: 0 },
    },
    nodes: {
      imageGC: {
        minimumAge: '1s',
        maximumAge: '3s',
        holdAbove: 0,
        keep: ['bed.test/kept:*', busyboxImage.ref],
        ...imageGC,
      },
      containerGC: { logs: {} },
      localStorageEviction: storage,
      nodePressure: {},
    },
  });

/** Values of a policy that is part of the release. */
export const policyOfRelease = (ttlAfterFinished: string): object =>
  policyManifest('of-release', { priority: 1, pods: { terminated: { ttlAfterFinished } } });

const container = (script: string): object => ({
  ...{ name: 'main', image: busyboxImage.ref, command: ['sh', '-c', script] },
});

const wait = 'trap "exit 0" TERM; while :; do sleep 1; done';

/** Something that serves, and something that ended. */
export const workloads: readonly object[] = [
  {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace: 'default' } },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container(wait)] } },
    },
  },
  {
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'done', namespace: 'default' } },
    spec: { restartPolicy: 'Never', containers: [container('echo done')] },
  },
];

/** Whose pods end one after the other, so that not all are collected in one pass. */
export const batch: object = {
  ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'batch', namespace: 'default' } },
  spec: {
    completions: 5,
    template: { spec: { restartPolicy: 'Never', containers: [container('sleep 2')] } },
  },
};

export const twoOfThreeMissing =
  /Warning +Tripped .* Nodes missing, now or lost within an hour: 2, 67 % of all/;

const lostNames = ['lost-1', 'lost-2'];
const lost: readonly object[] = lostNames.map((name) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' } },
  spec: { nodeName: `gone-${name}`, containers: [container(wait)] },
}));

/** First the pods of two nodes that are gone, as if these nodes had run them: a name that no Node ever had opens no breaker, nor does one missing node. */
export async function applyAfterLost(cluster: Cluster, ...items: readonly object[]): Promise<void> {
  await apply(cluster, ...lost);
  const started = JSON.stringify({ status: { startTime: '2026-01-01T00:00:00Z' } });
  for (const name of lostNames)
    await kubectl(cluster, ['patch', 'pod', name, '--subresource=status', '--type=merge', '-p', started]);
  await apply(cluster, ...items);
}

/** Over half of its limit, and over the whole limit on request. */
export const greedy: Overrun = {
  emptyDirs: { cache: '20Mi', go: '' },
  main: {
    script: `${write('/cache/x', 12)}; while [ ! -e /go/on ]; do sleep 0.2; done; ${write('/cache/y', 7)}`,
  },
};

interface Role {
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[] | null;
}

/** The roles of one component, and those that every user has. */
export async function grantsOf(
  cluster: Cluster,
  component: 'controller' | 'agent',
): Promise<readonly Grant[]> {
  const label = `app.kubernetes.io/instance=dustpan,app.kubernetes.io/component=${component}`;
  const own = await listed<Role>(cluster, 'roles,clusterroles', '--all-namespaces', `--selector=${label}`);
  const everybodys = await listed<Role>(cluster, 'clusterroles', 'system:discovery', 'system:basic-user');
  return [
    ...own.flatMap(({ metadata, rules }) =>
      (rules ?? []).map((rule) => ({ rule, namespace: metadata.namespace })),
    ),
    ...everybodys.flatMap(({ rules }) => (rules ?? []).map((rule) => ({ rule, isEverybodys: true }))),
  ];
}

/** The UIDs of dustpan's pods by name: equal before and after means that none was replaced. */
export async function dustpanPods(cluster: Cluster): Promise<Readonly<Record<string, string>>> {
  const each = '{range .items[*]}{.metadata.name} {.metadata.uid}{"\\n"}{end}';
  const of = ['get', 'pods', '--namespace', namespace, '--selector=app.kubernetes.io/component'];
  const lines = (await kubectl(cluster, [...of, `-o=jsonpath=${each}`])).trim().split('\n');
  return Object.fromEntries(
    lines.map((line): [string, string] => {
      const [name = '', uid = ''] = line.split(' ');
      return [name, uid];
    }),
  );
}

/** One series of the component's pod; 0 when it does not exist. */
export async function scraped(
  cluster: Cluster,
  component: 'controller' | 'agent',
  series: string,
): Promise<number> {
  const of = ['get', 'pods', '--namespace', namespace, `--selector=app.kubernetes.io/component=${component}`];
  const address = await kubectl(cluster, [...of, '-o=jsonpath={.items[0].status.podIP}']);
  const metrics = await (await fetch(`http://${address}:8080/metrics`)).text();
  const line = metrics.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length + 1) ?? 0);
}

/** Names of the remaining objects: those with the release's label, and those in its namespace except the default ones. */
export async function leftBehind(cluster: Cluster): Promise<readonly string[]> {
  const kindsOf = async (namespaced: boolean): Promise<string> => {
    const kinds = ['api-resources', '--verbs=list', `--namespaced=${namespaced}`, '-o', 'name'];
    const names = (await kubectl(cluster, kinds)).trim().split('\n');
    return names.filter((name) => !name.startsWith('events') && !name.startsWith('componentstatuses')).join();
  };
  const label = '--selector=app.kubernetes.io/instance=dustpan';
  const found = [
    await kubectl(cluster, ['get', await kindsOf(false), label, '-o', 'name']),
    await kubectl(cluster, ['get', await kindsOf(true), '--all-namespaces', label, '-o', 'name']),
    await kubectl(cluster, ['get', await kindsOf(true), '--namespace', namespace, '-o', 'name']),
  ];
  const everyNamespaceHas = ['configmap/kube-root-ca.crt', 'serviceaccount/default'];
  const names = found.flatMap((text) => text.trim().split('\n')).filter((name) => name !== '');
  return [...new Set(names)].filter((name) => !everyNamespaceHas.includes(name)).sort();
}

/** Names of the objects that this user has deleted. */
export async function deletedBy(cluster: Cluster, user: string): Promise<readonly string[]> {
  const requests = await cluster.audit({ user, verb: 'delete' });
  const deleted = requests.filter(({ responseStatus }) => responseStatus?.code === 200);
  return deleted.map(({ objectRef }) => `${objectRef?.resource}/${objectRef?.name}`).toSorted();
}

/** The lines of a table, each without the spaces that align it. */
export const rows = (table: string): readonly string[] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.trim().replaceAll(/ {2,}/g, ' | '));
