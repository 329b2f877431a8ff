import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { NodeGCReportStatus, NodeGCReportStatusUnit } from '../../../src/api/gen/nodegcreport.gen.ts';
import { agentUser } from './agent.ts';
import { dustpanUser } from '../controller/dustpan.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { startCluster, type Cluster, type ClusterOptions } from '../servers/cluster.ts';
import { criResponse, crictl, runContainer, runSandbox } from '../node/crictl.ts';
import { kubectl, create, apply, eventsOn, listed } from '../servers/kubectl.ts';
import { waitUntil } from '../servers/waiting.ts';
import { policyManifest, unheldNodes } from '../../manifests.ts';

/** Kubelet configuration: removes no image and evicts no pod. */
export const idleKubelet = {
  imageGCHighThresholdPercent: 100,
  imageGCLowThresholdPercent: 99,
  evictionHard: {},
};

/** Kubelet flags: keep all dead containers. */
export const keepingContainers: readonly string[] = [
  '--maximum-dead-containers-per-container=100',
  '--minimum-container-ttl-duration=24h',
];

/** Kubelet configuration: measures volumes every two seconds. */
export const measuring = { volumeStatsAggPeriod: '2s' };

/** Kubelet configuration: starts a failing container again after a second. */
export const quickRestarts = { crashLoopBackOff: { maxContainerRestartPeriod: '1s' } };

const manifests = '/var/lib/kubelet/manifests';

/** Kubelet configuration: runs static pods. */
export const withStaticPods = { staticPodPath: manifests };

/** Writes the manifest of a static pod. */
export function writeStaticPod(name: string, manifest: object): void {
  mkdirSync(manifests, { recursive: true });
  writeFileSync(join(manifests, `${name}.json`), JSON.stringify(manifest));
}

interface QuietNodeOptions extends Omit<Partial<ClusterOptions>, 'kubelet' | 'crds'> {
  readonly kubelet?: 'kubelet' | 'kubelet-quick';
  /** Fields of KubeletConfiguration. */
  readonly config?: object;
}

/** A whole node whose kubelet collects nothing by itself, with dustpan's CRDs and the users of its components; `parts` are further ones. */
export async function startQuietNode(options: QuietNodeOptions = {}): Promise<Cluster> {
  const { kubelet: program = 'kubelet', config, parts = [], users = [], ...rest } = options;
  return await startCluster({
    ...rest,
    parts: ['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet', ...parts],
    crds: true,
    users: [agentUser, dustpanUser, ...users],
    kubelet: { program, config: { ...idleKubelet, ...config }, args: keepingContainers },
  });
}

/** A node without a kubelet: its pods are those of the API, its containers those that a test makes. */
export async function startNodeWithoutKubelet(): Promise<Cluster> {
  const parts = ['etcd', 'api', 'ctd'] as const;
  const cluster = await startCluster({ parts, crds: true, users: [agentUser] });
  await create(cluster, { apiVersion: 'v1', kind: 'Node', metadata: { name: cluster.node.name } });
  return cluster;
}

/** Applies the one policy of these tests, as a person would. */
export async function applyPolicy(
  cluster: Cluster,
  mode: 'DryRun' | 'Enforce',
  nodes: object,
): Promise<void> {
  await apply(cluster, policyManifest('default', { mode, nodes: unheldNodes(nodes) }));
}

interface PodSpec {
  readonly image: string;
  /** A shell script. */
  readonly script: string;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly volumes?: readonly object[];
  readonly volumeMounts?: readonly object[];
  readonly initContainers?: readonly object[];
  readonly env?: readonly object[];
  readonly nodeName?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The manifest of a pod with one container, `main`. */
export function podManifest(name: string, pod: PodSpec): object {
  const { image, script, volumeMounts, env, labels, annotations, restartPolicy = 'Always', ...spec } = pod;
  const main = { name: 'main', image, command: ['sh', '-c', script], volumeMounts, env };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels, annotations },
    spec: { ...spec, restartPolicy, terminationGracePeriodSeconds: 1, containers: [main] },
  };
}

/** An emptyDir at /data. */
export const dataVolume = {
  volumes: [{ name: 'data', emptyDir: {} }],
  volumeMounts: [{ name: 'data', mountPath: '/data' }],
};

/** An image as a volume at /image. */
export const imageVolume = (reference: string): Pick<PodSpec, 'volumes' | 'volumeMounts'> => ({
  volumes: [{ name: 'image', image: { reference, pullPolicy: 'IfNotPresent' } }],
  volumeMounts: [{ name: 'image', mountPath: '/image' }],
});

/** Creates pods by name. */
export async function createPods(cluster: Cluster, pods: Readonly<Record<string, PodSpec>>): Promise<void> {
  await create(cluster, ...Object.entries(pods).map(([name, spec]) => podManifest(name, spec)));
}

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase: string;
    readonly containerStatuses?: readonly {
      readonly containerID?: string;
      readonly restartCount: number;
      readonly state: Readonly<Record<string, unknown>>;
    }[];
  };
}

async function listPods(cluster: Cluster): Promise<readonly Pod[]> {
  return await listed<Pod>(cluster, 'pods', '-n', 'default');
}

/** `phase` by name. */
export async function phases(cluster: Cluster): Promise<Readonly<Record<string, string>>> {
  const pods = await listPods(cluster);
  return Object.fromEntries(pods.map(({ metadata, status }) => [metadata.name, status.phase]));
}

