import { Registry } from 'prom-client';
import { expect, onTestFinished, test } from 'vitest';
import { AgentLoops } from '../../../../src/commands/agent/loops.ts';
import { agentMetrics } from '../../../../src/commands/agent/metrics.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { SettlingClock } from '../../../fakes/settling-clock.ts';

const minute = 60_000;

async function periodsOf(registry: Registry): Promise<Readonly<Record<string, number>>> {
  const metric = await registry.getSingleMetric('dustpan_loop_period_seconds')?.get();
  return Object.fromEntries(
    (metric?.values ?? []).map(({ labels, value }) => [String(labels['loop']), value]),
  );
}

test('every loop of an agent exports its period before its first pass', async () => {
  const registry = new Registry();
  const clock = new SettlingClock();
  const stop = new AbortController();
  onTestFinished(() => {
    stop.abort();
  });
  const loops = new AgentLoops({
    config: { imageGcPeriodMs: 180 * minute, containerGcPeriodMs: minute, localStoragePeriodMs: 30_000 },
    ...{ clock, random: () => 0.5, log: silentLogger, onResult: agentMetrics(registry).pass },
  });
  const pass = (): Promise<void> => Promise.resolve();
  const passes = {
    containers: pass,
    images: pass,
    storage: pass,
    pressure: pass,
    usage: pass,
    report: pass,
    runtime: pass,
  };
  void loops.run({ ...passes, isReportAwaited: () => false }, stop.signal);
  // That over images begins when the first one over containers has ended.
  const alone = { containergc: 60, localstorage: 30, nodepressure: 30, usage: 180, report: 10, runtime: 10 };
  expect(await periodsOf(registry)).toEqual(alone);
  await clock.advance(30_000);
  expect(await periodsOf(registry)).toEqual({ ...alone, imagegc: 10_800 });
});
