import { setTimeout as sleep } from 'node:timers/promises';
import { scriptOptions } from '../../../scripts/arguments.ts';
import { memoryEnvironment, memoryFlags } from '../../../src/commands/agent/command.ts';
import { agentUser, startAgent } from '../../cluster/agent/agent.ts';
import type { DustpanProcess } from '../../cluster/servers/dustpan-process.ts';
import { kubectl } from '../../cluster/servers/kubectl.ts';
import type { AuditEvent } from '../../cluster/servers/audit.ts';
import { waitUntil } from '../../cluster/servers/waiting.ts';
import { benchInJail, besidePeer, median, progress, row, type Result } from '../bench.ts';
import { sampled, usageOf, type Usage } from '../process.ts';
import { applyNodePolicy, startFullNode, type FullNode } from './node.ts';

const { values: options } = scriptOptions({
  options: {
    images: { type: 'string', default: '300' },
    /** In pods of ten. */
    containers: { type: 'string', default: '250' },
    /** How long the agent is observed at rest; its image passes are 5 min apart. */
    minutes: { type: 'string', default: '6' },
  },
});
const [images, containers, minutes] = [options.images, options.containers, options.minutes].map(Number) as [
  number,
  number,
  number,
];
/** As far apart as the scrapes of a Prometheus. */
const scrapeSeconds = 15;
const settleMs = 20_000;
const patience = { timeout: 600_000 };

/** The agent with nothing to do, and the kubelet at the same time. */
interface Rest {
  readonly agent: readonly [Usage, ...Usage[]];
  readonly kubelet: readonly [Usage, ...Usage[]];
  /** Requests to the API server, counted by verb and resource. */
  readonly requests: ReadonlyMap<string, number>;
}

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
  const [first, ...others] = samples;
  return {
    agent: [first.agent, ...others.map((one) => one.agent)],
    kubelet: [first.kubelet, ...others.map((one) => one.kubelet)],
    requests: await requestsSince(node, since),
  };
}

/** Counts a watch when it is opened. */
async function requestsSince({ cluster }: FullNode, since: Date): Promise<ReadonlyMap<string, number>> {
  const isCounted = ({ verb, stage }: AuditEvent): boolean =>
    stage === (verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete');
  const counts = new Map<string, number>();
  for (const event of (await cluster.audit({ user: agentUser.name, since })).filter(isCounted)) {
    const { resource = event.requestURI, subresource } = event.objectRef ?? {};
    const name = [event.verb, [resource, subresource].filter((part) => part !== undefined).join('/')].join(
      ' ',
    );
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

/** Switches a running agent to Enforce and waits until everything removable is gone, and some time longer. */
async function measureCleaning(node: FullNode): Promise<Usage> {
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
  return usageOf(agent.pid);
}

const units = ['containergc', 'imagegc', 'localstorage'];

/** Starts the agent as in a pod and waits for the first pass of each unit. */
async function start({ cluster, env }: FullNode): Promise<DustpanProcess> {
  const [name = '', value = ''] = memoryEnvironment.split('=');
  const agent = await startAgent(cluster, {
    // A kubeconfig would load the library that reads it, which no pod needs.
    args: ['--kubeconfig='],
    env: { ...env, [name]: value, KUBECONFIG: '' },
    nodeFlags: memoryFlags.split(' '),
  });
  await agent.ready();
  const hasPassed = async (): Promise<boolean> => {
    const metrics = await agent.metrics();
    const passes = (unit: string): number =>
      metrics.get(`dustpan_loop_passes_total{loop="${unit}",result="success"}`) ?? 0;
    return units.every((unit) => passes(unit) > 0);
  };
  await waitUntil('the first pass of each unit', hasPassed, patience);
  return agent;
}

/** The budget is for this size. */
const judged = (isMet: boolean): boolean | undefined =>
  images >= 300 && containers >= 250 ? isMet : undefined;

function rows({ agent, kubelet, requests }: Rest, cleaning: Usage): string[][] {
  const memory = (what: string, mebibytes: number, peer?: number): string[] =>
    row(what, {
      ...{ dustpan: mib(mebibytes), ...(peer !== undefined && { peer: mib(peer) }) },
      budget: { text: '80 MiB', isMet: judged(mebibytes <= 80) },
    });
  const patches = requests.get(reportPatch) ?? 0;
  // The first of a window may come right at its start.
  const allowed = Math.ceil(minutes / 5);
  const others = [...requests].filter(([name]) => name !== reportPatch);
  return [
    memory('memory at rest', steadyMiB(agent), steadyMiB(kubelet)),
    memory('… peak while it removes a third of the images and the dead containers', cleaning.peakMiB),
    row('CPU a minute at rest', { dustpan: perMinute(agent), peer: perMinute(kubelet) }),
    row(`patches of its report in ${minutes} min`, {
      ...{ dustpan: String(patches), budget: { text: '1 in 5 min', isMet: judged(patches <= allowed) } },
    }),
    row('other requests', {
      dustpan: others.map(([name, count]) => `${count} × ${name}`).join(', ') || 'none',
      budget: { text: 'watches only', isMet: judged(others.every(([name]) => name.startsWith('watch '))) },
    }),
  ];
}

const reportPatch = 'patch nodegcreports/status';
const steadyMiB = (usages: readonly Usage[]): number =>
  median(usages.slice(usages.length / 2).map(({ residentMiB }) => residentMiB));

function perMinute(usages: readonly [Usage, ...Usage[]]): string {
  const used = (usages.at(-1) ?? usages[0]).cpuSeconds - usages[0].cpuSeconds;
  return seconds(used / minutes);
}

const mib = (value: number): string => `${value.toFixed(1)} MiB`;
const seconds = (value: number): string => `${value.toFixed(2)} s`;

// Last, because the functions above use the constants between them.
await benchInJail(['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet'], async () => {
  progress('starting a node and filling it');
  const node = await startFullNode(images, containers);
  await using cluster = node.cluster;
  const path = '{.status.nodeInfo.kubeletVersion} {.status.nodeInfo.containerRuntimeVersion}';
  const versions = await kubectl(cluster, ['get', 'node', cluster.node.name, '-o', `jsonpath=${path}`]);
  const rest = await measureRest(node);
  const cleaning = await measureCleaning(node);
  return {
    title: `agent, ${images} images, ${containers} containers`,
    conditions: [`Kubernetes ${versions}`, `agent: \`${memoryEnvironment} ${memoryFlags}\``],
    columns: besidePeer('kubelet'),
    rows: rows(rest, cleaning),
  } satisfies Result;
});
