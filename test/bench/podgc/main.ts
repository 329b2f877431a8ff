import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { dustpanUser } from '../../cluster/controller/dustpan.ts';
import { PartProcess } from '../../cluster/servers/part-process.ts';
import { partSpec } from '../../cluster/servers/part-spec.ts';
import { freePorts } from '../../cluster/servers/ports.ts';
import { waitUntil } from '../../cluster/servers/waiting.ts';
import { sendAll } from '../api-client.ts';
import {
  benchInJail,
  benchOptions,
  besidePeer,
  budgetsOf,
  megabytes,
  progress,
  row,
  thousands,
} from '../bench.ts';
import {
  applyPolicy,
  firstPass,
  fullPodPolicy,
  longestPlanMs,
  podPolicy,
  scrape,
  scrapeEveryMs,
  startController,
  type Scrape,
} from '../controller.ts';
import { loadPods, type BenchPods } from '../pods/bench-pods.ts';
import { sampled, usageOf, type Usage } from '../process.ts';
import { historySeconds, settled, startServers, type Servers } from '../servers.ts';

const { pods, rounds } = benchOptions({
  pods: 20_000,
  /** How often dustpan works off the backlog. */
  rounds: 3,
});
/** With fewer deletes, it is chance whether the API server collects its own garbage meanwhile, which costs as much as 6 000 deletes. */
const due = Math.floor(pods / 5);
/** As many as dustpan has (src/controllers/podgc/act.ts). */
const inFlight = 32;
const patience = { timeout: 300_000, interval: 250 };
/** Limits of the peer's client: its defaults, and the limits that a large cluster sets. */
const peerLimits = { default: { qps: 20, burst: 30 }, raised: { qps: 1_000, burst: 2_000 } } as const;
const peerSeconds = 60;

interface Rate {
  readonly count: number;
  readonly seconds: number;
}

/** How a controller worked off its backlog from a cold start, measured from outside: the rate is that after its first deletion. */
interface Clearing extends Rate {
  readonly cpuSecondsToFirstDelete: number;
  readonly usage: Usage;
}

/** Observes a controller from its start until the backlog is gone, or long enough to know its rate. */
async function watchClearing(
  process: { readonly pid: number | undefined },
  loaded: BenchPods,
  atMostSeconds: number,
): Promise<Clearing> {
  const observe = async (what: string, isDone: (left: number, atMs: number) => boolean) => {
    let seen = { left: NaN, atMs: NaN };
    await waitUntil(
      what,
      async () => {
        // A count takes etcd up to 4 ms of CPU time, as much as a delete takes in total.
        seen = { left: await loaded.countDue(), atMs: performance.now() };
        return isDone(seen.left, seen.atMs);
      },
      patience,
    );
    return { ...seen, usage: usageOf(process.pid) };
  };
  const first = await observe('the first pod is deleted', (left) => left < due);
  const isLong = (atMs: number): boolean => atMs - first.atMs > atMostSeconds * 1_000;
  const last = await observe('the backlog is gone', (left, atMs) => left === 0 || isLong(atMs));
  return {
    cpuSecondsToFirstDelete: first.usage.cpuSeconds,
    count: first.left - last.left,
    seconds: (last.atMs - first.atMs) / 1_000,
    usage: last.usage,
  };
}

