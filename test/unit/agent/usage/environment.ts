import { Registry } from 'prom-client';
import { fitStatus, type NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { UsageManager, type UsageDeps } from '../../../../src/agent/usage/manager.ts';
import { usageMetrics } from '../../../../src/agent/usage/metrics.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { usage } from '../localstorage/builders.ts';
import { containers, disk, gib, images } from '../report/builders.ts';

const never = new AbortController().signal;
const minuteMs = 60_000;

type Usage = NonNullable<NodeGCReportStatus['usage']>;

interface UsedNode {
  readonly manager: UsageManager;
  readonly clock: FakeClock;
  readonly recorder: FakeRecorder;
  readonly registry: Registry;
  readonly log: RecordingLogger;
  readonly measure: () => Promise<Usage>;
  /** One measurement a minute. */
  readonly during: (minutes: number, before: (minute: number) => void) => Promise<Usage>;
}

/** A node whose disk of 100 GiB is half full; 10 GiB of it are images, half of them in use. */
export function node(over: Partial<UsageDeps> = {}): UsedNode {
  const clock = new FakeClock();
  const recorder = new FakeRecorder();
  const registry = new Registry();
  const log = new RecordingLogger();
  const size = { usedBytes: 10 * gib };
  const manager = new UsageManager({
    kubelet: () => Promise.resolve(usage({})),
    nodeDisk: () => Promise.resolve(disk(50, size)),
    imageDisk: () => Promise.resolve(disk(50, size)),
    logDisk: () => Promise.resolve(disk(50, size)),
    runtime: { containerStats: () => Promise.resolve([]) },
    pods: () => [],
    podSlots: () => 110,
    lists: () => 'full',
    images: () => images(),
    containers: () => ({ ...containers, logs: { bytes: 0, removableBytes: 0, byPod: new Map() } }),
    leftovers: () => undefined,
    freedBytes: () => 0,
    marks: { read: () => Promise.resolve({ kind: 'missing' }), write: () => Promise.resolve() },
    node: () => ({ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u' }),
    ...{ recorder, clock, log, metrics: usageMetrics(registry), ...over },
  });
  const measure = async (): Promise<Usage> => {
    await manager.measure(never);
    return fitStatus({ usage: manager.usage }).usage ?? {};
  };
  const during = async (minutes: number, before: (minute: number) => void) => {
    for (let i = 0; i < minutes; i += 1) {
      before(i);
      await manager.measure(never);
      clock.advance(minuteMs);
    }
    return fitStatus({ usage: manager.usage }).usage ?? {};
  };
  return { manager, clock, recorder, registry, log, measure, during };
}
