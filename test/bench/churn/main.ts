import { setTimeout as sleep } from 'node:timers/promises';
import { scriptOptions } from '../../../scripts/arguments.ts';
import { dustpanUser } from '../../cluster/controller/dustpan.ts';
import { benchInJail, besidePeer, course, median, progress, row, thousands, type Result } from '../bench.ts';
import { nodeFlagsFor } from '../controller-flags.ts';
import { applyPolicy, firstPass, podPolicy, scrape, scrapeEveryMs, startController } from '../controller.ts';
import { peerProcess } from '../peer.ts';
import { loadPods } from '../pods/bench-pods.ts';
import { sampled, usageOf, type Usage } from '../process.ts';
import { settled, startServers, type Servers } from '../servers.ts';
import { ChurnClient } from './client.ts';

const { values: options } = scriptOptions({
  options: {
    /** Pods that are there before. */
    pods: { type: 'string', default: '50000' },
    /** New pods a second; each causes eight requests and one deletion. */
    rate: { type: 'string', default: '20' },
    /** How long, for each controller. */
    minutes: { type: 'string', default: '60' },
    /** Without kube-controller-manager. */
    'no-peer': { type: 'boolean', default: false },
  },
});
const [pods, rate, minutes] = [Number(options.pods), Number(options.rate), Number(options.minutes)];
const nodeFlags = nodeFlagsFor(pods);
/** After the first pass, so that the garbage of the first list is not counted. */
const restMs = 30_000;
const startTimeoutMs = 300_000;

/** A controller while pods come, finish and are deleted. */
interface Observed {
  readonly pods: number;
  readonly failed: number;
  readonly usages: readonly [Usage, ...Usage[]];
  /** Of dustpan alone. */
  readonly lagMs?: number;
  readonly heapMiB?: readonly number[];
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
  const lagMs = Math.max(...samples.map((one) => one.lagMs));
  const heapMiB = samples.map((one) => one.heapMiB);
  return { ...result, usages: [first.usage, ...others.map(({ usage }) => usage)], lagMs, heapMiB };
}

async function measurePeer({ cluster }: Servers, client: ChurnClient, threshold: number): Promise<Observed> {
  const peer = await peerProcess(cluster, { threshold });
  try {
    await peer.start(startTimeoutMs);
    await sleep(restMs);
    const churn = client.run(rate, minutes * 60);
    const { result, samples } = await sampled(churn, scrapeEveryMs, () => usageOf(peer.pid));
    return { ...result, usages: samples };
  } finally {
    await peer.kill();
  }
}

/** The budget is for an hour with at least this churn. */
const isJudged = pods >= 50_000 && rate >= 20 && minutes >= 60;

function rows(ours: Observed, peer: Observed | undefined): string[][] {
  const both = (of: (observed: Observed) => string): { dustpan: string; peer: string } => ({
    dustpan: of(ours),
    peer: peer ? of(peer) : '',
  });
  const growth = growthPercent(ours);
  return [
    row(
      'memory before',
      both(({ usages }) => megabytes(usages[0].residentMiB)),
    ),
    row(
      `memory after ${(minutes / 6).toFixed(1)} min`,
      both((one) => megabytes(earlyMiB(one))),
    ),
    row(
      'memory at the end',
      both((one) => megabytes(lateMiB(one))),
    ),
    row(
      'memory over time, MiB',
      both(({ usages }) => course(usages.map((usage) => usage.residentMiB))),
    ),
    row('JavaScript heap in use over time, MiB', { dustpan: course(ours.heapMiB ?? []) }),
    row('growth between both', {
      ...both((one) => `${growthPercent(one).toFixed(1)} %`),
      budget: { text: '5 %', isMet: isJudged ? growth <= 5 : undefined },
    }),
    row(
      'memory, peak',
      both(({ usages }) => megabytes(Math.max(...usages.map(({ peakMiB }) => peakMiB)))),
    ),
    row(
      'CPU a minute',
      both((one) => `${cpuPerMinute(one).toFixed(1)} s`),
    ),
    row('longest delay of the event loop', { dustpan: `${(ours.lagMs ?? NaN).toFixed(1)} ms` }),
    row(
      'pods that came and finished (failed requests)',
      both((one) => `${one.pods} (${one.failed})`),
    ),
  ];
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

const megabytes = (mebibytes: number): string => `${(mebibytes * 1.048576).toFixed(0)} MB`;

// Last, because the functions above use the constants between them.
await benchInJail(['etcd', 'api', 'kcm'], async () => {
  await using servers = await startServers([dustpanUser]);
  const loaded = await loadPods(servers, { pods, due: 0 });
  const client = new ChurnClient(servers.api, loaded, pods);
  progress(`dustpan, ${minutes} min`);
  const ours = await measureDustpan(servers, client, loaded.threshold);
  await settled(servers.cluster);
  progress('kube-controller-manager');
  const peer = options['no-peer'] ? undefined : await measurePeer(servers, client, loaded.threshold);
  return {
    title: `churn, ${thousands(pods)} pods, ${rate} new ones a second for ${minutes} min`,
    conditions: [servers.version, `dustpan: \`${nodeFlags}\``],
    columns: besidePeer('kube-controller-manager'),
    rows: rows(ours, peer),
  } satisfies Result;
});