/** The rate of a client that only deletes. */
async function rawDeletes({ api }: Servers, loaded: BenchPods): Promise<Rate> {
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
  const rate = await sendAll(loaded.due, inFlight, ({ namespace, name }) =>
    api.send('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, { body }),
  );
  progress(`raw delete rate: ${perSecond(rate)} a second`);
  await restored(loaded);
  return rate;
}

/** Restores the due pods after the API server has forgotten their deletion. */
async function restored(loaded: BenchPods): Promise<void> {
  await sleep(historySeconds * 1_000);
  await loaded.restore();
}

/** dustpan with nothing to delete: its first pass, and the time after it. */
async function measureRest({ cluster }: Servers, policy: object): Promise<readonly [Scrape, ...Scrape[]]> {
  progress('dustpan, DryRun');
  await applyPolicy(cluster, policy);
  await using dustpan = await startController(cluster);
  const first = await firstPass(dustpan);
  const { samples } = await sampled(sleep(historySeconds * 1_000), scrapeEveryMs, () => scrape(dustpan));
  return [first, ...samples];
}

/** kube-controller-manager with only its pod garbage collector. */
async function measurePeer(
  { cluster }: Servers,
  loaded: BenchPods,
  { qps, burst }: { readonly qps: number; readonly burst: number },
): Promise<Clearing> {
  progress(`kube-controller-manager, ${qps} requests a second`);
  await settled(cluster);
  const [kcm = 0] = await freePorts(1);
  const args = [`--terminated-pod-gc-threshold=${loaded.threshold}`];
  args.push(`--kube-api-qps=${qps}`, `--kube-api-burst=${burst}`);
  const spec = partSpec('kcm', {
    dir: cluster.dir,
    bin: process.env['DUSTPAN_BED_BIN'] ?? '',
    ca: readFileSync(cluster.caFile, 'utf8'),
    ports: { etcd: 0, peer: 0, api: 0, kcm, sched: 0, registry: 0 },
    options: { parts: ['kcm'], kcm: { controllers: 'pod-garbage-collector-controller', args } },
  });
  const peer = new PartProcess(spec);
  const starting = peer.start(patience.timeout);
  try {
    return await watchClearing(peer, loaded, peerSeconds);
  } finally {
    await starting;
    await peer.kill();
    await restored(loaded);
  }
}

interface Cleared extends Clearing {
  readonly scrapes: readonly Scrape[];
}

async function measureClearing({ cluster }: Servers, loaded: BenchPods): Promise<Cleared> {
  progress('dustpan, Enforce');
  await applyPolicy(cluster, podPolicy('Enforce', loaded.threshold));
  const cleared = await clearOnce(cluster, loaded);
  // Only now: dustpan would delete the restored pods, too.
  await loaded.restore();
  return cleared;
}

async function clearOnce(cluster: Servers['cluster'], loaded: BenchPods): Promise<Cleared> {
  await using dustpan = await startController(cluster);
  const clearing = watchClearing(dustpan, loaded, patience.timeout / 1_000);
  const { result, samples } = await sampled(clearing, scrapeEveryMs, () => scrape(dustpan));
  progress(`dustpan: ${perSecond(result)} a second`);
  const rest = await sampled(sleep(historySeconds * 1_000), scrapeEveryMs, () => scrape(dustpan));
  return { ...result, scrapes: [...samples, ...rest.samples] };
}

/** Budgets are for 100 000 pods. */
const budget = budgetsOf(pods === 100_000);

function startRows(
  rest: readonly [Scrape, ...Scrape[]],
  fullRest: readonly Scrape[],
  { peer, cleared }: { readonly peer: Clearing; readonly cleared: readonly Cleared[] },
): string[][] {
  const runs = [rest, ...cleared.map(({ scrapes }) => scrapes)];
  const all = runs.flat();
  const peakMb = megabytes(Math.max(...all.map(({ usage }) => usage.peakMiB)));
  const planRow = (what: string, planMs: number) =>
    row(what, ms(planMs), { budget: budget('250 ms', planMs <= 250) });
  const lagMs = Math.max(...all.map((one) => one.lagMs));
  const [[first], cpu, peerCpu] = [rest, rest[0].usage.cpuSeconds, peer.cpuSecondsToFirstDelete];
  const last = rest.at(-1) ?? first;
  const requests = ((last.requests - first.requests) * 60_000) / (last.atMs - first.atMs);
  return [
    row('memory, peak', `${peakMb.toFixed(0)} MB`, {
      peer: `${megabytes(peer.usage.peakMiB).toFixed(0)} MB`,
      budget: budget('200 MB', peakMb <= 200),
    }),
    row('CPU to the first pass', `${cpu.toFixed(1)} s`, {
      peer: `${peerCpu.toFixed(1)} s`,
      budget: budget("a third of the peer's", cpu <= peerCpu / 3),
    }),
    planRow('longest plan', Math.max(...runs.map(longestPlanMs))),
    // The most expensive policy that the documentation shows; the budget holds for it too.
    planRow('longest plan, the policy of docs/concepts.md', longestPlanMs(fullRest)),
    row('longest delay of the event loop', ms(lagMs), { budget: budget('300 ms', lagMs <= 300) }),
    row('requests a minute at rest, besides watches', requests.toFixed(1), {
      budget: budget('watches only', requests <= 1),
    }),
  ];
}

interface Rates {
  readonly ours: readonly Clearing[];
  readonly plain: readonly Rate[];
  readonly peer: Rate;
  readonly raisedPeer: Clearing;
}

/** Rates of all rounds together: single rounds depend on how often the API server collects its own garbage. */
function rateRows({ ours, plain, peer, raisedPeer }: Rates): string[][] {
  const [all, allPlain] = [total(ours), total(plain)];
  const share = (100 * rateOf(all)) / rateOf(allPlain);
  const text = (rates: readonly Rate[]): string =>
    `${perSecond(total(rates))} (${rates.map(perSecond).join(', ')})`;
  return [
    row('deletes a second', text(ours), { peer: perSecond(peer) }),
    row('… peer with its limits raised', '', {
      peer: perSecond(raisedPeer),
      budget: budget('not faster', rateOf(all) >= rateOf(raisedPeer)),
    }),
    row(`… plain client, ${inFlight} in flight`, `${share.toFixed(0)} % of ${text(plain)}`, {
      budget: budget('80 %', share >= 80),
    }),
    row('CPU of a delete', ms(cpuMsADelete(ours)), { peer: ms(cpuMsADelete([raisedPeer])) }),
  ];
}

const total = (rates: readonly Rate[]): Rate => ({
  count: rates.reduce((sum, { count }) => sum + count, 0),
  seconds: rates.reduce((sum, { seconds }) => sum + seconds, 0),
});
const cpuMsADelete = (clearings: readonly Clearing[]): number => {
  const seconds = clearings.map(
    ({ usage, cpuSecondsToFirstDelete }) => usage.cpuSeconds - cpuSecondsToFirstDelete,
  );
  return (1_000 * seconds.reduce((sum, one) => sum + one, 0)) / total(clearings).count;
};
const rateOf = ({ count, seconds }: Rate): number => count / seconds;
const perSecond = (rate: Rate): string => rateOf(rate).toFixed(0);
const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`;

// Last, because the functions above use the constants between them.
await benchInJail(['etcd', 'api', 'kcm'], async () => {
  await using servers = await startServers([dustpanUser]);
  const loaded = await loadPods(servers, { pods, due });
  // The first deletes after so many writes are slow: they warm up both servers.
  await rawDeletes(servers, loaded);
  const rest = await measureRest(servers, podPolicy('DryRun', loaded.threshold));
  // Right after it, because a machine is not equally fast all the time.
  const peer = await measurePeer(servers, loaded, peerLimits.default);
  const raisedPeer = await measurePeer(servers, loaded, peerLimits.raised);
  const fullRest = await measureRest(servers, await fullPodPolicy());
  const cleared: Cleared[] = [];
  const plain: Rate[] = [];
  for (let i = 0; i < rounds; i++) {
    plain.push(await rawDeletes(servers, loaded));
    cleared.push(await measureClearing(servers, loaded));
  }
  return {
    title: `podgc, ${thousands(pods)} pods of ${(loaded.podBytes / 1_000).toFixed(1)} KB, ${thousands(due)} over the threshold`,
    conditions: [servers.version],
    columns: besidePeer('kube-controller-manager'),
    rows: [
      ...startRows(rest, fullRest, { peer, cleared }),
      ...rateRows({ ours: cleared, plain, peer, raisedPeer }),
    ],
  };
});
