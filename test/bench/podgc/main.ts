import { setTimeout as sleep } from 'node:timers/promises';
import { scriptOptions } from '../../../scripts/arguments.ts';
import { dustpanUser } from '../../cluster/controller/dustpan.ts';
import { sendAll } from '../api-client.ts';
import { benchInJail, besidePeer, progress, row, thousands, type Result } from '../bench.ts';
import { nodeFlagsFor } from '../controller-flags.ts';
import {
  applyPolicy,
  firstPass,
  longestPlanMs,
  podPolicy,
  fullPodPolicy,
  scrape,
  scrapeEveryMs,
  startController,
  type Scrape,
} from '../controller.ts';
import { peerLimits, peerProcess } from '../peer.ts';
import { loadPods, type BenchPods } from '../pods/bench-pods.ts';
import { sampled } from '../process.ts';
import { historySeconds, settled, startServers, type Servers } from '../servers.ts';
import { watchClearing, type Clearing } from './clearing.ts';

const { values: options } = scriptOptions({
  options: {
    pods: { type: 'string', default: '20000' },
    /** How often dustpan works off the backlog; 0 measures only its start and its rest. */
    rounds: { type: 'string', default: '3' },
  },
});
const [pods, rounds] = [Number(options.pods), Number(options.rounds)];
const nodeFlags = nodeFlagsFor(pods);
/** With fewer deletes, it is chance whether the API server collects its own garbage meanwhile, which costs as much as 6 000 deletes. */
const due = Math.floor(pods / 5);
/** As many as dustpan has (src/controllers/podgc/act.ts). */
const inFlight = 32;
const clearingSeconds = 300;
const peerSeconds = 60;

interface Measured {
  readonly rest: Rest;
  /** With the policy of docs/concepts.md, which has selectors, a kept number per owner and the protection of Jobs. */
  readonly fullRest: Rest;
  readonly peer: Clearing;
  /** With its client limits raised. */
  readonly raisedPeer: Clearing;
  readonly rounds: readonly Cleared[];
  readonly raw: readonly Rate[];
}

type Rate = Pick<Clearing, 'count' | 'seconds'>;

async function measure(servers: Servers, loaded: BenchPods): Promise<Measured> {
  // The first deletes after so many writes are slow: they warm up both servers.
  await rawDeletes(servers, loaded);
  const rest = await measureRest(servers, podPolicy('DryRun', loaded.threshold));
  // Right after it, because a machine is not equally fast all the time.
  const peer = await measurePeer(servers, loaded, peerLimits.default);
  const raisedPeer = await measurePeer(servers, loaded, peerLimits.raised);
  const fullRest = await measureRest(servers, await fullPodPolicy());
  const cleared: Cleared[] = [];
  const raw: Rate[] = [];
  for (let i = 0; i < rounds; i++) {
    raw.push(await rawDeletes(servers, loaded));
    cleared.push(await measureClearing(servers, loaded));
  }
  return { rest, fullRest, peer, raisedPeer, rounds: cleared, raw };
}

