import { scriptOptions } from '../../../scripts/arguments.ts';
import type { ReportingNode } from '../../../src/kube/actions/node-report.ts';
import { agentUser } from '../../cluster/agent/agent.ts';
import { dustpanUser } from '../../cluster/controller/dustpan.ts';
import { etcdEntry } from '../../cluster/servers/etcd-objects.ts';
import { waitUntil } from '../../cluster/servers/waiting.ts';
import { mergePatch, sendAll } from '../api-client.ts';
import { benchInJail, progress, thousands, type Result } from '../bench.ts';
import { nodeFlagsFor } from '../controller-flags.ts';
import { applyPolicy, startController } from '../controller.ts';
import { readyNode } from '../pods/bench-pods.ts';
import { settled, startServers, type Servers } from '../servers.ts';
import { Fleet } from './fleet.ts';
import { columns, measurePhase } from './phase.ts';
import { Tally } from './tally.ts';

const { values: options } = scriptOptions({
  options: {
    agents: { type: 'string', default: '5000' },
    /** Agents with watches of their own: each needs three connections here and at the API server. */
    watchers: { type: 'string', default: '500' },
    /** The share of agents that remove something in each pass over containers. */
    busy: { type: 'string', default: '0.1' },
    /** How long they are observed at rest. */
    minutes: { type: 'string', default: '3' },
  },
});
const [agents, busy, minutes] = [options.agents, options.busy, options.minutes].map(Number) as [
  number,
  number,
  number,
];
const watchers = Math.max(1, Math.min(agents, Number(options.watchers)));
/** Agents that start together start within 60 s; reports after news are spread over a minute, too. */
const spreadSeconds = 70;
const outageSeconds = 150;
const recovery = { timeout: 120_000 };
const reporting = { timeout: 300_000 };

type Phase = Parameters<typeof measurePhase>[1];

interface Course {
  readonly servers: Servers;
  readonly fleet: Fleet;
  readonly nodes: readonly ReportingNode[];
  readonly phase: (name: Phase['name'], seconds: number, begin?: Phase['begin']) => Promise<string[]>;
}

async function measure({ servers, fleet, nodes, phase }: Course): Promise<Result> {
  const { cluster } = servers;
  const start = (): void => {
    fleet.start();
  };
  const rows = [
    await phase('no agents', 30),
    await phase(`${thousands(watchers)} agents open three watches each`, 30, () => fleet.watch()),
    await phase('all agents start in one second, for the first time', spreadSeconds, start),
  ];
  await waitUntil('every agent has reported', () => hasReports(servers, agents), reporting);
  await fleet.stop();
  const patchesPerSecond = await ageReports(servers, nodes);
  await settled(cluster);
  rows.push(
    await phase('all agents start in one second, with reports', spreadSeconds, start),
    await phase('at rest', minutes * 60),
    await phase('the policy changes', spreadSeconds, () => governNodes(servers, 84)),
    await outage({ cluster, fleet, phase }),
  );
  return {
    title: `${thousands(agents)} agents, ${100 * busy} % of them remove something every minute`,
    conditions: [servers.version, `64 writers patch ${patchesPerSecond.toFixed(0)} reports a second`],
    columns,
    rows,
  };
}

async function outage({
  cluster,
  fleet,
  phase,
}: Pick<Course, 'fleet' | 'phase'> & Pick<Servers, 'cluster'>): Promise<string[]> {
  let recoverySeconds = NaN;
  progress('the API server restarts');
  return await phase(
    () => `the API server restarts; ${recoverySeconds.toFixed(1)} s after its start all watches work`,
    outageSeconds,
    async () => {
      await cluster.kill('api');
      await waitUntil('no watch works', () => fleet.synced === 0, recovery);
      await cluster.start('api');
      const startedMs = performance.now();
      await waitUntil('all watches work', () => fleet.synced === watchers, recovery);
      recoverySeconds = (performance.now() - startedMs) / 1_000;
    },
  );
}

/** Writes the policy that governs every node, in DryRun. */
async function governNodes({ cluster }: Servers, highThresholdPercent: number): Promise<void> {
  const imageGC = { highThresholdPercent, keep: ['registry.example.com/base/*'] };
  await applyPolicy(cluster, { mode: 'DryRun', nodes: { imageGC, containerGC: {} } });
}

/** A report without news is written again after at most 6 min. */
const oldestMs = 5.5 * 60_000;

/** Whether so many reports exist. */
async function hasReports({ api }: Servers, count: number): Promise<boolean> {
  const list = await api.send('GET', '/apis/gc.dustpan.dev/v1alpha1/nodegcreports?limit=1', {
    accept: 'application/json',
  });
  const { metadata } = JSON.parse(list.toString()) as {
    readonly metadata: { readonly remainingItemCount?: number };
  };
  return (metadata.remainingItemCount ?? 0) + 1 >= count;
}

/** Gives the reports ages up to the oldest, as after a long time; resolves with the patches per second that these servers take. */
async function ageReports({ api }: Servers, nodes: readonly ReportingNode[]): Promise<number> {
  const { count, seconds } = await sendAll(nodes, 64, ({ name }) => {
    const reportTime = new Date(Date.now() - Math.random() * oldestMs).toISOString();
    const path = `/apis/gc.dustpan.dev/v1alpha1/nodegcreports/${name}/status`;
    return api.send('PATCH', path, { body: { status: { reportTime } }, contentType: mergePatch });
  });
  return count / seconds;
}

// Last, because the functions above use the constants between them.
await benchInJail(['etcd', 'api'], async () => {
  await using servers = await startServers([dustpanUser, agentUser]);
  const { cluster, etcd } = servers;
  const objects = Array.from({ length: agents }, (_, i) => readyNode(`node-${String(i).padStart(5, '0')}`));
  progress(`writing ${agents} nodes`);
  await etcd.putFast(objects.map(etcdEntry));
  await settled(cluster);
  await governNodes(servers, 85);
  await using dustpan = await startController(cluster, nodeFlagsFor(0));
  const tally = new Tally();
  const nodes = objects.map(({ metadata: { name, uid } }) => ({ name, uid }));
  const fleet = new Fleet({ cluster, nodes, watchers, busy, tally });
  try {
    const phase = (name: Phase['name'], seconds: number, begin?: Phase['begin']): Promise<string[]> =>
      measurePhase({ cluster, dustpan, tally }, { name, seconds, ...(begin && { begin }) });
    return await measure({ servers, fleet, nodes, phase });
  } finally {
    await fleet.close();
  }
});
