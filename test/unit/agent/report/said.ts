import { expect } from 'vitest';
import type { KnownFacts } from '../../../../src/agent/report/facts.ts';
import type { ReportDeps } from '../../../../src/agent/report/manager.ts';
import type { NodePassReport } from '../../../../src/gc/pass.ts';
import { report, statusView } from '../../commands/status/fixtures.ts';
import { environment } from './environment.ts';

const undecided = ['PassFailed', 'Undecided'];

/** Expects that condition, metric and `dustpan status` of a node show that its last pass lacked a fact, with this text; undefined = that none of them does. */
export async function expectSaid(
  text: string | undefined,
  pass: NodePassReport | undefined,
  clock: ReportDeps['clock'],
  known: Pick<KnownFacts, 'governance'> & Partial<KnownFacts>,
): Promise<void> {
  const { manager, reports, registry } = environment({ clock }, () => known);
  if (pass !== undefined) manager.observe(pass);
  await manager.reconcile(new AbortController().signal);
  const degraded = reports.stored?.conditions?.find(({ type }) => type === 'Degraded');
  const metric = (await registry.getSingleMetric('dustpan_node_degraded')?.get())?.values[0]?.value;
  const { trouble } = statusView(undefined, [report('node-1', reports.stored)], clock.now());
  expect(metric).toBe(degraded?.status === 'True' ? 1 : 0);
  const listed = trouble.filter(({ reason }) => undecided.includes(reason));
  expect(listed.map(({ message }) => message)).toEqual(
    text === undefined ? [] : [expect.stringContaining(text)],
  );
  if (text !== undefined) expect(degraded).toMatchObject({ status: 'True', reason: listed[0]?.reason });
}
