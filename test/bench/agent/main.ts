import { setTimeout as sleep } from 'node:timers/promises';
import { agentUser, requestName, startAgent } from '../../cluster/agent/agent.ts';
import { shipped } from '../../cluster/chart/shipped.ts';
import type { DustpanProcess } from '../../cluster/servers/dustpan-process.ts';
import { kubectl } from '../../cluster/servers/kubectl.ts';
import { waitUntil } from '../../cluster/servers/waiting.ts';
import { benchInJail, benchOptions, besidePeer, budgetsOf, median, progress, row } from '../bench.ts';
import { sampled, usageOf, type Usage } from '../process.ts';
import { applyNodePolicy, startFullNode, type FullNode } from './node.ts';

const { images, containers, minutes } = benchOptions({
  images: 300,
  /** In pods of ten. */
  containers: 250,
  /** How long the agent is observed at rest; its image passes are 5 min apart. */
  minutes: 6,
});
/** As far apart as the scrapes of a Prometheus. */
const scrapeSeconds = 15;
const settleMs = 20_000;
const patience = { timeout: 600_000 };

/** Requests to the API server since then, counted by verb and resource; a watch when it is opened. */
async function requestsSince({ cluster }: FullNode, since: Date): Promise<ReadonlyMap<string, number>> {
  const events = await cluster.audit({ user: agentUser.name, since });
  const counted = events.filter(
    ({ verb, stage }) => stage === (verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete'),
  );
  return new Map([...Map.groupBy(counted, requestName)].map(([name, same]) => [name, same.length]));
}

/** Starts the agent as in a pod and waits for the first pass of each unit. */
async function start({ cluster, env }: FullNode): Promise<DustpanProcess> {
  const { env: ofChart, nodeFlags } = await shipped('DaemonSet');
  // A kubeconfig would load the library that reads it, which no pod needs.
  const inPod = { ...ofChart, ...env, KUBECONFIG: '' };
  const agent = await startAgent(cluster, { args: ['--kubeconfig='], env: inPod, nodeFlags });
  await agent.ready();
  const hasPassed = async (): Promise<boolean> => {
    const metrics = await agent.metrics();
    const passes = (unit: string): number =>
      metrics.get(`dustpan_loop_passes_total{loop="${unit}",result="success"}`) ?? 0;
    return ['containergc', 'imagegc', 'localstorage'].every((unit) => passes(unit) > 0);
  };
  await waitUntil('the first pass of each unit', hasPassed, patience);
  return agent;
}

/** Budgets are for this size. */
const budget = budgetsOf(images >= 300 && containers >= 250);

interface Rest {
  readonly agent: readonly Usage[];
  readonly kubelet: readonly Usage[];
  readonly requests: ReadonlyMap<string, number>;
}

function rows({ agent, kubelet, requests }: Rest, peakMiB: number): string[][] {
  const memoryBudget = (mebibytes: number) => budget('80 MiB', mebibytes <= 80);
  const [atRest, peer] = [steadyMiB(agent), steadyMiB(kubelet)];
  const patches = requests.get(reportPatch) ?? 0;
  // The first of a window may come right at its start.
  const allowed = Math.ceil(minutes / 5);
  const others = [...requests].filter(([name]) => name !== reportPatch);
  return [
    row('memory at rest', mib(atRest), { peer: mib(peer), budget: memoryBudget(atRest) }),
    row('… peak while it removes a third of the images and the dead containers', mib(peakMiB), {
      budget: memoryBudget(peakMiB),
    }),
    row('CPU a minute at rest', perMinute(agent), { peer: perMinute(kubelet) }),
    row(`patches of its report in ${minutes} min`, String(patches), {
      budget: budget('1 in 5 min', patches <= allowed),
    }),
    row('other requests', others.map(([name, count]) => `${count} × ${name}`).join(', ') || 'none', {
      budget: budget(
        'its polls, and the watch of pods',
        others.every(([name]) => ['list gcpolicies', 'list nodes', 'watch pods'].includes(name)),
      ),
    }),
  ];
}

const reportPatch = 'patch nodegcreports/status';
const steadyMiB = (usages: readonly Usage[]): number =>
  median(usages.slice(usages.length / 2).map(({ residentMiB }) => residentMiB));
const perMinute = (usages: readonly Usage[]): string =>
  `${(((usages.at(-1)?.cpuSeconds ?? 0) - (usages[0]?.cpuSeconds ?? 0)) / minutes).toFixed(2)} s`;
const mib = (value: number): string => `${value.toFixed(1)} MiB`;

/** The agent with nothing to do, and the kubelet at the same time. */
async function measureRest(node: FullNode): Promise<Rest> {
  progress(`at rest, ${minutes} min`);
  await applyNodePolicy(node, 'DryRun');
  await using agent = await start(node);
  // The first report, and the watch event that it causes, are not part of the rest.
  await sleep(settleMs);
  const since = new Date();
  const { samples } = await sampled(sleep(minutes * 60_000), scrapeSeconds * 1_000, async () => {
    await agent.metrics();
    return { agent: usageOf(agent.pid), kubelet: usageOf(node.cluster.pid('kubelet')) };
  });
  return {
    agent: samples.map((one) => one.agent),
    kubelet: samples.map((one) => one.kubelet),
    requests: await requestsSince(node, since),
  };
}

/** The peak of an agent that is switched to Enforce, until everything removable is gone, and some time longer. */
async function measureCleaning(node: FullNode): Promise<number> {
  progress('Enforce');
  await using agent = await start(node);
  await applyNodePolicy(node, 'Enforce');
  const isClean = async (): Promise<boolean> => {
    const metrics = await agent.metrics();
    const removed = metrics.get('dustpan_image_garbage_collected_total{reason="age"}') ?? 0;
    const dead = metrics.get('dustpan_removed_objects_total{unit="containergc",reason="DeadContainer"}') ?? 0;
    return removed >= node.removable.images && dead >= node.removable.containers;
  };
  await waitUntil('everything removable is gone', isClean, patience);
  await sleep(settleMs);
  return usageOf(agent.pid).peakMiB;
}

// Last, because the functions above use the constants between them.
await benchInJail(['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet'], async () => {
  progress('starting a node and filling it');
  const node = await startFullNode(images, containers);
  await using cluster = node.cluster;
  const path = '{.status.nodeInfo.kubeletVersion} {.status.nodeInfo.containerRuntimeVersion}';
  const versions = await kubectl(cluster, ['get', 'node', cluster.node.name, '-o', `jsonpath=${path}`]);
  const rest = await measureRest(node);
  return {
    title: `agent, ${images} images, ${containers} containers`,
    conditions: [`Kubernetes ${versions}`],
    columns: besidePeer('kubelet'),
    rows: rows(rest, await measureCleaning(node)),
  };
});
