import { Registry } from 'prom-client';
import type { NodeReportFacts } from '../../src/kube/cache/node-report-facts.ts';
import { EvictionController } from '../../src/controllers/eviction/controller.ts';
import { evictionMetrics } from '../../src/controllers/eviction/metrics.ts';
import { rollUpNodes } from '../../src/controllers/policystatus/nodes.ts';
import { systemClock as clock } from '../../src/runtime/scheduling/clock.ts';
import { node, now, pod, policy } from '../builders.ts';
import { FakeEvictions } from '../fakes/evictions.ts';
import { silentLogger as log } from '../fakes/logger.ts';
import { asks, byUid, evictPolicy, namespace } from '../unit/controllers/eviction/builders.ts';
import { median } from './median.ts';

/** What the controller's looks at so many reports take, medians. */
export interface Looks {
  /** Every 10 s while none asks for an eviction: whether one does. */
  readonly idleMs: number;
  /** Every 10 s: adding all up for the status of the policies. */
  readonly rollUpMs: number;
  /** While each node asks for an eviction that must wait: one pass, at most one a second. */
  readonly allAskMs: number;
}

/** Enough for the code to be compiled, as it is in a controller that has run for a while. */
const times = 100;

/** Times them alone in a process, on as many reports as there are nodes. */
export async function measureLooks(count: number): Promise<Looks> {
  const nodes = Array.from({ length: count }, (_, i) => node(`node-${i}`));
  const reports = nodes.map(({ name }) => reportOf(name));
  const asking = reports.map((one) => ({ ...one, requests: [asks(`pod-of-${one.name}`)] }));
  const ranked = [policy({ pods: undefined, nodes: evictPolicy().nodes })];
  const [idle, busy] = [controllerOf(nodes, reports), controllerOf(nodes, asking)];
  const { signal } = new AbortController();
  return {
    idleMs: await timed(() => idle.reconcile(signal)),
    rollUpMs: await timed(() => Promise.resolve(rollUpNodes(ranked, { nodes, reports }, now))),
    allAskMs: await timed(() => busy.reconcile(signal)),
  };
}

async function timed(look: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let i = 0; i < times; i++) {
    const startMs = performance.now();
    await look();
    taken.push(performance.now() - startMs);
  }
  return median(taken);
}

const reportOf = (name: string): NodeReportFacts => ({
  ...{ uid: `report-${name}`, name, resourceVersion: '1', reportedAtMs: now.getTime() },
  ...{ policyUid: 'uid-default', policyGeneration: 1, degraded: false, keepListAtRisk: false },
  ...{ imagesRemovable: 50, imageBytesRemovable: 1e10, imageBytesFreed: 0, containersRemovable: 3 },
  ...{ storageWarnings: 0, evictionRequests: 0, requests: [] },
});

type Nodes = readonly ReturnType<typeof node>[];

/** Its requests are of an old time: each is judged whole, and none is followed. */
function controllerOf(nodes: Nodes, reports: readonly NodeReportFacts[]): EvictionController {
  const store = <T>(items: ReadonlyMap<string, T>): { items: ReadonlyMap<string, T>; synced: boolean } => ({
    items,
    synced: true,
  });
  const pods = nodes.map(({ name }) => pod(`pod-of-${name}`, { nodeName: name, phase: 'Running' }));
  const ranked = [evictPolicy()];
  return new EvictionController({
    nodeReports: store(byUid(...reports)),
    pods: store(byUid(...pods)),
    nodes: store(byUid(...nodes)),
    namespaces: store(byUid(namespace('default'))),
    policies: { synced: true, ranked, confirm: () => Promise.reject(new Error('nothing is due')) },
    evictions: new FakeEvictions(),
    holdsLease: () => true,
    recorder: { record: () => undefined },
    metrics: evictionMetrics(new Registry()),
    ...{ clock, log },
  });
}
