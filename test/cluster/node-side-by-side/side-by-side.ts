import { setTimeout as sleep } from 'node:timers/promises';
import { startAgent, agentUser } from '../agent/agent.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { startCluster, type Cluster, type ClusterOptions } from '../servers/cluster.ts';
import { policyManifest } from '../../manifests.ts';

/** The node under its own kubelet's collector, or under dustpan's; the test has one after the other. */
export type Collector = 'kubelet' | 'dustpan';

/** A node with API server and runtime, and a kubelet whose own image collector is off unless the options say otherwise. */
export async function startNode(
  options: Pick<ClusterOptions, 'kubelet' | 'ctd' | 'images'>,
): Promise<Cluster> {
  return await startCluster({
    parts: ['etcd', 'api', 'ctd', 'kubelet'],
    crds: true,
    users: [agentUser],
    ...options,
    kubelet: { ...options.kubelet, config: { ...idleKubelet, ...options.kubelet?.config } },
  });
}

/** Collects no images, evicts nothing, and starts a failing container again at once. */
const idleKubelet = {
  imageGCHighThresholdPercent: 100,
  imageGCLowThresholdPercent: 99,
  evictionHard: {},
  crashLoopBackOff: { maxContainerRestartPeriod: '1s' },
};

const agentPeriodMs = 1_000;

/** The agent with the shortest periods that it takes, under a policy that says `nodes`. */
export async function startCollecting(cluster: Cluster, nodes: object): Promise<DustpanProcess> {
  await applyNodesPolicy(cluster, nodes);
  const periods = ['image', 'container'].map((unit) => `--${unit}-gc-period=${agentPeriodMs}ms`);
  const agent = await startAgent(cluster, { args: [...periods, '--v=5'] });
  await agent.ready();
  return agent;
}

/** Writes the one policy there is. */
export async function applyNodesPolicy(cluster: Cluster, nodes: object): Promise<void> {
  const policy = policyManifest('as-the-kubelet', { mode: 'Enforce', nodes });
  await kubectl(cluster, ['apply', '-f', '-'], JSON.stringify(policy));
}

/** Waits until a whole pass of a loop of the agent has begun and ended after this call. */
export async function passed(
  agent: DustpanProcess,
  loop: 'imagegc' | 'containergc',
  passes = 1,
): Promise<void> {
  const count = async (): Promise<number> => {
    const metrics = await agent.metrics();
    return metrics.get(`dustpan_loop_passes_total{loop="${loop}",result="success"}`) ?? 0;
  };
  const before = await count();
  // One may be on its way.
  await until(`${passes} passes of ${loop}`, async () => (await count()) > before + passes);
}

/** Runs kubectl as admin and returns what it prints; throws with its complaint when it fails. */
export async function kubectl(cluster: Cluster, args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.run('kubectl', args, input);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`);
  return stdout;
}

const patienceMs = 180_000;
const pollMs = 100;

/** Polls until it is so; throws, saying what was waited for. */
export async function until(what: string, is: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await is())) {
    if (performance.now() > deadline) throw new Error(`waited ${patienceMs} ms in vain for ${what}`);
    await sleep(pollMs);
  }
}

/** Polls until what is seen has not changed for so long, and returns it. */
export async function settled<T>(see: () => Promise<T>, quietMs: number): Promise<T> {
  let seen = await see();
  let since = performance.now();
  const deadline = since + patienceMs;
  while (performance.now() - since < quietMs) {
    if (performance.now() > deadline) throw new Error(`no rest within ${patienceMs} ms`);
    await sleep(pollMs);
    const now = await see();
    if (JSON.stringify(now) !== JSON.stringify(seen)) since = performance.now();
    seen = now;
  }
  return seen;
}

interface PodOptions {
  readonly name: string;
  readonly image: string;
  readonly script: string;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly init?: { readonly image: string; readonly script: string };
  /** Held back in the API after its deletion. */
  readonly finalizers?: readonly string[];
  /** limits["ephemeral-storage"] of its main container. */
  readonly storageLimit?: string;
}

/** A pod bound to the node, on its network, so that it starts as soon as the kubelet sees it. */
export function podOn(cluster: Cluster, options: PodOptions): object {
  const { name, image, script, init, finalizers, storageLimit, restartPolicy = 'Never' } = options;
  const resources = storageLimit && { limits: { 'ephemeral-storage': storageLimit } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', finalizers },
    spec: {
      nodeName: cluster.node.name,
      hostNetwork: true,
      restartPolicy,
      terminationGracePeriodSeconds: 1,
      volumes: [{ name: 'count', emptyDir: {} }],
      ...(init && { initContainers: [containerOf('init', init)] }),
      containers: [{ ...containerOf('main', { image, script }), resources }],
    },
  };
}

const containerOf = (
  name: string,
  { image, script }: { readonly image: string; readonly script: string },
): object => ({
  name,
  image,
  imagePullPolicy: 'Never',
  command: ['/bin/busybox', 'sh', '-c', script],
  volumeMounts: [{ name: 'count', mountPath: '/count' }],
});

/** Creates pods in this order. */
export async function createPods(cluster: Cluster, pods: readonly object[]): Promise<void> {
  await kubectl(
    cluster,
    ['create', '-f', '-'],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: pods }),
  );
}

/** By name. */
export async function podPhases(cluster: Cluster): Promise<ReadonlyMap<string, string>> {
  const { items } = JSON.parse(await kubectl(cluster, ['get', 'pods', '-o', 'json'])) as PodList;
  return new Map(items.map(({ metadata, status }) => [metadata.name, status.phase ?? '']));
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: { readonly phase?: string };
  }[];
}
