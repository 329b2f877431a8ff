import { setTimeout as sleep } from 'node:timers/promises';
import { EventLoopLag } from '../../src/runtime/serving/event-loop-lag.ts';
import type { DustpanProcess } from '../cluster/servers/dustpan-process.ts';
import type { AgentsBed } from './agents-bed.ts';
import { grown, requestsOf, type Requests } from './agents-server.ts';
import { usageOfPart } from './process-usage.ts';
import type { Spread, Tally } from './agents-tally.ts';
import { scrapeUntil, type Scrape } from './scrape.ts';

/** What was measured while the agents did one thing. */
export interface Phase {
  readonly name: string;
  readonly seconds: number;
  /** By the API server's count, the controller's among them. */
  readonly requests: Requests;
  /** By the agents' own. */
  readonly spreads: ReadonlyMap<string, Spread>;
  readonly server: { readonly cpuPerSecond: number; readonly residentMb: number };
  readonly controller: {
    readonly cpuPerSecond: number;
    readonly residentMb: number;
    readonly heapMb: number;
    readonly longestLagMs: number;
  };
  /** The process of all agents, of this benchmark: whether it kept up. */
  readonly fleet: { readonly cpuPerSecond: number; readonly longestLagMs: number };
}

export interface Measured {
  readonly bed: Pick<AgentsBed, 'cluster' | 'api'>;
  readonly dustpan: DustpanProcess;
  readonly tally: Tally;
}

/** Measures from before `begin` until `seconds` later; `begin` may take its time, and may start the API server anew. */
export async function measurePhase(
  { bed, dustpan, tally }: Measured,
  {
    name,
    seconds,
    begin,
  }: { readonly name: string; readonly seconds: number; readonly begin: () => Promise<void> },
): Promise<Phase> {
  const { cluster, api } = bed;
  const [asked, used, pid] = [await requestsOf(api), usageOfPart(cluster, 'api'), cluster.pid('api')];
  const [fromMs, own, lag] = [performance.now(), process.cpuUsage(), new EventLoopLag()];
  lag.start();
  let isOver = false;
  const scraping = scrapeUntil(dustpan, 1_000, () => isOver);
  await begin();
  await sleep(Math.max(0, seconds * 1_000 - (performance.now() - fromMs)));
  isOver = true;
  const toMs = performance.now();
  const { user, system } = process.cpuUsage(own);
  const fleet = {
    cpuPerSecond: (user + system) / 1_000 / (toMs - fromMs),
    longestLagMs: lag.takeMaxSeconds() * 1_000,
  };
  lag.stop();
  const isNew = cluster.pid('api') !== pid;
  const after = usageOfPart(cluster, 'api');
  const scrapes = await scraping;
  const seen = await requestsOf(api);
  return {
    name,
    seconds: (toMs - fromMs) / 1_000,
    requests: isNew ? seen : grown(asked, seen),
    spreads: tally.spreads({ fromMs, toMs }),
    server: {
      cpuPerSecond: ((after.cpuSeconds - (isNew ? 0 : used.cpuSeconds)) * 1_000) / (toMs - fromMs),
      residentMb: after.residentMb,
    },
    controller: courseOf(scrapes),
    fleet,
  };
}

function courseOf(scrapes: readonly Scrape[]): Phase['controller'] {
  const [first, last] = [scrapes[0], scrapes.at(-1)];
  if (first === undefined || last === undefined) throw new Error('no scrapes');
  const seconds = (last.atMs - first.atMs) / 1_000;
  return {
    cpuPerSecond: seconds > 0 ? (last.usage.cpuSeconds - first.usage.cpuSeconds) / seconds : 0,
    residentMb: last.usage.residentMb,
    heapMb: last.heapMb,
    // The first one reaches back to before.
    longestLagMs: Math.max(0, ...scrapes.slice(1).map(({ lagSeconds }) => lagSeconds * 1_000)),
  };
}

/** The longest that a quiet report is old on average. */
const oldestMs = 5.5 * 60_000;
const writersAtOnce = 64;

/** Gives the reports times as agents would that have run for long; resolves with how many such patches a second these servers take. */
export async function ageReports({ api, nodes }: Pick<AgentsBed, 'api' | 'nodes'>): Promise<number> {
  const left = nodes.values();
  const startedAtMs = performance.now();
  const worker = async (): Promise<void> => {
    for (const { name } of left) {
      const reportTime = new Date(Date.now() - Math.random() * oldestMs).toISOString();
      const contentType = 'application/merge-patch+json';
      await api.send('PATCH', `${reportsPath}/${name}/status`, {
        body: { status: { reportTime } },
        contentType,
      });
    }
  };
  await Promise.all(Array.from({ length: writersAtOnce }, worker));
  return (nodes.length * 1_000) / (performance.now() - startedAtMs);
}

const reportsPath = '/apis/gc.dustpan.dev/v1alpha1/nodegcreports';

/** Bytes of one report as JSON. */
export async function reportBytes({ cluster, nodes }: Pick<AgentsBed, 'cluster' | 'nodes'>): Promise<number> {
  const { stdout } = await cluster.run('kubectl', ['get', '--raw', `${reportsPath}/${nodes[0]?.name ?? ''}`]);
  return Buffer.byteLength(stdout);
}
