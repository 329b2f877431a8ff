import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isWorthWriting } from '../../../src/agent/report/change.ts';
import { planReport } from '../../../src/agent/report/plan.ts';
import { agentOptions } from '../../../src/commands/agent/command.ts';
import {
  firstDelays,
  firstStorageMs,
  loopJitter,
  passSpreadMs,
  reportSpreadMs,
} from '../../../src/commands/agent/spread.ts';
import { reflectorBackoff } from '../../../src/kube/http/backoff.ts';
import { refreshMs } from '../../../src/kube/events/series.ts';
import { EventSpamFilter } from '../../../src/kube/events/spam-filter.ts';
import { backoffMs } from '../../../src/kube/http/retry.ts';
import { watchEvents } from '../../../src/kube/cache/list-watch.ts';
import { jsonResource } from '../../../src/kube/cache/resources.ts';
import { now } from '../../builders.ts';
import { FakeTransport } from '../../fakes/transport.ts';
import { ManualClock } from '../../fakes/manual-clock.ts';
import { facts, pass, passes } from '../agent/report/builders.ts';

const page = readFileSync(new URL('../../../docs/scale.md', import.meta.url), 'utf8');
const agents = 5_000;
const almostOne = 1 - 1e-9;
const seconds = (ms: number): number => Math.round(ms / 1_000);
const perSecond = (count: number, overSeconds: number): string =>
  String(Number(((agents * count) / overSeconds).toFixed(1)));

/** The cells of the only row with this beginning. */
function row(...beginning: readonly string[]): readonly string[] {
  const rows = page.split('\n').map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1),
  );
  const found = rows.filter((cells) => beginning.every((text, i) => cells[i]?.startsWith(text)));
  if (found.length !== 1) throw new Error(`${found.length} rows begin with ${beginning.join(' | ')}`);
  return found[0] ?? [];
}

const { containerGcPeriod: periodMs, kubeApiQps, kubeApiBurst } = agentOptions().opts();

test('requests at the start', () => {
  const [first, last] = [firstDelays(periodMs, 0), firstDelays(periodMs, almostOne)].map(({ reportMs }) =>
    seconds(reportMs),
  );
  for (const request of ['GET', 'POST', 'PATCH']) {
    const [, , each, all] = row('start', `${request} nodegcreports`);
    expect(each).toContain('1, ');
    expect(all).toBe(perSecond(1, (last ?? 0) - (first ?? 0)));
  }
  expect(row('start', 'GET nodegcreports')[2]).toBe(`1, within ${first} to ${last} s`);
  const [, over, by] = row('they start');
  expect(over).toContain(
    `${seconds(firstDelays(10 * periodMs, almostOne).passMs)} s, or one \`--container-gc-period\``,
  );
  expect(firstDelays(1_000, almostOne).passMs).toBeCloseTo(1_000);
  expect(by).toContain(`follows that by ${first} s`);
});

async function watchSeconds(random: number): Promise<number> {
  const transport = new FakeTransport({});
  const resource = jsonResource({ name: 'things', path: '/things' });
  const source = { transport, resource, clock: new ManualClock(), random: () => random };
  for await (const events of watchEvents(source, '1', new AbortController().signal))
    expect(events).toEqual([]);
  return Number(transport.requests[0]?.query?.['timeoutSeconds']);
}

test('interval of watches', async () => {
  const [least, most] = [await watchSeconds(0), await watchSeconds(almostOne)];
  const [, , each, all] = row('rest', 'WATCH again');
  expect(each).toBe(`3 in ${least} to ${most} s`);
  expect(all).toBe(perSecond(3, (least + most) / 2));
  expect(row('watches end')[1]).toContain(`${most - least} s`);
});

/** The age in seconds at which a report is written again. */
function writtenFrom(next: Parameters<typeof facts>[0], jitter: number): number {
  for (let age = 1; age < 1_000; age += 1) {
    const previous = planReport(facts(), undefined, new Date(now.getTime() - age * 1_000));
    if (isWorthWriting(previous, planReport(facts(next), previous, now), { now, jitter, isLast: false }))
      return age;
  }
  return NaN;
}

test('interval of reports', () => {
  const [least, most] = [writtenFrom({}, 0), writtenFrom({}, almostOne)];
  const [, , each, all] = row('rest', 'PATCH nodegcreports');
  expect(each).toBe(`1 in ${least} to ${most} s`);
  expect(all).toBe(perSecond(1, (least + most) / 2));
  expect(row('quiet reports')[1]).toContain(`${most - least} s of ${least}`);
  const removed = { passes: passes(pass('imagegc', { removed: 1 }), pass('containergc')) };
  const [, , atMost, sum] = row('work', 'PATCH nodegcreports');
  expect(atMost).toBe(`at most 1 in ${writtenFrom(removed, 0)} s`);
  expect(sum).toBe(perSecond(1, writtenFrom(removed, 0)));
});

test('delay of changes', () => {
  const [, , each, all] = row('news', 'PATCH nodegcreports');
  expect(each).toBe(`1, within ${seconds(reportSpreadMs(periodMs))} s`);
  expect(all).toBe(perSecond(1, seconds(reportSpreadMs(periodMs))));
  const [, over] = row('a policy changes');
  expect(over).toContain(`${seconds(passSpreadMs(100 * periodMs))} s, or a sixth`);
  expect(over).toContain(`reports: ${seconds(reportSpreadMs(100 * periodMs))} s, or that period`);
  expect(reportSpreadMs(6_000)).toBe(6_000);
  expect(passSpreadMs(6_000)).toBe(1_000);
  expect(row('pods are to be evicted')[1]).toBe(
    `${seconds(firstStorageMs(100 * periodMs, almostOne))} s, or one \`--local-storage-period\` if that is shorter`,
  );
  expect(firstStorageMs(1_000, almostOne)).toBeCloseTo(1_000);
  expect(loopJitter).toBe(0.1);
  expect(row('passes')[1]).toContain('a tenth');
});

test('limit of Events', () => {
  const filter = new EventSpamFilter(0);
  const allowed = (ms: number): number => {
    let count = 0;
    while (filter.allows(`object ${ms} ${count}`, ms)) count += 1;
    return count;
  };
  const [burst, rate] = [allowed(0), allowed(1_000)];
  const [, request, each] = row('trouble', 'POST and PATCH events');
  expect(each).toBe(`at most ${rate} a second after ${burst}`);
  expect(request).toContain(`one in ${seconds(refreshMs) / 60} min`);
});

test('backoff of reflectors and requests', () => {
  const { initialMs, maxMs } = reflectorBackoff;
  const [, over, by] = row('the API server is away');
  expect(over).toContain(`${initialMs / 1_000} s, doubled to ${maxMs / 1_000} s`);
  expect(over).toContain(`at most ${(2 * maxMs) / 1_000} s`);
  expect(by).toContain(`${backoffMs(0, 1) / 1_000} s to ${backoffMs(100, 1) / 1_000} s`);
  expect(page).toContain(`after ${initialMs / 1_000} to ${(2 * initialMs) / 1_000} s`);
});

test('limit of requests per agent', () => {
  expect(page).toContain(
    `at most ${kubeApiQps} requests a second after ${kubeApiBurst} at once (\`--kube-api-qps\`, \`--kube-api-burst\`)`,
  );
});
