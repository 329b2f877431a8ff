import { setTimeout as sleep } from 'node:timers/promises';
import type { DustpanProcess } from '../cluster/servers/dustpan-process.ts';
import { memoryOf, threadCpuSeconds, type Memory } from './agent-memory.ts';
import {
  costs,
  endedPass,
  passLoops,
  type CpuSample,
  type EndedPass,
  type Pass,
  type Window,
} from './agent-passes.ts';

/** A process over some time. */
export interface Watching {
  /** About every second. */
  readonly memory: readonly Memory[];
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly passes: readonly Pass[];
  /** Of the last scrape, and of the one before all. */
  readonly last: ReadonlyMap<string, number>;
  readonly first: ReadonlyMap<string, number>;
}

const sampleMs = 25;
const memoryMs = 1_000;

/** Looks at the agent from outside, and scrapes it as a Prometheus does. */
export async function watchAgent(
  agent: DustpanProcess,
  seconds: number,
  scrapeSeconds: number,
): Promise<Watching> {
  const [samples, memory]: [CpuSample[], Memory[]] = [[], []];
  const [scrapes, ended]: [Window[], EndedPass[]] = [[], []];
  const first = await agent.metrics();
  let last = first;
  const start = Date.now();
  const scrape = async (): Promise<void> => {
    const fromMs = Date.now();
    const metrics = await agent.metrics();
    scrapes.push({ fromMs, toMs: Date.now() + sampleMs });
    ended.push(...passLoops.flatMap((loop) => endedPass(loop, last, metrics) ?? []));
    last = metrics;
  };
  let scraping = Promise.resolve();
  const due = { memory: start, scrape: start + scrapeSeconds * 1_000 };
  while (Date.now() < start + seconds * 1_000) {
    const atMs = Date.now();
    samples.push({ atMs, cpuSeconds: threadCpuSeconds(agent.pid) });
    if (atMs >= due.memory) {
      memory.push(memoryOf(agent.pid));
      due.memory += memoryMs;
    }
    if (atMs >= due.scrape) {
      scraping = scraping.then(scrape);
      due.scrape += scrapeSeconds * 1_000;
    }
    await sleep(sampleMs);
  }
  await scraping;
  const [one, other] = [samples[0], samples.at(-1)];
  return {
    memory,
    ...{ seconds: (Date.now() - start) / 1_000, first, last },
    cpuSeconds: one && other ? other.cpuSeconds - one.cpuSeconds : NaN,
    passes: costs(ended, samples, scrapes),
  };
}
