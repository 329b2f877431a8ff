import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { loadClusterConnection } from '../../../src/kube/auth/load.ts';
import { execInPod } from '../../../src/kube/exec/exec.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { startConnectProxy } from '../../proxies.ts';
import type { SandboxExec } from '../../sandbox/api/exec.ts';
import { startSandbox, type Sandbox } from '../../sandbox/server.ts';

const cleanup: (() => Promise<unknown>)[] = [];
let api: Sandbox;
afterEach(async () => {
  for (const end of cleanup.splice(0).reverse()) await end();
});

const { signal } = new AbortController();
const target = { namespace: 'dustpan', pod: 'agent-1', container: 'agent', command: ['dustpan', 'a b'] };
async function start(exec: SandboxExec): Promise<void> {
  api = await startSandbox({ exec });
  cleanup.push(() => api.stop());
  api.store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dustpan' } });
  api.store.apply({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'agent-1', namespace: 'dustpan' } },
    spec: { containers: [{ name: 'agent', image: 'i' }] },
  });
}

interface Given {
  readonly kubeconfig?: string;
  readonly silenceMs?: number;
  readonly maxBytes?: number;
}

async function run({ kubeconfig = api.kubeconfigFile, ...limits }: Given = {}) {
  const connection = await loadClusterConnection({ kubeconfig }, new FakeClock());
  const options = { connection, userAgent: 'dustpan/1', silenceMs: 60_000, ...limits };
  return (await execInPod(target, options, signal)).stdout.toString();
}

test('a connection that breaks before the end is an error, not a short output', async () => {
  await start(() => Promise.resolve({ stdout: 'half' }));
  await expect(run()).rejects.toThrow('the connection ended before the command');
});

test('output over the limit is an error', async () => {
  await start(() => Promise.resolve({ exitCode: 0, stdout: 'x'.repeat(50_000) }));
  await expect(run({ maxBytes: 40_000 })).rejects.toThrow('the output is longer than 40000 bytes');
  expect(await run({ maxBytes: 50_000 })).toHaveLength(50_000);
});

test('a silent command ends at the deadline', async () => {
  await start(() => new Promise(() => undefined));
  await expect(run({ silenceMs: 50 })).rejects.toThrow('no output for 0.05 s (--request-timeout)');
});

test('the connection goes through a proxy', async () => {
  await start(() => Promise.resolve({ exitCode: 0, stdout: 'through' }));
  const proxy = await startConnectProxy(() => Number(new URL(api.url).port));
  cleanup.push(() => proxy.stop());
  const config = JSON.parse(readFileSync(api.kubeconfigFile, 'utf8')) as { clusters: { cluster: object }[] };
  const clusters = config.clusters.map((one) => ({
    ...one,
    cluster: { server: 'http://api.test:8001', 'proxy-url': proxy.url },
  }));
  const kubeconfig = api.kubeconfigOf('through-proxy');
  writeFileSync(kubeconfig, JSON.stringify({ ...config, clusters }));
  expect(await run({ kubeconfig })).toBe('through');
  expect(proxy.requested).toEqual(['api.test:8001']);
});
