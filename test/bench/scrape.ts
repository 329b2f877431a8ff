import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf, type Usage } from './process-usage.ts';

/** The sum of a metric's samples over all its labels; 0 when there is none. */
function metric(exposition: string, name: string): number {
  const samples = exposition.matchAll(new RegExp(`^${name}(?:\\{[^\\n]*\\})? (\\S+)$`, 'gm'));
  return [...samples].reduce((sum, [, value]) => sum + Number(value), 0);
}

/** The sample with this label; 0 when there is none. */
function labelled(exposition: string, name: string, label: string): number {
  return metric(exposition, `${name}(?=\\{[^}\\n]*${label}[,}])`);
}

/** What dustpan says of itself, and the kernel of it, at one moment. */
export interface Scrape {
  readonly atMs: number;
  readonly passes: number;
  readonly planSeconds: number;
  /** Longest since the scrape before, when they are less than 10 s apart. */
  readonly lagSeconds: number;
  readonly requests: number;
  readonly heapMb: number;
  /** When the last pass over pods ended, Unix time, and how many pods marked to be kept it saw. */
  readonly passAtMs: number;
  readonly keepMarked: number;
  readonly usage: Usage;
}

interface Scraped {
  readonly pid: number;
  readonly metricsUrl: string;
}

async function scrape({ pid, metricsUrl }: Scraped): Promise<Scrape> {
  const text = await read(metricsUrl).catch(() => read(metricsUrl));
  const plan = 'dustpan_pod_gc_plan_duration_seconds';
  return {
    atMs: performance.now(),
    passes: metric(text, `${plan}_count`),
    planSeconds: metric(text, `${plan}_sum`),
    lagSeconds: metric(text, 'nodejs_eventloop_lag_p99_seconds'),
    requests: metric(text, 'dustpan_rest_client_requests_total'),
    heapMb: metric(text, 'nodejs_heap_size_used_bytes') / 1e6,
    passAtMs: labelled(text, 'dustpan_loop_last_success_timestamp_seconds', 'loop="podgc"') * 1_000,
    keepMarked: labelled(text, 'dustpan_pod_gc_kept_pods', 'reason="KeepMarked"'),
    usage: usageOf(pid),
  };
}

/** Once more where it fails: a server closes a connection that a busy bench has not used for 5 s just as that comes back to it. */
async function read(url: string): Promise<string> {
  return await (await fetch(url)).text();
}

/** Scrapes until told otherwise; resolves with all scrapes. */
export async function scrapeUntil(
  scraped: Scraped,
  everyMs: number,
  isDone: (scrapes: readonly Scrape[]) => boolean,
): Promise<readonly Scrape[]> {
  const scrapes: Scrape[] = [];
  while (!isDone(scrapes)) {
    scrapes.push(await scrape(scraped));
    await sleep(everyMs);
  }
  return scrapes;
}

/** Times of the single plans, from how the histogram's sum grew from scrape to scrape. */
export function planTimes(scrapes: readonly Scrape[]): number[] {
  return scrapes.flatMap((now, i) => {
    const before = scrapes[i - 1] ?? { passes: 0, planSeconds: 0 };
    const passes = now.passes - before.passes;
    return passes > 0 ? [(now.planSeconds - before.planSeconds) / passes] : [];
  });
}