/** Waits until these are the pods of the default namespace, in these phases. */
export async function untilPhases(cluster: Cluster, wanted: Readonly<Record<string, string>>): Promise<void> {
  const what = `pods are ${JSON.stringify(wanted)}`;
  await waitUntil(what, async () => isDeepStrictEqual(await phases(cluster), wanted));
}

export async function uidOf(cluster: Cluster, name: string): Promise<string> {
  return await kubectl(cluster, ['get', 'pod', name, '-o', 'jsonpath={.metadata.uid}']);
}

/** The containers of each running pod with their restarts: equal before and after means that they kept running. */
export async function runningPods(cluster: Cluster): Promise<Readonly<Record<string, readonly string[]>>> {
  const pods = (await listPods(cluster)).filter(({ status }) => status.phase === 'Running');
  return Object.fromEntries(
    pods.map(({ metadata, status }) => [
      metadata.name,
      (status.containerStatuses ?? []).map(({ containerID, restartCount, state }) =>
        [containerID, restartCount, ...Object.keys(state)].join(' '),
      ),
    ]),
  );
}

/** `2 true`: how often the one container of a pod was started again, and whether it is ready, as the API server knows. */
export async function restartsOf(cluster: Cluster, pod: string): Promise<string> {
  const status = '.status.containerStatuses[0]';
  const path = `jsonpath={${status}.restartCount} {${status}.ready}`;
  return await kubectl(cluster, ['get', 'pod', pod, '-o', path]);
}

/** The listed images by their first tag. */
export async function imageTags(cluster: Cluster): Promise<readonly string[]> {
  const { images } = await criResponse<{ images: { id: string; repoTags: string[] }[] }>(cluster, 'images');
  return images.map(({ id, repoTags }) => repoTags[0] ?? id).sort();
}

interface Listed {
  readonly id: string;
  readonly state: string;
  /** `pod/container/attempt`, or `pod/attempt` of a sandbox. */
  readonly name: string;
  readonly podUid: string;
}

interface CriObject {
  readonly id: string;
  readonly state: string;
  readonly metadata: { readonly name: string; readonly attempt?: number };
  readonly labels?: Readonly<Record<string, string>>;
}

const named = ({ id, state, metadata, labels = {} }: CriObject): Listed => {
  const pod = labels['io.kubernetes.pod.name'];
  const parts = [pod === metadata.name ? [] : (pod ?? '-'), metadata.name, metadata.attempt ?? 0].flat();
  return { id, state, name: parts.join('/'), podUid: labels['io.kubernetes.pod.uid'] ?? '' };
};

/** Every container of the runtime, dead ones too, by name. */
export async function listContainers(cluster: Cluster): Promise<readonly Listed[]> {
  const { containers } = await criResponse<{ containers: CriObject[] }>(cluster, 'ps', '-a');
  return containers.map(named).sort(byName);
}

export async function listSandboxes(cluster: Cluster): Promise<readonly Listed[]> {
  const { items } = await criResponse<{ items: CriObject[] }>(cluster, 'pods');
  return items.map(named).sort(byName);
}

const byName = (a: Listed, b: Listed): number => (a.name < b.name ? -1 : 1);

/** Leaves the remains of an unknown pod `phantom`: a dead container, a stopped sandbox, and logs. */
export async function leavePhantom(cluster: Cluster, image: string): Promise<void> {
  const labels = { 'io.kubernetes.pod.uid': 'uid-phantom' };
  const sandbox = await runSandbox(cluster, { name: 'phantom' });
  const command = ['sh', '-c', 'echo phantom'];
  await runContainer(cluster, sandbox, { name: 'main', image, command, labels });
  await crictl(cluster, 'stopp', sandbox.id);
}

/** The status of the node's report. */
export async function readReport(cluster: Cluster): Promise<NodeGCReportStatus | undefined> {
  const get = ['get', 'nodegcreports', cluster.node.name, '--ignore-not-found', '-o', 'json'];
  const text = await kubectl(cluster, get);
  return text === '' ? undefined : (JSON.parse(text) as { status?: NodeGCReportStatus }).status;
}

export async function reportUnit(
  cluster: Cluster,
  name: string,
): Promise<NodeGCReportStatusUnit | undefined> {
  return (await readReport(cluster))?.units?.find((unit) => unit.name === name);
}

/** `True RuntimeUnavailable`, of the report. */
export async function condition(cluster: Cluster, type: string): Promise<string | undefined> {
  const found = (await readReport(cluster))?.conditions?.find((one) => one.type === type);
  return found && `${found.status} ${found.reason}`;
}

/** The agent's Events on the Node. */
export const agentEvents = async (cluster: Cluster): ReturnType<typeof eventsOn> =>
  (await eventsOn(cluster, 'Node')).filter(({ reportingController: by }) => by === 'gc.dustpan.dev/agent');

/** How many objects a unit in mode DryRun would remove for this reason. */
export const dueInDryRun = (agent: DustpanProcess, unit: string, reason: string): Promise<number> =>
  metric(agent, `dustpan_due_objects{unit="${unit}",reason="${reason}",mode="DryRun"}`);

/** One series, 0 when it is not there. */
export async function metric(agent: DustpanProcess, series: string): Promise<number> {
  return (await agent.sample(series)) ?? 0;
}
