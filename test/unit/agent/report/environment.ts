import { Registry } from 'prom-client';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import type { KnownFacts } from '../../../../src/agent/report/facts.ts';
import { ReportManager, type ReportDeps } from '../../../../src/agent/report/manager.ts';
import { reportMetrics } from '../../../../src/agent/report/metrics.ts';
import type { NodeReports } from '../../../../src/kube/actions/node-report.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { containers, disk, facts, orphanCount, orphanInventory, pass } from './builders.ts';

/** The report in the API server. */
class FakeReports implements Pick<NodeReports, 'read' | 'write'> {
  stored: NodeGCReportStatus | undefined;
  fails = false;
  hasKind = true;
  writes = 0;
  owner = '';

  read(): Promise<NodeGCReportStatus | undefined> {
    return this.fails ? Promise.reject(new Error('server down')) : Promise.resolve(this.stored);
  }

  write(node: { readonly uid: string }, status: NodeGCReportStatus): Promise<'written' | 'no-kind'> {
    if (this.fails) return Promise.reject(new Error('server down'));
    if (!this.hasKind) return Promise.resolve('no-kind');
    this.writes += 1;
    this.stored = status;
    this.owner = node.uid;
    return Promise.resolve('written');
  }
}

interface Environment {
  readonly manager: ReportManager;
  readonly reports: FakeReports;
  readonly clock: FakeClock;
  readonly registry: Registry;
  readonly log: RecordingLogger;
  readonly recorder: FakeRecorder;
  /** The first report, after a pass of each unit, without which the report is not written again. */
  readonly start: () => Promise<void>;
  /** Only the passes. */
  readonly ready: () => void;
}

/** A report manager and what it needs, all in memory. */
export function environment(
  over: Partial<ReportDeps> = {},
  known: () => Partial<KnownFacts> = () => ({}),
): Environment {
  const reports = new FakeReports();
  const clock = new FakeClock();
  const registry = new Registry();
  const log = new RecordingLogger();
  const recorder = new FakeRecorder();
  const orphans = orphanInventory({ podDirectories: orphanCount() });
  const manager = new ReportManager({
    node: () => ({ name: 'node-1', uid: 'uid-node-1' }),
    known: () => facts({ containers: { ...containers, orphans }, ...known() }),
    staleCaches: () => [],
    missingRights: () => [],
    runtimeTrouble: () => undefined,
    imageDisk: () => Promise.resolve(disk(50)),
    nodeDisk: () => Promise.resolve(disk(50)),
    ...{ reports, recorder, metrics: reportMetrics(registry) },
    ...{ clock, random: () => 0, log },
    ...over,
  });
  const ready = (): void => {
    manager.observe(pass('imagegc'));
    manager.observe(pass('containergc'));
  };
  const start = async (): Promise<void> => {
    ready();
    await manager.reconcile(new AbortController().signal);
  };
  return { manager, reports, clock, registry, log, recorder, ready, start };
}
