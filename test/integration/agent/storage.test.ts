import { mkdirSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startKubeletSandbox, type KubeletSandbox } from '../../sandbox/kubelet/server.ts';
import { AgentEnvironment, nodeName, nodesPolicy, type RunningAgent } from './environment.ts';
import { until } from '../built.ts';

const mib = 1024 ** 2;

let bed: AgentEnvironment;
let kubelet: KubeletSandbox;

beforeEach(async () => {
  bed = new AgentEnvironment();
  const api = await bed.startApi();
  await bed.startCri();
  kubelet = await startKubeletSandbox({ nodeName, token: api.token });
  mkdirSync(bed.path('kubelet/pki'));
  writeFileSync(bed.path('kubelet/pki/kubelet.crt'), kubelet.certificate.chain);
  api.store.apply(nodesPolicy('Enforce', { localStorageEviction: { warnAtPercent: [80, 95] } }));
});
afterEach(async () => {
  await bed.stop();
  await kubelet.stop();
});

const startAgent = (...args: readonly string[]): RunningAgent =>
  bed.startAgent([`--kubelet-endpoint=${kubelet.endpoint}`, '--local-storage-period=1s', ...args]);

/** Pods with an emptyDir that may hold 100Mi. */
function runPods(...names: readonly string[]): void {
  for (const name of names) {
    bed.cri.runtime.runPod({ name, namespace: 'default', uid: `uid-${name}` });
    bed.api.store.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace: 'default', uid: `uid-${name}` },
      spec: {
        nodeName,
        containers: [{ name: 'main', image: 'a' }],
        volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '100Mi' } }],
      },
      status: { phase: 'Running' },
    });
  }
}

/** Sets the usage in MiB by pod. */
function use(used: Readonly<Record<string, number>>): void {
  kubelet.pods = Object.entries(used).map(([name, tmp]) => ({
    uid: `uid-${name}`,
    name,
    volumes: { tmp: tmp * mib },
    containers: [{ name: 'main', layer: 0, logs: 0 }],
  }));
}

const warnings = (): number =>
  bed.api.store.list('Event').filter(({ reason }) => reason === 'LocalStorageHigh').length;

const requested = (): string[] => (bed.report()?.evictionRequests ?? []).map(({ pod }) => pod.name).sort();

test('warns once for each level, requests the eviction of a pod over its limit, and withdraws it', async () => {
  runPods('high', 'over', 'small');
  use({ high: 85, over: 120, small: 10 });
  const agent = startAgent('--local-storage-pod-metrics');
  await until('a request', () => requested().join() === 'over');
  await until('warnings', () => warnings() === 2);
  expect(bed.report()?.storageWarnings?.map(({ pod, percent }) => `${pod.name} ${percent ?? ''}`)).toEqual([
    'over 95',
    'high 80',
  ]);
  await until('the usage is reported', () => bed.report()?.usage?.pods?.[0]?.name === 'over');
  expect(bed.report()?.usage?.namespaces).toMatchObject([{ name: 'default', pods: 3, bytes: 215 * mib }]);
  use({ high: 97, over: 20, small: 10 });
  await until('the next level', () => warnings() === 3);
  await until('the request is withdrawn', () => requested().length === 0);
  await until('all is reported', () => bed.condition('Degraded') === 'False AsPlanned');
  expect(bed.report()?.units?.map(({ name }) => name)).toContain('localstorage');
  const metrics = await agent.page('metrics', '/metrics');
  const series = 'dustpan_pod_local_storage_used_bytes{namespace="default",pod="over"}';
  expect(metrics).toContain(`${series} ${20 * mib}\n`);
  // One a second without keeping them. A busy machine may miss the deadline of a request, which ends its connection.
  expect(kubelet.connections).toBeLessThan(4);
});

test('a kubelet that refuses: Degraded, no eviction requested, and another attempt', async () => {
  runPods('over');
  use({ over: 120 });
  kubelet.tokens.set(bed.api.token, 'nothing');
  const agent = startAgent();
  await until('degraded', () => bed.condition('Degraded') === 'True PassFailed');
  const message = bed.report()?.conditions?.find(({ type }) => type === 'Degraded')?.message;
  expect(message).toMatch(/^localstorage failed: .*needs the verb get on nodes\/stats/);
  expect(requested()).toEqual([]);
  await until('the usage is unknown', () => (bed.report()?.usage?.unknown ?? '').includes('nodes/stats'));
  kubelet.tokens.set(bed.api.token, 'stats');
  await until('a request', () => requested().join() === 'over');
  expect(await agent.stop()).toBe(0);
});
