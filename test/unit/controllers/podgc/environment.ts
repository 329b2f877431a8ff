import { Registry } from 'prom-client';
import type { PolicyPassReport } from '../../../../src/api/report/pass-report.ts';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import { PodGcController, type PodGcDeps } from '../../../../src/controllers/podgc/controller.ts';
import { podGcMetrics } from '../../../../src/controllers/podgc/metrics.ts';
import type { NamespaceFacts } from '../../../../src/kube/cache/objects.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder, storeOf, type FakeCluster } from '../../../fakes/cluster.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { pod, policy, terminatedRule } from '../../../builders.ts';

const never = new AbortController().signal;
export const expireAll = (over: Partial<Policy> = {}): Policy =>
  ({
    ...policy({ pods: { terminated: terminatedRule({ ttlAfterFinishedMs: 0 }) } }),
    ...over,
  }) satisfies Policy;
export const orphanPolicy = policy({ pods: { orphaned: { quarantineMs: 40_000 } } });
export const orphan = pod('orphan', { nodeName: 'node-gone', phase: 'Running' });

export interface Bed {
  readonly cluster: FakeCluster;
  readonly namespaces: Map<string, NamespaceFacts>;
  readonly recorder: FakeRecorder;
  readonly clock: FakeClock;
  readonly metrics: PodGcDeps['metrics'];
  readonly registry: Registry;
  readonly policies: {
    synced: boolean;
    ranked: readonly (Policy | InvalidPolicy)[];
    confirm: PodGcDeps['policies']['confirm'];
  };
  readonly reports: PolicyPassReport[];
  readonly pass: () => Promise<void>;
}

export function bed(cluster: FakeCluster, governing: Policy, over: Partial<PodGcDeps> = {}): Bed {
  const registry = new Registry();
  const recorder = new FakeRecorder();
  const clock = new FakeClock();
  const metrics = podGcMetrics(registry);
  const policies: Bed['policies'] = {
    synced: true,
    ranked: [governing],
    confirm: () => Promise.resolve({ same: true, clockSkewMs: 0 }),
  };
  const reports: PolicyPassReport[] = [];
  const namespaces = new Map<string, NamespaceFacts>([
    ['uid-default', { uid: 'uid-default', name: 'default', resourceVersion: '1', labels: {} }],
  ]);
  const controller = new PodGcController({
    pods: { ...storeOf(cluster.pods), covers: () => true },
    nodes: storeOf(cluster.nodes),
    namespaces: storeOf(namespaces),
    jobs: () => storeOf(new Map()),
    replicaSets: () => storeOf(new Map()),
    policies,
    cluster,
    holdsLease: () => true,
    recorder,
    clock,
    metrics,
    log: silentLogger,
    periodMs: 20_000,
    maxDeletesPerSecond: 0,
    onStale: () => undefined,
    onProgress: () => undefined,
    onPass: (made) => reports.push(...made.values()),
    ...over,
  });
  return {
    namespaces,
    cluster,
    recorder,
    clock,
    metrics,
    registry,
    policies,
    reports,
    pass: () => controller.reconcile(never),
  };
}

export const many = (count: number, over: Parameters<typeof pod>[1] = {}): ReturnType<typeof pod>[] =>
  Array.from({ length: count }, (_, i) =>
    pod(`p${String(i).padStart(4, '0')}`, { finishedAtMs: 0, ...over }),
  );
