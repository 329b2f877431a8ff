import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { shipped } from '../cluster/chart/shipped.ts';
import { dustpanUser, mountServiceAccount, startDustpan } from '../cluster/controller/dustpan.ts';
import { repositoryRoot } from '../cluster/repository.ts';
import type { Cluster } from '../cluster/servers/cluster.ts';
import type { DustpanProcess } from '../cluster/servers/dustpan-process.ts';
import { apply } from '../cluster/servers/kubectl.ts';
import { waitUntil } from '../cluster/servers/waiting.ts';
import { policyManifest, unheldPods } from '../manifests.ts';
import { usageOf, type Usage } from './process.ts';

/** Starts the controller as in a pod of the chart: with its flags, a service account and no more rights than it needs. */
export async function startController(cluster: Cluster): Promise<DustpanProcess> {
  const { env } = await shipped('Deployment');
  // A kubeconfig would load the library that reads it, which no pod needs.
  const account = mountServiceAccount(cluster, dustpanUser.name);
  return await startDustpan({ env: { ...env, ...account }, dir: cluster.dir });
}

/** Writes the only policy of the bench. */
export async function applyPolicy(cluster: Cluster, spec: object): Promise<void> {
  await apply(cluster, policyManifest('bench', spec));
}

/** Pod garbage collection with this threshold and every other rule on. */
export const podPolicy = (mode: 'DryRun' | 'Enforce', threshold: number): object => ({
  mode,
  pods: unheldPods({ terminated: { threshold }, outOfService: {}, orphaned: {}, unscheduledTerminating: {} }),
});

/** The pods' part of the policy in docs/concepts.md, which has nearly every field. */
export async function fullPodPolicy(): Promise<object> {
  const page = await readFile(join(repositoryRoot(), 'docs/concepts.md'), 'utf8');
  const [, yaml] = /^```yaml\n(apiVersion: gc\.dustpan\.dev[^`]*)```$/m.exec(page) ?? [];
  const policy = load(yaml ?? '') as { readonly spec: { readonly pods: object } };
  return { mode: 'DryRun', pods: policy.spec.pods };
}

/** Metrics of the controller, and its usage, at one moment. */
export interface Scrape {
  readonly atMs: number;
  readonly usage: Usage;
  readonly passes: number;
  readonly planMs: number;
  /** The longest delay of a 10 ms timer since the previous scrape. */
  readonly lagMs: number;
  /** What V8's heap has in use; garbage that it has not collected yet is included. */
  readonly heapMiB: number;
  /** Requests to the API server, without those that open watches. */
  readonly requests: number;
}

/** A scrape is 270 KB of garbage and some CPU time: too many would change what they measure. */
export const scrapeEveryMs = 5_000;

export async function scrape(dustpan: DustpanProcess): Promise<Scrape> {
  const metrics = [...(await dustpan.metrics())];
  const sumOf = (name: string): number =>
    metrics
      .filter(([series]) => series === name || series.startsWith(`${name}{`))
      .reduce((sum, [, value]) => sum + value, 0);
  return {
    atMs: performance.now(),
    usage: usageOf(dustpan.pid),
    passes: sumOf('dustpan_pod_gc_plan_duration_seconds_count'),
    planMs: sumOf('dustpan_pod_gc_plan_duration_seconds_sum') * 1_000,
    lagMs: sumOf('nodejs_eventloop_lag_max_seconds') * 1_000,
    heapMiB: sumOf('nodejs_heap_size_used_bytes') / 1_024 ** 2,
    requests: sumOf('dustpan_rest_client_requests_total') - sumOf('dustpan_reflector_watches_total'),
  };
}

const patience = { timeout: 300_000 };

/** Waits for the first pass; until the caches are full it only sends the probes of a kubelet, which cost less than a scrape. */
export async function firstPass(dustpan: DustpanProcess): Promise<Scrape> {
  await waitUntil('the controller is ready', async () => (await dustpan.probe('/readyz')) === 200, patience);
  let last = await scrape(dustpan);
  const hasPassed = async (): Promise<boolean> => (last = await scrape(dustpan)).passes > 0;
  await waitUntil('the first pass', hasPassed, patience);
  return last;
}

/** The longest plan, from the growth of the sum between two scrapes. */
export function longestPlanMs(scrapes: readonly Scrape[]): number {
  const plans = scrapes.map(({ passes, planMs }, i) => {
    const before = scrapes[i - 1] ?? { passes: 0, planMs: 0 };
    return passes > before.passes ? (planMs - before.planMs) / (passes - before.passes) : 0;
  });
  return Math.max(...plans);
}
