import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { agentConfig, agentOptions } from '../../../../src/daemon/agent/command.ts';
import { agentMetrics } from '../../../../src/daemon/agent/metrics.ts';
import { buildAgentUnits } from '../../../../src/daemon/agent/units.ts';
import { StateDirectory } from '../../../../src/daemon/agent/state.ts';
import { tokenCredentials } from '../../../../src/kube/auth/credentials.ts';
import { node } from '../../../builders.ts';
import { parsed } from '../../../fakes/command-line.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { FakeRuntime } from '../../../fakes/runtime.ts';
import { FakeSystem } from '../../../fakes/system.ts';
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
    config: agentConfig(parsed(agentOptions(), ['--node-name=node-1']).opts(), new FakeSystem()),
    cluster: {
      transport: Object.assign(new FakeTransport({}), { close: () => undefined }),
      connection: { endpoint: { server: endpoint }, auth: tokenCredentials('t'), source: 'test' },
    },
    registry,
    metrics: agentMetrics(registry),
    log: silentLogger,
    recorder: new FakeRecorder(),
    runtime,
    containerd: {
      read: () => Promise.resolve(undefined),
      measure: () => Promise.resolve(new Map()),
      labelImage: () => Promise.resolve(false),
      isReceiving: () => Promise.resolve(false),
      deleteLease: () => Promise.resolve(false),
      abort: () => Promise.resolve(false),
      collect: () => Promise.resolve(),
    },
    state: new StateDirectory(nowhere, silentLogger),
    runtimeWatch: { version: undefined, trouble: undefined },
    caches: {
      governance: () => ({ kind: 'keep', reason: 'NoPolicy', policy: undefined }),
      governedNodes: () => 0,
      policies: () => [],
      pods: () => [],
      node: () => node('node-1'),
      lastNode: () => node('node-1'),
      all: [],
    },
    rights: { missing: [] },
    loops: {
      beat: () => (progress += 1),
      wakeReport: () => undefined,
      alone: (pass, passSignal) => pass(passSignal),
    },
  });
  await units.report(signal);
  expect(runtime.calls).toContain('fileSystems');
  expect(progress).toBe(0);
});
