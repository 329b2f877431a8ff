import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { agentUser } from '../../cluster/agent/agent.ts';
import { etcdEntry } from '../../cluster/servers/etcd-objects.ts';
import { benchInJail, benchOptions, progress, thousands } from '../bench.ts';
import { applyPolicy, podPolicy } from '../controller.ts';
import { readyNode } from '../pods/bench-pods.ts';
import { usageOf } from '../process.ts';
import { settled, startServers, type Servers } from '../servers.ts';
import { nodeName, shortReport } from './nodes.ts';

const { agents, minutes } = benchOptions({
  agents: 2_000,
  /** At rest. A watch and a report last 5 to 10 minutes. */
  minutes: 15,
});
const agentsInAProcess = 500;
/** All agents have started, and their short first watches have ended. */
const startMs = 240_000;

/** Requests of an agent at rest in a minute, and connections, by docs/scale.md. */
const model: Readonly<Record<string, number>> = {
  'LIST gcpolicies': 60 / 60,
  'LIST nodes': 60 / 300,
  'WATCH pods': 60 / 450,
  'PATCH nodegcreports/status': 60 / 330,
};
/** An open watch with its connection (docs/adr/0114); polls and reports need some more. */
const modelWatchKiB = 51;

interface Sample {
  readonly requests: ReadonlyMap<string, number>;
  readonly watches: number;
  readonly residentMiB: number;
  readonly cpuSeconds: number;
  readonly etcdCpuSeconds: number;
}

/** The metrics of the API server, and its memory and CPU time. */
async function sample({ api, cluster }: Servers): Promise<Sample> {
  const text = (await api.send('GET', '/metrics', { accept: 'text/plain' })).toString();
  const requests = new Map<string, number>();
  let watches = 0;
  for (const [, name, labels = '', value] of text.matchAll(/^(apiserver_\w+)\{(.*)\} (\S+)$/gm)) {
    const label = (key: string): string => new RegExp(`\\b${key}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const verb = label('verb');
    if (name === 'apiserver_longrunning_requests' && verb === 'WATCH' && label('resource') === 'pods')
      watches += Number(value);
    if (name !== 'apiserver_request_total') continue;
    const key = [`${verb} ${label('resource')}`, label('subresource')]
      .filter((part) => part !== '')
      .join('/');
    requests.set(key, (requests.get(key) ?? 0) + Number(value));
  }
  const { residentMiB, cpuSeconds } = usageOf(cluster.pid('api'));
  return {
    requests,
    watches,
    residentMiB,
    cpuSeconds,
    etcdCpuSeconds: usageOf(cluster.pid('etcd')).cpuSeconds,
  };
}

/** Starts the agents; ends them with SIGTERM. */
function startAgents(kubeconfig: string): AsyncDisposable & { readonly count: number } {
  const program = fileURLToPath(import.meta.resolve('./agents.ts'));
  const children = Array.from({ length: Math.ceil(agents / agentsInAProcess) }, (_, i) => {
    const first = i * agentsInAProcess;
    const args = [program, kubeconfig, first, Math.min(agentsInAProcess, agents - first)].map(String);
    return spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  });
  return {
    count: children.length,
    [Symbol.asyncDispose]: async () => {
      for (const child of children)
        if (child.exitCode === null) {
          const ended = once(child, 'exit');
          child.kill();
          await ended;
        }
    },
  };
}

function rows(before: Sample, rest: Sample, after: Sample): string[][] {
  const compared = Object.entries(model).map(([request, perMinute]) => {
    const count = (after.requests.get(request) ?? 0) - (rest.requests.get(request) ?? 0);
    return row(`${request}, of an agent a minute`, count / agents / minutes, perMinute);
  });
  const watchKiB = ((after.residentMiB - before.residentMiB) * 1_024) / agents;
  const cpu = (key: 'cpuSeconds' | 'etcdCpuSeconds'): string =>
    `${(after[key] - rest[key]).toFixed(0)} s in ${minutes} min`;
  return [
    ...compared,
    row('watches of an agent', after.watches / agents, 1),
    row('memory of kube-apiserver, of an agent, KiB', watchKiB, modelWatchKiB),
    ['CPU of kube-apiserver', cpu('cpuSeconds'), '', ''],
    ['CPU of etcd', cpu('etcdCpuSeconds'), '', ''],
  ];
}

const row = (what: string, measured: number, expected: number): string[] => [
  what,
  measured.toPrecision(3),
  expected.toPrecision(3),
  `${((measured / expected - 1) * 100).toFixed(0)} %`,
];

// Last, because the functions above use the constants between them.
await benchInJail(['etcd', 'api'], async () => {
  await using servers = await startServers([agentUser]);
  await servers.etcd.put(Array.from({ length: agents }, (_, i) => etcdEntry(readyNode(nodeName(i)))));
  await applyPolicy(servers.cluster, podPolicy('DryRun', 1_000));
  await settled(servers.cluster);
  const before = await sample(servers);
  progress(`starting ${agents} agents`);
  await using processes = startAgents(servers.cluster.kubeconfig(agentUser.name));
  await sleep(startMs);
  progress(`at rest, ${minutes} min`);
  const rest = await sample(servers);
  await sleep(minutes * 60_000);
  const after = await sample(servers);
  return {
    title: `${thousands(agents)} simulated agents, reports of ${JSON.stringify(shortReport(0, new Date())).length} bytes`,
    conditions: [servers.version, `${processes.count} processes simulate them`],
    columns: ['', 'measured', 'docs/scale.md', 'difference'],
    rows: rows(before, rest, after),
  };
});
