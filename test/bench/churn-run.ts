import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bed } from './bench-pods.ts';
import { putCanary, startUpstream } from './canary.ts';
import type { ChurnClient, Churned } from './churn-client.ts';
import { behindMs } from './churn-view.ts';
import { probeFlag, takeDelays, type Delays } from './event-loop-probe.ts';
import { usageOfPart } from './process-usage.ts';
import { usageOf, type Usage } from './process-usage.ts';
import { applyBenchPolicy, startAsInPod, type NodeRuntime } from './run-dustpan.ts';
import { planTimes, scrapeUntil, type Scrape } from './scrape.ts';
import { settled } from './settle.ts';

/** A process while pods change, looked at once a second. */
export interface Observed {
  readonly churned: Churned;
  /** At rest, right before. */
  readonly before: Usage;
  readonly during: readonly Usage[];
}

/** dustpan while pods change. */
export interface DustpanObserved extends Observed {
  readonly delays: Delays;
  /** As dustpan exports it, of each second. */
  readonly lagMs: readonly number[];
  readonly planMs: readonly number[];
  readonly behindMs: readonly number[];
  readonly serverCpuSecondsPerMinute: Readonly<Record<'etcd' | 'api', number>>;
}

/** How pods change. */
interface Pace {
  readonly perSecond: number;
  readonly seconds: number;
}

/** Before the first change, so that what the first list left behind is gone. */
const restMs = 30_000;
/** Nothing is ever due: what is measured is following. */
const threshold = 10_000_000;

/** dustpan in Enforce, with nothing to delete, while the client changes pods. */
export async function measureDustpan(
  { cluster }: Pick<Bed, 'cluster'>,
  client: ChurnClient,
  { runtime, ...pace }: Pace & { readonly runtime: NodeRuntime },
): Promise<DustpanObserved> {
  await applyBenchPolicy(cluster, { threshold, mode: 'Enforce' });
  const probe = join(cluster.dir, 'delays.json');
  const args = [...runtime.args, probeFlag(probe)];
  await using dustpan = await startAsInPod(cluster, { ...runtime, args });
  await scrapeUntil(dustpan, 500, (all) => (all.at(-1)?.passes ?? 0) > 0);
  const restAt = performance.now();
  const resting = await scrapeUntil(dustpan, 1_000, () => performance.now() - restAt > restMs);
  const before = last(resting);
  await takeDelays(dustpan.pid, probe);
  const serversBefore = serverCpu(cluster);
  let isDone = false;
  const [churned, scrapes] = await Promise.all([
    client.run(pace.perSecond, pace.seconds).finally(() => (isDone = true)),
    scrapeUntil(dustpan, 1_000, () => isDone),
  ]);
  const [servers, minutes] = [serverCpu(cluster), churned.seconds / 60];
  return {
    churned,
    before: before.usage,
    during: scrapes.map(({ usage }) => usage),
    delays: await takeDelays(dustpan.pid, probe),
    lagMs: scrapes.map(({ lagSeconds }) => lagSeconds * 1_000),
    // The first of them is that of all passes before.
    planMs: planTimes([before, ...scrapes])
      .slice(1)
      .map((seconds) => seconds * 1_000),
    behindMs: behindMs([before, ...scrapes], client.markedAtMs),
    serverCpuSecondsPerMinute: {
      etcd: (servers.etcd - serversBefore.etcd) / minutes,
      api: (servers.api - serversBefore.api) / minutes,
    },
  };
}

/** kube-controller-manager with only its pod garbage collector, while the client changes pods. */
export async function measureUpstreamChurn(bed: Bed, client: ChurnClient, pace: Pace): Promise<Observed> {
  const { cluster } = bed;
  await putCanary(bed);
  await settled(cluster);
  try {
    await startUpstream(bed);
    await sleep(restMs);
    const pid = cluster.pid('kcm');
    if (pid === undefined)
      throw new Error(`kube-controller-manager ended:\n${await cluster.logs('kcm', 20)}`);
    const before = usageOf(pid);
    const during: Usage[] = [];
    let isDone = false;
    const look = async (): Promise<void> => {
      while (!isDone) {
        during.push(usageOf(pid));
        await sleep(1_000);
      }
    };
    const running = client.run(pace.perSecond, pace.seconds).finally(() => (isDone = true));
    const [churned] = await Promise.all([running, look()]);
    return { churned, before, during };
  } finally {
    await cluster.kill('kcm');
  }
}

function serverCpu(cluster: Bed['cluster']): Readonly<Record<'etcd' | 'api', number>> {
  const of = (part: 'etcd' | 'api'): number => usageOfPart(cluster, part).cpuSeconds;
  return { etcd: of('etcd'), api: of('api') };
}

function last(scrapes: readonly Scrape[]): Scrape {
  const scrape = scrapes.at(-1);
  if (!scrape) throw new Error('no scrapes');
  return scrape;
}
