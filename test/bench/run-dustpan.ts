import { setTimeout as sleep } from 'node:timers/promises';
import { dustpanUser, mountServiceAccount, startDustpan } from '../cluster/controller/dustpan.ts';
import type { DustpanProcess } from '../cluster/servers/dustpan-process.ts';
import type { Bed, BenchPods } from './bench-pods.ts';
import { cyclesWithin, type WholeCycles } from './gc-cycles.ts';
import { median } from './median.ts';
import { usageOf } from './process-usage.ts';
import { planTimes, scrapeUntil, type Scrape } from './scrape.ts';
import { historySeconds } from './settle.ts';
import { watchClearing, type Clearing } from './watch-collector.ts';
import { policyManifest } from '../manifests.ts';

/** dustpan with nothing to delete: reading everything, then watching. */
export interface AtRest {
  readonly secondsToFirstPass: number;
  readonly cpuSecondsToFirstPass: number;
  readonly peakMb: number;
  /** Median of the second half of the watching. */
  readonly steadyMb: number;
  readonly heapMb: number;
  readonly planMs: readonly number[];
  readonly startLagMs: number;
  readonly restLagMs: number;
  readonly requestsPerMinute: number;
  readonly cpuSecondsPerMinute: number;
}

/** How dustpan's Node is run. */
export interface NodeRuntime {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Each is garbage of 270 KB and CPU time: a Prometheus asks less often still. */
const scrapeEveryMs = 5_000;

/** Starts dustpan on a policy in DryRun. */
export async function measureAtRest(
  { cluster }: Pick<Bed, 'cluster'>,
  { threshold }: Pick<BenchPods, 'threshold'>,
  runtime: NodeRuntime,
): Promise<AtRest> {
  await applyBenchPolicy(cluster, { threshold, mode: 'DryRun' });
  const startedAtMs = performance.now();
  await using dustpan = await startAsInPod(cluster, runtime);
  const starting = await firstPassOf(dustpan);
  const { scrapes: resting, steadyMb } = await watchRest(dustpan);
  const [first, last] = [starting.at(-1), resting.at(-1)];
  if (!first || !last) throw new Error('no scrapes');
  const minutes = (last.atMs - first.atMs) / 60_000;
  return {
    secondsToFirstPass: (first.atMs - startedAtMs) / 1_000,
    cpuSecondsToFirstPass: first.usage.cpuSeconds,
    peakMb: last.usage.peakMb,
    steadyMb,
    heapMb: median(resting.slice(resting.length / 2).map(({ heapMb }) => heapMb)),
    planMs: planTimes([...starting, ...resting]).map((seconds) => seconds * 1_000),
    startLagMs: longestLagMs(starting),
    restLagMs: longestLagMs(resting.slice(1)),
    requestsPerMinute: (last.requests - first.requests) / minutes,
    cpuSecondsPerMinute: (last.usage.cpuSeconds - first.usage.cpuSeconds) / minutes,
  };
}

/** A scrape costs more than what it is to measure: until the caches are full only the kubelet's question is asked. */
async function firstPassOf(dustpan: DustpanProcess): Promise<readonly Scrape[]> {
  while ((await dustpan.probe('/readyz')) !== 200) await sleep(250);
  return await scrapeUntil(dustpan, 250, (all) => (all.at(-1)?.passes ?? 0) > 0);
}

interface Rest {
  readonly scrapes: readonly Scrape[];
  /** Median of the second half, looked at once a second. */
  readonly steadyMb: number;
}

async function watchRest(dustpan: DustpanProcess): Promise<Rest> {
  const restAt = performance.now();
  const isOver = (): boolean => performance.now() - restAt > historySeconds * 1_000;
  const resident: number[] = [];
  const look = async (): Promise<void> => {
    while (!isOver()) {
      resident.push(usageOf(dustpan.pid).residentMb);
      await sleep(1_000);
    }
  };
  const [scrapes] = await Promise.all([scrapeUntil(dustpan, scrapeEveryMs, isOver), look()]);
  return { scrapes, steadyMb: median(resident.slice(resident.length / 2)) };
}

/** dustpan clearing the backlog, from a cold start. */
export interface Cleared extends Clearing {
  /** What of it fell into whole cycles of the API server's garbage collector. */
  readonly whole: WholeCycles | undefined;
  readonly lagMs: number;
  readonly steadyMb: number;
  readonly peakMb: number;
}

/** Starts dustpan on a policy in Enforce and follows it until the backlog is gone. */
export async function measureClearing(
  { cluster, etcd }: Bed,
  pods: BenchPods,
  runtime: NodeRuntime,
): Promise<Cleared> {
  await applyBenchPolicy(cluster, { threshold: pods.threshold, mode: 'Enforce' });
  const startedAtMs = performance.now();
  await using dustpan = await startAsInPod(cluster, runtime);
  let cleared = false;
  const [{ clearing, marks }, busy] = await Promise.all([
    watchClearing({
      cluster,
      startedAtMs,
      pid: () => dustpan.pid,
      countLeft: () => pods.countDue(etcd),
      due: pods.due.length,
      atMostSeconds: 300,
    }).finally(() => {
      cleared = true;
    }),
    scrapeUntil(dustpan, scrapeEveryMs, () => cleared),
  ]);
  const whole = await cyclesWithin(marks, cluster);
  const { scrapes: resting, steadyMb } = await watchRest(dustpan);
  return {
    ...clearing,
    whole,
    lagMs: longestLagMs(busy),
    steadyMb,
    peakMb: resting.at(-1)?.usage.peakMb ?? clearing.usage.peakMb,
  };
}

/** Starts the controller with a service account and no more rights than it needs. */
export function startAsInPod(cluster: Bed['cluster'], runtime: NodeRuntime): Promise<DustpanProcess> {
  // As in a pod: a kubeconfig would load the library that reads it, which no pod has.
  const env = { ...runtime.env, ...mountServiceAccount(cluster, dustpanUser.name) };
  return startDustpan({ env, dir: cluster.dir, nodeArgs: runtime.args });
}

/** Writes the one policy of the bench. */
export async function applyBenchPolicy(
  cluster: Bed['cluster'],
  { threshold, mode }: { readonly threshold: number; readonly mode: string },
): Promise<void> {
  const policy = policyManifest('bench', {
    mode,
    pods: {
      terminated: { threshold },
      outOfService: {},
      orphaned: {},
      unscheduledTerminating: {},
    },
  });
  const { code, stderr } = await cluster.run('kubectl', ['apply', '-f', '-'], JSON.stringify(policy));
  if (code !== 0) throw new Error(`writing the policy: ${stderr}`);
}

const longestLagMs = (scrapes: readonly Scrape[]): number =>
  Math.max(0, ...scrapes.map(({ lagSeconds }) => lagSeconds * 1_000));
