import { setTimeout as sleep } from 'node:timers/promises';
import { scriptOptions } from '../../../scripts/arguments.ts';
import { dustpanUser } from '../../cluster/controller/dustpan.ts';
import { benchInJail, course, median, progress, row, thousands, type Result } from '../bench.ts';
import { nodeFlagsFor } from '../controller-flags.ts';
import { applyPolicy, firstPass, podPolicy, scrape, scrapeEveryMs, startController } from '../controller.ts';
import { loadPods } from '../pods/bench-pods.ts';
import { sampled, type Usage } from '../process.ts';
import { startServers, type Servers } from '../servers.ts';
import { ChurnClient } from './client.ts';

const { values: options } = scriptOptions({
  options: {
    /** Pods that are there before. */
    pods: { type: 'string', default: '50000' },
    /** New pods a second; each causes eight requests and one deletion. */
    rate: { type: 'string', default: '20' },
    /** How long. */
    minutes: { type: 'string', default: '60' },
  },
});
const [pods, rate, minutes] = [Number(options.pods), Number(options.rate), Number(options.minutes)];
const nodeFlags = nodeFlagsFor(pods);
/** After the first pass, so that the garbage of the first list is not counted. */
const restMs = 30_000;

/** The controller while pods come, finish and are deleted. */
interface Observed {
  readonly pods: number;
  readonly failed: number;
  readonly usages: readonly [Usage, ...Usage[]];
  readonly heapMiB: readonly number[];
}

async function measureDustpan(
  { cluster }: Servers,
  client: ChurnClient,
  threshold: number,
): Promise<Observed> {
  await applyPolicy(cluster, podPolicy('Enforce', threshold));
  await using dustpan = await startController(cluster, nodeFlags);
  await firstPass(dustpan);
  await sleep(restMs);
  await scrape(dustpan);
  const churn = client.run(rate, minutes * 60);
  const { result, samples } = await sampled(churn, scrapeEveryMs, () => scrape(dustpan));
  const [first, ...others] = samples;
  const heapMiB = samples.map((one) => one.heapMiB);
  return { ...result, usages: [first.usage, ...others.map(({ usage }) => usage)], heapMiB };
}

/** The budget is for an hour with at least this churn. */
const isJudged = pods >= 50_000 && rate >= 20 && minutes >= 60;

function rows(observed: Observed): string[][] {
  const growth = growthPercent(observed);
  const memory = course(observed.usages.map((usage) => usage.residentMiB));
  const budget = { text: '5 %', isMet: isJudged ? growth <= 5 : undefined };
  return [
    row(`growth of memory after ${(minutes / 6).toFixed(1)} min`, {
      dustpan: `${growth.toFixed(1)} %`,
      budget,
    }),
    row('memory over time, MiB', { dustpan: memory }),
    row('JavaScript heap in use over time, MiB', { dustpan: course(observed.heapMiB) }),
    row('CPU a minute', { dustpan: `${cpuPerMinute(observed).toFixed(1)} s` }),
    row('pods that came and finished (failed requests)', {
      dustpan: `${observed.pods} (${observed.failed})`,
    }),
  ].map(([what = '', dustpan = '', , ...verdict]) => [what, dustpan, ...verdict]);
}

/** A sixtieth of the time: of an hour the minute after the first ten, and the last. */
const windowOf = ({ usages }: Observed): number => Math.max(1, Math.round(usages.length / 60));
const residentMiB = (usages: readonly Usage[]): number => median(usages.map((usage) => usage.residentMiB));

function earlyMiB(observed: Observed): number {
  const from = Math.floor(observed.usages.length / 6);
  return residentMiB(observed.usages.slice(from, from + windowOf(observed)));
}

const lateMiB = (observed: Observed): number => residentMiB(observed.usages.slice(-windowOf(observed)));
const growthPercent = (observed: Observed): number => (lateMiB(observed) / earlyMiB(observed) - 1) * 100;

function cpuPerMinute({ usages }: Observed): number {
  return ((usages.at(-1) ?? usages[0]).cpuSeconds - usages[0].cpuSeconds) / minutes;
}

// Last, because the functions above use the constants between them.
await benchInJail(['etcd', 'api'], async () => {
  await using servers = await startServers([dustpanUser]);
  const loaded = await loadPods(servers, { pods, due: 0 });
  const client = new ChurnClient(servers.api, loaded, pods);
  progress(`dustpan, ${minutes} min`);
  const observed = await measureDustpan(servers, client, loaded.threshold);
  return {
    title: `churn, ${thousands(pods)} pods, ${rate} new ones a second for ${minutes} min`,
    conditions: [servers.version, `dustpan: \`${nodeFlags}\``],
    columns: ['', 'dustpan', 'budget', ''],
    rows: rows(observed),
  } satisfies Result;
});
