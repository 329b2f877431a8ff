import { setTimeout as sleep } from 'node:timers/promises';
import { dustpanUser } from '../../cluster/controller/dustpan.ts';
import { mergePatch, strategicMergePatch, type ApiClient } from '../api-client.ts';
import { benchInJail, benchOptions, budgetsOf, course, median, progress, row, thousands } from '../bench.ts';
import {
  applyPolicy,
  firstPass,
  podPolicy,
  scrape,
  scrapeEveryMs,
  startController,
  type Scrape,
} from '../controller.ts';
import { loadPods, type BenchPods } from '../pods/bench-pods.ts';
import { podManifest, podStatus, variantOf } from '../pods/manifest.ts';
import { sampled } from '../process.ts';
import { startServers } from '../servers.ts';

const { pods, rate, minutes } = benchOptions({
  /** Pods that are there before. */
  pods: 50_000,
  /** New pods a second; each causes eight requests and one deletion. */
  rate: 20,
  /** How long. */
  minutes: 60,
});
/** After the first pass, so that the garbage of the first list is not counted. */
const restMs = 30_000;

interface Churn {
  /** Pods that live a few seconds and finish; nobody but the collector deletes them. */
  readonly pods: number;
  readonly failed: number;
}

/** More pods under way are not started: a server that pauses can catch up, one that is too slow cannot. */
const maxUnderWay = 200;
const stepMs = 1_000;
const tickMs = 20;

/** Creates pods evenly, each bound, running and finished a second after the other, and changes a running pod four times meanwhile. */
class ChurnClient {
  readonly #api: ApiClient;
  readonly #loaded: Pick<BenchPods, 'placeOf'>;
  readonly #running: readonly number[];
  #next = 0;

  constructor(api: ApiClient, loaded: Pick<BenchPods, 'placeOf'>, count: number) {
    this.#api = api;
    this.#loaded = loaded;
    this.#running = Array.from({ length: count }, (_, i) => i).filter((i) => variantOf(i) === 'running');
  }

  /** Starts so many pods a second; a second run continues where the first ended. */
  async run(perSecond: number, seconds: number): Promise<Churn> {
    const underWay = new Set<Promise<void>>();
    const first = this.#next;
    const startedAtMs = performance.now();
    const elapsed = (): number => (performance.now() - startedAtMs) / 1_000;
    let failed = 0;
    while (elapsed() < seconds) {
      while (this.#next < first + Math.floor(elapsed() * perSecond) && underWay.size < maxUnderWay) {
        const life = this.#live(this.#next++)
          .catch((err: unknown) => {
            if (failed++ === 0) process.stderr.write(`bench: a request failed: ${String(err)}\n`);
          })
          .finally(() => underWay.delete(life));
        underWay.add(life);
      }
      await sleep(tickMs);
    }
    await Promise.all(underWay);
    return { pods: this.#next - first - failed, failed };
  }

  async #live(index: number): Promise<void> {
    const { namespace, node } = this.#loaded.placeOf(index);
    const name = `churn-${index}`;
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    await this.#api.send('POST', pods, { body: podManifest(name, 'succeeded') });
    const target = { apiVersion: 'v1', kind: 'Node', name: node };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name }, target };
    await this.#api.send('POST', `${pods}/${name}/binding`, { body: binding });
    for (const variant of ['running', 'succeeded'] as const) {
      await sleep(stepMs);
      const status = { body: { status: podStatus(variant) }, contentType: strategicMergePatch };
      await this.#api.send('PATCH', `${pods}/${name}/status`, status);
      await this.#touch(index);
    }
  }

  /** A condition of one pod that runs all the time, and a label of another. */
  async #touch(index: number): Promise<void> {
    const condition = { type: 'bench.example.com/Heartbeat', status: 'True', message: `beat ${index}` };
    const status = { body: { status: { conditions: [condition] } }, contentType: strategicMergePatch };
    await this.#api.send('PATCH', `${this.#runningPath(index)}/status`, status);
    const labels = { 'bench.example.com/turn': String(index) };
    const path = this.#runningPath(index + Math.floor(this.#running.length / 2));
    await this.#api.send('PATCH', path, { body: { metadata: { labels } }, contentType: mergePatch });
  }

  #runningPath(index: number): string {
    const { namespace, name } = this.#loaded.placeOf(this.#running[index % this.#running.length] ?? 0);
    return `/api/v1/namespaces/${namespace}/pods/${name}`;
  }
}

/** The budget is for an hour with at least this churn. */
const budget = budgetsOf(pods >= 50_000 && rate >= 20 && minutes >= 60);

function rows(samples: readonly [Scrape, ...Scrape[]], churn: Churn): string[][] {
  const residentMiB = samples.map(({ usage }) => usage.residentMiB);
  // A sixtieth of the time: of an hour the minute after the first ten, and the last.
  const window = Math.max(1, Math.round(samples.length / 60));
  const from = Math.floor(samples.length / 6);
  const early = median(residentMiB.slice(from, from + window));
  const growth = (median(residentMiB.slice(-window)) / early - 1) * 100;
  const cpuSeconds = (samples.at(-1) ?? samples[0]).usage.cpuSeconds - samples[0].usage.cpuSeconds;
  return [
    row(`growth of memory after ${(minutes / 6).toFixed(1)} min`, `${growth.toFixed(1)} %`, {
      budget: budget('5 %', growth <= 5),
    }),
    row('memory over time, MiB', course(residentMiB)),
    row('JavaScript heap in use over time, MiB', course(samples.map(({ heapMiB }) => heapMiB))),
    row('CPU a minute', `${(cpuSeconds / minutes).toFixed(1)} s`),
    row('pods that came and finished (failed requests)', `${churn.pods} (${churn.failed})`),
  ].map(([what = '', dustpan = '', , ...verdict]) => [what, dustpan, ...verdict]);
}

// Last, because the functions above use the constants between them.
await benchInJail(['etcd', 'api'], async () => {
  await using servers = await startServers([dustpanUser]);
  const loaded = await loadPods(servers, { pods, due: 0 });
  const client = new ChurnClient(servers.api, loaded, pods);
  progress(`dustpan, ${minutes} min`);
  await applyPolicy(servers.cluster, podPolicy('Enforce', loaded.threshold));
  await using dustpan = await startController(servers.cluster);
  await firstPass(dustpan);
  await sleep(restMs);
  await scrape(dustpan);
  const churn = client.run(rate, minutes * 60);
  const { result, samples } = await sampled(churn, scrapeEveryMs, () => scrape(dustpan));
  return {
    title: `churn, ${thousands(pods)} pods, ${rate} new ones a second for ${minutes} min`,
    conditions: [servers.version],
    columns: ['', 'dustpan', 'budget', ''],
    rows: rows(samples, result),
  };
});
