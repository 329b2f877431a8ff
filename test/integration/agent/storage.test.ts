import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Manifest } from '../../sandbox/api/direct-store.ts';
import { certify } from '../../certificate.ts';
import { startKubeletSandbox, type KubeletSandbox } from '../../sandbox/kubelet/server.ts';
import { AgentEnvironment, nodeName, nodesPolicy, type RunningAgent } from './environment.ts';
import { builtForFile, until } from '../built.ts';

const mib = 1024 ** 2;

const built = builtForFile();
let bed: AgentEnvironment;
let kubelet: KubeletSandbox;

beforeEach(async () => {
  bed = new AgentEnvironment(built);
  const api = await bed.startApi();
  await bed.startCri();
  kubelet = await startKubeletSandbox({ nodeName, token: api.token });
  mkdirSync(bed.path('kubelet/pki'));
  writeFileSync(bed.path('kubelet/pki/kubelet.crt'), kubelet.certificate.chain);
});
afterEach(async () => {
  await bed.stop();
  await kubelet.stop();
});

const startAgent = (...args: readonly string[]): RunningAgent =>
  bed.startAgent([`--kubelet-endpoint=${kubelet.endpoint}`, '--local-storage-period=1s', ...args]);

/** A pod with an emptyDir that may hold 100Mi. */
function runPod(name: string, over: object = {}): void {
  bed.api.store.apply({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', uid: `uid-${name}` } },
    spec: {
      ...{ nodeName, containers: [{ name: 'main', image: 'a' }] },
      volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '100Mi' } }],
      ...over,
    },
    status: { phase: 'Running' },
  });
}

/** Sets the usage in MiB by pod. */
function use(used: Readonly<Record<string, number>>): void {
  kubelet.pods = Object.entries(used).map(([name, tmp]) => ({
    ...{ uid: `uid-${name}`, name, volumes: { tmp: tmp * mib } },
    containers: [{ name: 'main', layer: 0, logs: 0 }],
  }));
}

const policy = (mode: 'DryRun' | 'Enforce', rule: object = {}): Manifest =>
  nodesPolicy(mode, { localStorageEviction: { warnAtPercent: [80, 95], ...rule } });

const eventNotes = (): string[] =>
  bed.api.store
    .list('Event')
    .filter(({ reason }) => reason === 'LocalStorageHigh')
    .map(({ note }) => String(note));

const requested = (): string[] => (bed.report()?.evictionRequests ?? []).map(({ pod }) => pod.name).sort();

const metric = async (agent: RunningAgent, name: string): Promise<string | undefined> =>
  (await agent.page('metrics', '/metrics')).split('\n').find((line) => line.startsWith(name));

test('warns once for each level, requests the eviction of a pod over its limit, and withdraws it', async () => {
  bed.api.store.apply(policy('Enforce'));
  for (const name of ['high', 'over', 'small']) runPod(name);
  use({ high: 85, over: 120, small: 10 });
  const agent = startAgent();
  await until('a request', () => requested().join() === 'over');
  await until('warnings', () => eventNotes().length === 2);
  expect(bed.report()?.storageWarnings?.map(({ pod, percent }) => `${pod.name} ${percent ?? ''}`)).toEqual([
    'over 95',
    'high 80',
  ]);
  use({ high: 97, over: 20, small: 10 });
  await until('the next level', () => eventNotes().length === 3);
  await until('the request is withdrawn', () => requested().length === 0);
  await until('all is reported', () => bed.condition('Degraded') === 'False AsPlanned');
  expect(bed.report()?.units?.map(({ name }) => name)).toContain('localstorage');
  expect(await metric(agent, 'dustpan_local_storage_warnings_total')).toMatch(/ 3$/);
  expect(await metric(agent, 'dustpan_pod_local_storage_used_bytes')).toBeUndefined();
  expect(kubelet.connections).toBe(1);
});

test('DryRun warns, and requests nothing', async () => {
  bed.api.store.apply(policy('DryRun'));
  runPod('over');
  use({ over: 120 });
  const agent = startAgent('--local-storage-pod-metrics');
  await until('a warning', () => eventNotes().length === 1);
  await until('a report', () => bed.report()?.storageWarningCount === 1);
  expect(agent.timesLogged('would request eviction')).toBe(1);
  expect(requested()).toEqual([]);
  const series = 'dustpan_pod_local_storage_used_bytes{namespace="default",pod="over"}';
  expect(await metric(agent, series)).toBe(`${series} ${120 * mib}`);
});

test('a kubelet that refuses: Degraded, no eviction requested, and another attempt', async () => {
  bed.api.store.apply(policy('Enforce'));
  runPod('over');
  use({ over: 120 });
  kubelet.tokens.set(bed.api.token, 'nothing');
  const agent = startAgent();
  await until('degraded', () => bed.condition('Degraded') === 'True PassFailed');
  const message = bed.report()?.conditions?.find(({ type }) => type === 'Degraded')?.message;
  expect(message).toMatch(/^localstorage failed: .*needs the verb get on nodes\/stats/);
  expect(requested()).toEqual([]);
  kubelet.tokens.set(bed.api.token, 'stats');
  await until('a request', () => requested().join() === 'over');
  expect(await agent.stop()).toBe(0);
});

test('an untrusted certificate is rejected, with one log line', async () => {
  bed.api.store.apply(policy('Enforce'));
  runPod('over');
  use({ over: 120 });
  writeFileSync(bed.path('other.crt'), certify([`DNS:${nodeName}`]).ca);
  const agent = startAgent('--v=4', `--kubelet-certificate-authority=${join(bed.root, 'other.crt')}`);
  await until('degraded', () => bed.condition('Degraded') === 'True PassFailed');
  const message = bed.report()?.conditions?.find(({ type }) => type === 'Degraded')?.message;
  expect(message).toMatch(/certificate/);
  expect(message).toContain('other.crt');
  await until('it fails again', () => agent.timesLogged('pass failed again') >= 2);
  expect(agent.timesLogged('pass failed')).toBe(1);
  expect(kubelet.requests).toEqual([]);
});
