import { setTimeout as sleep } from 'node:timers/promises';
import { KEEP_LABEL } from '../../src/api/policy/matching.ts';
import type { ApiClient } from './api-client.ts';
import type { BenchPods } from './bench-pods.ts';
import { changeAt, type Change } from './churn-changes.ts';
import { statusOf, templatePod } from './template-pods.ts';

/** What a run of changes came to. */
export interface Churned {
  readonly seconds: number;
  readonly changes: number;
  readonly failed: number;
  /** From sending until the answer, each in milliseconds. */
  readonly answerMs: readonly number[];
}

/** A second of changes and more may wait for answers: a server that stops for a moment then catches up, one that is too slow does not. */
const maxInFlight = 256;
const tickMs = 5;
const mergePatch = 'application/merge-patch+json';
const strategicMergePatch = 'application/strategic-merge-patch+json';

/** A plain client that changes pods evenly through the API server; a second run goes on where the first ended. */
export class ChurnClient {
  readonly #api: ApiClient;
  readonly #pods: Pick<BenchPods, 'placeOf'>;
  readonly #count: number;
  /** The last step of each short-lived pod: the next waits for it. */
  readonly #lives = new Map<number, Promise<unknown>>();
  #next = 0;
  #markedAtMs: number[] = [];

  constructor(api: ApiClient, pods: Pick<BenchPods, 'placeOf'>, count: number) {
    this.#api = api;
    this.#pods = pods;
    this.#count = count;
  }

  /** When the API server answered the marks to keep a pod, Unix time, in that order. */
  get markedAtMs(): readonly number[] {
    return this.#markedAtMs;
  }

  /** Sends so many changes a second, or what the server takes. */
  async run(perSecond: number, seconds: number): Promise<Churned> {
    const first = this.#next;
    const answerMs: number[] = [];
    const underWay = new Set<Promise<void>>();
    const failures: unknown[] = [];
    const startedAt = performance.now();
    const elapsed = (): number => (performance.now() - startedAt) / 1_000;
    while (elapsed() < seconds) {
      const due = first + Math.floor(elapsed() * perSecond);
      while (this.#next < due && underWay.size < maxInFlight) {
        const sent = this.#send(this.#next++, answerMs)
          .catch((err: unknown) => void failures.push(err))
          .finally(() => underWay.delete(sent));
        underWay.add(sent);
      }
      await sleep(tickMs);
    }
    await Promise.all(underWay);
    if (failures.length > 0) process.stderr.write(`bench: a change failed: ${String(failures[0])}\n`);
    const changes = this.#next - first - failures.length;
    return { seconds: elapsed(), changes, failed: failures.length, answerMs };
  }

  async #send(i: number, answerMs: number[]): Promise<void> {
    const change = changeAt(i, this.#count);
    const sentAt = performance.now();
    if ('born' in change) await this.#live(change);
    else await this.#touch(change, i);
    answerMs.push(performance.now() - sentAt);
  }

  async #live({ kind, born }: Extract<Change, { readonly born: number }>): Promise<void> {
    const before = this.#lives.get(born) ?? Promise.resolve();
    const step = before.then(() => this.#step(kind, born));
    if (kind === 'delete') this.#lives.delete(born);
    // Whoever waits for it hears of it; it is nobody's loose end.
    else
      this.#lives.set(
        born,
        step.catch(() => undefined),
      );
    await step;
  }

  async #step(kind: Extract<Change, { readonly born: number }>['kind'], born: number): Promise<unknown> {
    const { namespace, node } = this.#pods.placeOf(born);
    const name = `churn-${born}`;
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const metadata = { name };
    switch (kind) {
      case 'create':
        return await this.#api.send('POST', pods, { body: templatePod(name, 'succeeded') });
      case 'bind': {
        const target = { apiVersion: 'v1', kind: 'Node', name: node };
        const body = { apiVersion: 'v1', kind: 'Binding', metadata, target };
        return await this.#api.send('POST', `${pods}/${name}/binding`, { body });
      }
      case 'start':
      case 'finish': {
        const status = statusOf(kind === 'start' ? 'running' : 'succeeded');
        const how = { body: { status }, contentType: strategicMergePatch };
        return await this.#api.send('PATCH', `${pods}/${name}/status`, how);
      }
      case 'delete': {
        const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: 0 };
        return await this.#api.send('DELETE', `${pods}/${name}`, { body });
      }
    }
  }

  async #touch({ kind, pod }: Extract<Change, { readonly pod: number }>, i: number): Promise<void> {
    const { namespace, name } = this.#pods.placeOf(pod);
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    if (kind === 'heartbeat') {
      const condition = { type: 'bench.example.com/Heartbeat', status: 'True', message: `beat ${i}` };
      const how = { body: { status: { conditions: [condition] } }, contentType: strategicMergePatch };
      await this.#api.send('PATCH', `${path}/status`, how);
      return;
    }
    const labels = kind === 'keep' ? { [KEEP_LABEL]: 'true' } : { 'bench.example.com/turn': String(i) };
    await this.#api.send('PATCH', path, { body: { metadata: { labels } }, contentType: mergePatch });
    if (kind === 'keep') this.#markedAtMs.push(Date.now());
  }
}
