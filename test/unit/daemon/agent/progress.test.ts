import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { agentMetrics } from '../../../../src/daemon/agent/metrics.ts';
import { buildAgentUnits } from '../../../../src/daemon/agent/units.ts';
import { StateDirectory } from '../../../../src/daemon/agent/state.ts';
import { tokenCredentials } from '../../../../src/kube/auth/credentials.ts';
import { node } from '../../../builders.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { FakeRuntime } from '../../../fakes/runtime.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const { signal } = new AbortController();

test('calls of the runtime for the report are no progress of the passes', async () => {
  const runtime = new FakeRuntime();
  runtime.filesystems = { images: [{ mountpoint: '/', usedBytes: 1, inodesUsed: 1 }], containers: [] };
  let progress = 0;
  const endpoint = 'https://127.0.0.1:10250';
  const nowhere = '/nowhere';
  const registry = new Registry();
  const units = buildAgentUnits({
    config: {
      ...{ nodeName: 'node-1', localStoragePodMetrics: false },
      ...{ localStoragePeriodMs: 10_000, imageGcPeriodMs: 300_000, containerGcPeriodMs: 60_000 },
      kubelet: { endpoint, trust: { isInsecure: true, caFile: undefined, ownFile: nowhere } },
      directories: { state: nowhere, podLogs: nowhere, containerLogs: nowhere, kubeletRoot: nowhere },
    },
    cluster: {
      transport: Object.assign(new FakeTransport({}), { close: () => undefined }),
      connection: { endpoint: { server: endpoint }, auth: tokenCredentials('t'), source: 'test' },
    },
    registry,
    metrics: agentMetrics(registry),
    log: silentLogger,
    recorder: new FakeRecorder(),
    runtime,
    state: new StateDirectory(nowhere, silentLogger),
    runtimeWatch: { version: undefined, trouble: undefined },
    caches: {
      governance: () => ({ kind: 'keep', reason: 'NoPolicy', policy: undefined }),
      policies: () => [],
      pods: () => [],
      node: () => node('node-1'),
      lastNode: () => node('node-1'),
      all: [],
    },
    missingRights: () => [],
    onProgress: () => (progress += 1),
    onPass: () => undefined,
    alone: (pass, passSignal) => pass(passSignal),
  });
  await units.report(signal);
  expect(runtime.calls).toContain('fileSystems');
  expect(progress).toBe(0);
});
