import { Registry } from 'prom-client';
import { LeftoversManager } from '../../../src/agent/leftovers/manager.ts';
import { leftoverMetrics } from '../../../src/agent/leftovers/metrics.ts';
import type { NodeGovernance } from '../../../src/api/policy/node-governance.ts';
import type { ContainerdClient } from '../../../src/containerd/client.ts';
import type { ContainerRuntime } from '../../../src/cri/runtime.ts';
import { unitMetrics } from '../../../src/gc/metrics.ts';
import type { NodePassReport } from '../../../src/gc/pass.ts';
import { SnapshotDirectories } from '../../../src/node/storage/snapshots.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { FakeRecorder } from '../../fakes/cluster.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

interface Agent {
  readonly manager: LeftoversManager;
  readonly reports: readonly NodePassReport[];
}

/** The unit for leftovers on a real containerd, without an API server. */
export function leftoversAgent(
  { minutesAhead, governance }: { readonly minutesAhead: number; readonly governance: NodeGovernance },
  { runtime, containerd }: { readonly runtime: ContainerRuntime; readonly containerd: ContainerdClient },
): Agent {
  const registry = new Registry();
  const reports: NodePassReport[] = [];
  const manager = new LeftoversManager({
    ...{ runtime, containerd, recorder: new FakeRecorder(), log: new RecordingLogger(), periodMs: 600_000 },
    directories: new SnapshotDirectories({ runtime }),
    ...{ own: leftoverMetrics(registry), metrics: unitMetrics(registry) },
    clock: { ...systemClock, now: () => new Date(systemClock.now().getTime() + minutesAhead * 60_000) },
    ...{ governance: () => governance, node: () => undefined, onProgress: () => undefined },
    live: {
      confirm: () => Promise.resolve({ governance, labels: {}, pods: [], clockSkewMs: 0 }),
      podState: () => Promise.resolve('gone'),
    },
    onPass: (report) => reports.push(report),
  });
  return { manager, reports };
}
