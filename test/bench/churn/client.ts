import { setTimeout as sleep } from 'node:timers/promises';
import { mergePatch, strategicMergePatch, type ApiClient } from '../api-client.ts';
import type { BenchPods } from '../pods/bench-pods.ts';
import { podManifest, podStatus, variantOf } from '../pods/manifest.ts';

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
export class ChurnClient {
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
