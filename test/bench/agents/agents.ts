import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { AgentCaches } from '../../../src/daemon/agent/caches.ts';
import { agentMetrics } from '../../../src/daemon/agent/metrics.ts';
import { NodeReports } from '../../../src/kube/actions/node-report.ts';
import { loadClusterConnection } from '../../../src/kube/auth/load.ts';
import { createTransport } from '../../../src/kube/http/http-transport.ts';
import { systemClock as clock } from '../../../src/runtime/scheduling/clock.ts';
import { silentLogger as log } from '../../fakes/logger.ts';
import { nodeName, shortReport } from './nodes.ts';

/** What agents send, with their code and a connection pool each, but without a runtime and passes: caches, polls and reports. */
const [kubeconfig, first = '', count = ''] = process.argv.slice(2);
const { reflector: metrics } = agentMetrics(new Registry());
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());

const between = (fromMs: number, toMs: number): Promise<void> =>
  sleep(fromMs + Math.random() * (toMs - fromMs), undefined, { signal: stop.signal });

async function simulate(number: number): Promise<void> {
  // As in a rollout: not all in one second.
  await between(0, 60_000);
  const connection = await loadClusterConnection({ kubeconfig }, clock);
  const transport = createTransport({ ...connection, qps: 5, burst: 10, clock });
  const name = nodeName(number);
  const caches = new AgentCaches({
    transport,
    clock,
    random: Math.random,
    log,
    metrics,
    nodeName: name,
    containerGcPeriodMs: 60_000,
    onNews: () => undefined,
  });
  const running = caches.run(stop.signal);
  const reports = new NodeReports(transport);
  await between(2_000, 62_000);
  const isWritten = async (): Promise<boolean> => {
    const node = caches.node();
    if (node === undefined) return false;
    return (await reports.write(node, shortReport(number, new Date()), stop.signal)) === 'written';
  };
  while (!stop.signal.aborted) {
    // With a pause as `isWorthWriting` makes when nothing has changed, or as after a failed pass.
    if (await isWritten().catch(() => false)) await between(300_000, 360_000);
    else await between(5_000, 10_000);
  }
  await running;
}

await Promise.all(Array.from({ length: Number(count) }, (_, i) => simulate(Number(first) + i))).catch(
  (err: unknown) => {
    if (!stop.signal.aborted) throw err;
  },
);
