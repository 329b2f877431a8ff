import { Registry } from 'prom-client';
import type { PolicyPassReport } from '../../../../src/api/report/pass-report.ts';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { PodGcController, type PodGcDeps } from '../../../../src/controllers/podgc/controller.ts';
import type { PodGcFacts } from '../../../../src/controllers/podgc/facts.ts';
import type { PodGcMemory } from '../../../../src/controllers/podgc/observe.ts';
import { podGcMetrics, podGcReasons } from '../../../../src/controllers/podgc/metrics.ts';
import { startMetrics, unitMetrics } from '../../../../src/gc/metrics.ts';
import type { NamespaceFacts, NodeFacts, PodFacts } from '../../../../src/kube/cache/objects.ts';
import type { Waiting } from '../../../../src/runtime/scheduling/loop.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeCluster, FakeRecorder, storeOf } from '../../../fakes/cluster.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { node, now, pod, policy, terminatedRule } from '../../../builders.ts';
import { byUid } from '../eviction/builders.ts';

const never = new AbortController().signal;
export const expireAll = (over: Partial<Policy> = {}): Policy =>
  ({
    ...policy({ pods: { terminated: terminatedRule({ ttlAfterFinishedMs: 0 }) } }),
    ...over,
  }) satisfies Policy;
export const orphanPolicy = policy({ pods: { orphaned: { quarantineMs: 40_000 } } });
/** Deletes orphans at once, unless more than 20 percent of the nodes are missing. */
export const breakerPolicy = (quarantineMs = 0): Policy =>
  policy({
    pods: { orphaned: { quarantineMs }, safety: { maxDeletesPerPass: 0, maxOrphanedNodesPercent: 20 } },
  });
export const orphan = pod('orphan', { nodeName: 'node-gone', phase: 'Running' });
export const keepLabel = { 'gc.dustpan.dev/keep': 'true' } as const;

export interface Environment {
  readonly cluster: FakeCluster;
  readonly namespaces: Map<string, NamespaceFacts>;
  readonly recorder: FakeRecorder;
  readonly clock: FakeClock;
  readonly metrics: PodGcDeps['metrics'];
  readonly registry: Registry;
  readonly policies: { synced: boolean; ranked: readonly (Policy | InvalidPolicy)[]; fingerprint: string };
  readonly reports: PolicyPassReport[];
  readonly pass: (signal?: AbortSignal) => Promise<Waiting>;
  /** Gives the namespace `default` the keep label. */
  readonly labelNamespace: () => unknown;
}

/** The controller and a cluster, or the pods of one with node-1. */
export function environmentOf(
  of: FakeCluster | readonly PodFacts[],
  governing: Policy,
  over: Partial<PodGcDeps> = {},
): Environment {
  const cluster = of instanceof FakeCluster ? of : new FakeCluster(of, [node('node-1')]);
  const registry = new Registry();
  const recorder = new FakeRecorder();
  const clock = new FakeClock();
  const metrics = unitMetrics(registry);
  startMetrics(metrics, 'podgc', podGcReasons);
  const policies: Environment['policies'] = { ...{ synced: true, ranked: [governing], fingerprint: '' } };
  const reports: PolicyPassReport[] = [];
  const byDefault = { uid: 'uid-default', name: 'default', resourceVersion: '1', labels: {} };
  const namespaces = new Map<string, NamespaceFacts>([[byDefault.uid, byDefault]]);
  const controller = new PodGcController({
    pods: { ...storeOf(cluster.pods), covers: () => true },
    nodes: storeOf(cluster.nodes),
    namespaces: storeOf(namespaces),
    jobs: () => storeOf(new Map()),
    replicaSets: () => storeOf(new Map()),
    ...{
      policies,
      policySet: policies,
      cluster,
      live: cluster,
      recorder,
      clock,
      metrics,
      own: podGcMetrics(registry),
      log: silentLogger,
    },
    holdsLease: () => true,
    periodMs: 20_000,
    openBreakers: () => new Map(),
    storedInForce: () => new Map(),
    maxDeletesPerSecond: 0,
    onStale: () => undefined,
    onProgress: () => undefined,
    onPass: (made) => reports.push(...made.values()),
    ...over,
  });
  return {
    ...{ namespaces, cluster, recorder, clock, metrics, registry, policies, reports },
    pass: (signal = never) => controller.reconcile(signal),
    labelNamespace: () => namespaces.set(byDefault.uid, { ...byDefault, labels: keepLabel }),
  };
}

/** The facts of a pass that finds these pods and nodes. */
export function observed(
  memory: PodGcMemory,
  {
    pods = [],
    nodes = [],
    ...pass
  }: Partial<Parameters<PodGcMemory['observe']>[2]> & {
    readonly pods?: readonly PodFacts[];
    readonly nodes?: readonly NodeFacts[];
  },
): PodGcFacts {
  const none = storeOf(new Map<string, never>());
  const caches = { pods: storeOf(byUid(...pods)), nodes: storeOf(byUid(...nodes)), namespaces: none };
  return memory.observe({ ...caches, jobs: () => none, replicaSets: () => none }, [], {
    failedBefore: new Map(),
    openBreakers: new Map(),
    storedInForce: new Map(),
    monotonicMs: 0,
    wallMs: now.getTime(),
    maxGapMs: Infinity,
    ...pass,
  });
}

/** An orphan whose quarantine has just ended: the next pass would delete it. */
export async function afterQuarantine(over: Partial<PodGcDeps> = {}): Promise<Environment> {
  const made = environmentOf([orphan], orphanPolicy, over);
  await made.pass();
  made.clock.advance(40_000);
  return made;
}

/** Calls `change` once during a pass, when the cluster has received 100 requests; returns a function that returns their number. */
export function inTheMiddle({ cluster }: Pick<Environment, 'cluster'>, change: () => void): () => number {
  let sent = 0;
  cluster.fault(() => {
    if (sent === 0 && cluster.requests.length >= 100) {
      change();
      sent = cluster.requests.length;
    }
    return undefined;
  });
  return () => sent;
}

export const many = (count: number, over: Partial<PodFacts> = {}): PodFacts[] =>
  Array.from({ length: count }, (_, i) =>
    pod(`p${String(i).padStart(4, '0')}`, { finishedAtMs: 0, ...over }),
  );
