import { readFile } from 'node:fs/promises';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryFlags } from '../../../src/commands/agent/command.ts';
import type { AuditEvent } from '../servers/audit.ts';
import { serviceAccountGroups, type Cluster, type User } from '../servers/cluster.ts';
import { PartProcess } from '../servers/part-process.ts';
import { freePorts } from '../servers/ports.ts';
import { statusOf } from '../servers/probe.ts';
import { repositoryRoot } from '../repository.ts';

export interface AgentOptions {
  /** Come last, so they win. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** For Node itself, in place of those that the agent's help recommends. */
  readonly nodeFlags?: readonly string[];
  /** One of the cluster's users; by default `agentUser`, which the cluster must have then. */
  readonly user?: string;
}

/** A line of the agent's log. */
interface AgentLine {
  readonly ts: string;
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** The built agent as a process of its own. State file and log outlive it: the next agent of the same cluster goes on with them. */
export interface Agent extends AsyncDisposable {
  readonly pid: number;
  readonly stateFile: string;
  readonly metricsUrl: string;
  readonly healthUrl: string;
  /** Every series by its name with labels as Prometheus writes them, e.g. `a_total{reason="space"}`. */
  metrics(): Promise<ReadonlyMap<string, number>>;
  /** What this process has logged so far. */
  logs(): Promise<readonly AgentLine[]>;
  /** The status of one of its probes; undefined when nobody answers. */
  probe(path: '/healthz' | '/readyz'): Promise<number | undefined>;
  /** Waits until /readyz says 200. */
  ready(): Promise<void>;
  /** Sends a signal; after one that ends a process, waits for its end. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Ends it as Kubernetes does: TERM, and KILL when it takes longer than 10 s. */
  stop(): Promise<void>;
}

const startTimeoutMs = 120_000;
const readyTimeoutMs = 120_000;
const stopTimeoutMs = 10_000;
const pollMs = 100;

/** Starts `dist/main.js agent` for the cluster's node, all paths at their defaults but the state's; resolves as soon as it lives. */
export async function startAgent(cluster: Cluster, options: AgentOptions = {}): Promise<Agent> {
  const [metrics = 0, health = 0] = await freePorts(2);
  const healthUrl = `http://127.0.0.1:${health}`;
  const logFile = join(cluster.dir, 'log', 'agent.log');
  const stateDir = join(cluster.dir, 'agent-state');
  const process = new PartProcess({
    name: 'agent',
    // env becomes the program it names: one process, one pid.
    command: 'env',
    args: [
      ...Object.entries(options.env ?? {}).map(([name, value]) => `${name}=${value}`),
      'node',
      ...(options.nodeFlags ?? memoryFlags.split(' ')),
      join(repositoryRoot(), 'dist/main.js'),
      'agent',
      `--node-name=${cluster.node.name}`,
      `--kubeconfig=${cluster.kubeconfig(options.user ?? agentUser.name)}`,
      `--state-dir=${stateDir}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
      `--health-probe-bind-address=127.0.0.1:${health}`,
      ...(options.args ?? []),
    ],
    cwd: cluster.dir,
    logFile,
    isReady: async () => (await statusOf(`${healthUrl}/healthz`)) === 200,
  });
  const logStart = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  await process.start(startTimeoutMs);
  const urls = { metricsUrl: `http://127.0.0.1:${metrics}/metrics`, healthUrl };
  return handleOf(process, { ...urls, stateFile: join(stateDir, 'state.json'), logFile, logStart });
}

interface Place extends Pick<Agent, 'metricsUrl' | 'healthUrl' | 'stateFile'> {
  readonly logFile: string;
  /** Bytes of those before it. */
  readonly logStart: number;
}

function handleOf(process: PartProcess, { logFile, logStart, ...place }: Place): Agent {
  const stop = async (): Promise<void> => {
    const killer = setTimeout(() => void process.kill('SIGKILL'), stopTimeoutMs);
    await process.kill('SIGTERM');
    clearTimeout(killer);
  };
  const probe: Agent['probe'] = (path) => statusOf(`${place.healthUrl}${path}`);
  return {
    ...place,
    get pid() {
      if (process.pid === undefined) throw new Error('the agent does not run (any more)');
      return process.pid;
    },
    metrics: async () => parseMetrics(await (await fetch(place.metricsUrl)).text()),
    logs: async () => parseLog((await readFile(logFile)).subarray(logStart).toString()),
    probe,
    ready: async () => {
      const deadline = Date.now() + readyTimeoutMs;
      while ((await probe('/readyz')) !== 200) {
        if (Date.now() > deadline) throw new Error(`agent is not ready:\n${await process.logTail(20)}`);
        await sleep(pollMs);
      }
    },
    kill: (signal) => process.kill(signal),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function parseMetrics(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

/** Without the last line while it is half written, and without what Node itself says. */
function parseLog(text: string): readonly AgentLine[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as AgentLine);
}

/** A user for `startCluster` with no more rights than the agent needs. */
export const agentUser: User = {
  name: 'dustpan-agent',
  groups: serviceAccountGroups,
  rules: [
    { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] },
    { apiGroups: [''], resources: ['nodes/stats'], verbs: ['get'] },
    { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
    { apiGroups: ['gc.dustpan.dev'], resources: ['gcpolicies'], verbs: ['list', 'watch'] },
    { apiGroups: ['gc.dustpan.dev'], resources: ['nodegcreports'], verbs: ['get', 'create'] },
    { apiGroups: ['gc.dustpan.dev'], resources: ['nodegcreports/status'], verbs: ['patch'] },
  ],
};

/** What the agent asked of the API server, `verb resource` each once, and which of it was forbidden. */
export async function agentRequests(
  cluster: Pick<Cluster, 'audit'>,
  since: Date = new Date(0),
): Promise<{ readonly asked: readonly string[]; readonly forbidden: readonly string[] }> {
  const requests = await cluster.audit({ user: agentUser.name, since });
  const forbidden = requests.filter(({ responseStatus }) => responseStatus?.code === 403);
  return { asked: distinct(requests), forbidden: distinct(forbidden) };
}

const distinct = (events: readonly AuditEvent[]): readonly string[] =>
  [...new Set(events.map(nameOf))].sort();

function nameOf({ verb, objectRef, requestURI }: AuditEvent): string {
  const { resource, subresource } = objectRef ?? {};
  if (resource === undefined) return `${verb} ${requestURI}`;
  return `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;
}