/** The rate of a client that only deletes. */
async function rawDeletes({ api }: Servers, loaded: BenchPods): Promise<Rate> {
  const rate = await sendAll(loaded.due, inFlight, ({ namespace, name }) =>
    api.send('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, {
      body: { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 },
    }),
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

/** dustpan with nothing to delete, from its start. */
interface Rest {
  readonly first: Scrape;
  /** From the first pass on. */
  readonly scrapes: readonly Scrape[];
}

async function measureRest({ cluster }: Servers, policy: object): Promise<Rest> {
  progress('dustpan, DryRun');
  await applyPolicy(cluster, policy);
  await using dustpan = await startController(cluster, nodeFlags);
  const first = await firstPass(dustpan);
  const { samples } = await sampled(sleep(historySeconds * 1_000), scrapeEveryMs, () => scrape(dustpan));
  return { first, scrapes: samples };
}

async function measurePeer(
  { cluster }: Servers,
  loaded: BenchPods,
  limits: { readonly qps: number; readonly burst: number },
): Promise<Clearing> {
  progress(`kube-controller-manager, ${limits.qps} requests a second`);
  await settled(cluster);
  const peer = await peerProcess(cluster, { threshold: loaded.threshold, limits });
  const starting = peer.start(clearingSeconds * 1_000);
  const backlog = { due, countLeft: loaded.countDue };
  try {
    return await watchClearing(peer, { ...backlog, atMostSeconds: peerSeconds });
  } finally {
    await starting;
    await peer.kill();
    await restored(loaded);
  }
}

/** dustpan working off the backlog from a cold start. */
interface Cleared extends Clearing {
  readonly scrapes: readonly Scrape[];
}

async function measureClearing({ cluster }: Servers, loaded: BenchPods): Promise<Cleared> {
  progress('dustpan, Enforce');
  await applyPolicy(cluster, podPolicy('Enforce', loaded.threshold));
  await using dustpan = await startController(cluster, nodeFlags);
  const backlog = { due, countLeft: loaded.countDue, atMostSeconds: clearingSeconds };
  const clearing = watchClearing(dustpan, backlog);
  const { result, samples } = await sampled(clearing, scrapeEveryMs, () => scrape(dustpan));
  progress(`dustpan: ${perSecond(result)} a second`);
  const rest = await sampled(sleep(historySeconds * 1_000), scrapeEveryMs, () => scrape(dustpan));
  await loaded.restore();
  return { ...result, scrapes: [...samples, ...rest.samples] };
}

function resultOf(loaded: BenchPods, version: string, measured: Measured): Result {
  const size = `${thousands(pods)} pods of ${(loaded.podBytes / 1_000).toFixed(1)} KB, ${thousands(due)} over the threshold`;
  return {
    title: `podgc, ${size}`,
    conditions: [version, `dustpan: \`${nodeFlags}\``],
    columns: besidePeer('kube-controller-manager'),
    rows: [...startRows(measured), ...readmeRows(measured), ...rateRows(measured)],
  };
}

/** Budgets are for 100 000 pods. */
const judged = (isMet: boolean): boolean | undefined => (pods === 100_000 ? isMet : undefined);

function startRows({ rest, peer, rounds: cleared }: Measured): string[][] {
  const runs = [[rest.first, ...rest.scrapes], ...cleared.map(({ scrapes }) => scrapes)];
  const all = runs.flat();
  const peakMb = megabytes(Math.max(...all.map(({ usage }) => usage.peakMiB)));
  const planMs = Math.max(...runs.map(longestPlanMs));
  const lagMs = Math.max(...all.map((one) => one.lagMs));
  const [cpu, peerCpu] = [rest.first.usage.cpuSeconds, peer.cpuSecondsToFirstDelete];
  const last = rest.scrapes.at(-1) ?? rest.first;
  const perMinute = 60_000 / (last.atMs - rest.first.atMs);
  const requests = (last.requests - rest.first.requests) * perMinute;
  return [
    row('memory, peak', {
      ...{ dustpan: `${peakMb.toFixed(0)} MB`, peer: `${megabytes(peer.usage.peakMiB).toFixed(0)} MB` },
      budget: { text: '200 MB', isMet: judged(peakMb <= 200) },
    }),
    row('CPU to the first pass', {
      ...{ dustpan: seconds(cpu), peer: seconds(peerCpu) },
      budget: { text: "a third of the peer's", isMet: judged(cpu <= peerCpu / 3) },
    }),
    row('longest plan', { dustpan: ms(planMs), budget: { text: '250 ms', isMet: judged(planMs <= 250) } }),
    row('longest delay of the event loop', {
      ...{ dustpan: ms(lagMs), budget: { text: '300 ms', isMet: judged(lagMs <= 300) } },
    }),
    row('requests a minute at rest', {
      ...{ dustpan: requests.toFixed(1), budget: { text: 'watches only', isMet: judged(requests <= 1) } },
    }),
  ];
}

/** The most expensive policy that the documentation shows; the budgets hold for it too. */
function readmeRows({ fullRest: { first, scrapes } }: Measured): string[][] {
  const planMs = longestPlanMs([first, ...scrapes]);
  const budget = { text: '250 ms', isMet: judged(planMs <= 250) };
  return [row('longest plan, the policy of docs/concepts.md', { dustpan: ms(planMs), budget })];
}

/** Rates of all rounds together: single rounds depend on how often the API server collects its own garbage. */
function rateRows({ peer, raisedPeer, rounds: cleared, raw }: Measured): string[][] {
  const [ours, plain] = [total(cleared), total(raw)];
  const share = (100 * rateOf(ours)) / rateOf(plain);
  const isFaster = rateOf(ours) >= rateOf(raisedPeer);
  const rates = cleared.map(perSecond).join(', ');
  if (rounds === 0) return [row('deletes a second', { dustpan: '', peer: perSecond(peer) })];
  return [
    row('deletes a second', { dustpan: `${perSecond(ours)} (${rates})`, peer: perSecond(peer) }),
    row('… peer with its limits raised', {
      ...{
        dustpan: '',
        peer: perSecond(raisedPeer),
        budget: { text: 'not faster', isMet: judged(isFaster) },
      },
    }),
    row(`… plain client, ${inFlight} in flight`, {
      ...{ dustpan: `${share.toFixed(0)} % of ${perSecond(plain)} (${raw.map(perSecond).join(', ')})` },
      budget: { text: '80 %', isMet: judged(share >= 80) },
    }),
  ];
}

const total = (rates: readonly Rate[]): Rate => ({
  count: rates.reduce((sum, { count }) => sum + count, 0),
  seconds: rates.reduce((sum, one) => sum + one.seconds, 0),
});
const rateOf = ({ count, seconds: taken }: Rate): number => count / taken;
const perSecond = (rate: Rate): string => rateOf(rate).toFixed(0);
const megabytes = (mebibytes: number): number => mebibytes * 1.048576;
const seconds = (value: number): string => `${value.toFixed(1)} s`;
const ms = (value: number): string => `${value.toFixed(1)} ms`;

// Last, because the functions above use the constants between them.
await benchInJail(['etcd', 'api', 'kcm'], async () => {
  await using servers = await startServers([dustpanUser]);
  const loaded = await loadPods(servers, { pods, due });
  return resultOf(loaded, servers.version, await measure(servers, loaded));
});
