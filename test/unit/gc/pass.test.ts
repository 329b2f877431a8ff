import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import type { InvalidPolicy, Policy } from '../../../src/api/policy/policy.ts';
import type { Decision } from '../../../src/gc/decision.ts';
import { showPlan, startMetrics, unitMetrics } from '../../../src/gc/metrics.ts';
import { carryOut, passReport, undecidedBecause } from '../../../src/gc/pass.ts';
import { now, policy } from '../../builders.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { broken } from '../controllers/policystatus/builders.ts';

const enforcing = policy({ mode: 'Enforce' });
const dry = policy({ mode: 'DryRun' });
const image = (id: string, by: Policy | InvalidPolicy | undefined): Decision => ({
  unit: 'imagegc',
  verdict: 'Remove',
  target: { kind: 'Image', id, name: id },
  reason: 'Age',
  policy: by,
  eligibleAt: undefined,
  bytes: 1,
});

const reasons = { due: ['Age'], kept: ['InUse'], stages: [] } as const;

/** What is removed of these decisions; `fail` names those whose removal fails. */
async function pass(due: readonly Decision[], fail: readonly string[] = []) {
  const metrics = unitMetrics(new Registry());
  startMetrics(metrics, 'imagegc', reasons);
  const log = new RecordingLogger();
  const removed: string[] = [];
  const results = await carryOut(
    due,
    { unit: 'imagegc', metrics, log },
    {
      checks: [],
      steps: [
        ({ target }) => {
          const id = 'id' in target ? target.id : '';
          if (fail.includes(id)) return Promise.reject(new Error('busy'));
          removed.push(id);
          return Promise.resolve({ kind: 'done', freedBytes: 2 });
        },
      ],
      clock: new FakeClock(),
      concurrency: 1,
      fieldsOf: ({ target }) => ({ image: 'id' in target ? target.id : '' }),
      onProgress: () => undefined,
      isInterrupted: () => due.some(({ target }) => 'id' in target && target.id === 'interrupted'),
    },
    new AbortController().signal,
  );
  return { results, removed, log, metrics };
}

test('the metrics of a unit are 0 from the start; those of one that removes nothing are its plan alone', async () => {
  const started = async (rest: { readonly removesNothing?: true }): Promise<readonly string[]> => {
    const registry = new Registry();
    const stages = ['disk'] as const;
    startMetrics(unitMetrics(registry), 'imagegc', { due: ['Age'], kept: ['InUse'], stages, ...rest });
    return (await registry.metrics()).split('\n').filter((line) => /^dustpan.* 0$/.test(line));
  };
  const planned = [
    'dustpan_due_objects{unit="imagegc",reason="Age",mode="DryRun"} 0',
    'dustpan_due_objects{unit="imagegc",reason="Age",mode="Enforce"} 0',
    'dustpan_kept_objects{unit="imagegc",reason="InUse"} 0',
  ];
  const failures = ['dustpan_unit_errors_total{unit="imagegc",stage="disk"} 0'];
  const removals = [
    'dustpan_removed_objects_total{unit="imagegc",reason="Age"} 0',
    'dustpan_skipped_objects_total{unit="imagegc",reason="InUse"} 0',
    'dustpan_failed_objects_total{unit="imagegc",reason="Age"} 0',
    'dustpan_freed_bytes_total{unit="imagegc"} 0',
  ];
  expect(await started({})).toEqual([...planned, ...removals, ...failures]);
  expect(await started({ removesNothing: true })).toEqual([...planned, ...failures]);
});

describe('what is due', () => {
  test.each([
    ['a policy in mode Enforce', enforcing, ['a']],
    ['a policy in mode DryRun', dry, []],
    ['an invalid policy', broken, []],
    ['no policy', undefined, []],
  ] as const)('under %s', async (_, by, expected) => {
    const { removed, log } = await pass([image('a', by)]);
    expect(removed).toEqual(expected);
    const would = { level: 'debug', message: 'would remove image', fields: { image: 'a' } };
    expect(log.lines.filter(({ message }) => message.startsWith('would'))).toMatchObject(
      removed.length > 0 ? [] : [would],
    );
  });

  test('is counted and reported', async () => {
    const { results, metrics, log } = await pass([image('a', enforcing), image('b', enforcing)], ['b']);
    const failure = { message: 'removing image failed', fields: { image: 'b', err: 'busy' } };
    expect(log.lines.filter(({ level }) => level === 'warn')).toMatchObject([failure]);
    const report = passReport({ unit: 'imagegc', at: now, result: 'Failed', message: 'busy' }, results);
    expect(report).toMatchObject({ removed: 1, freedBytes: 2, errors: 1 });
    const counts = await Promise.all([metrics.removed, metrics.failed].map((one) => one.get()));
    expect(counts.map(({ values }) => values[0]?.value)).toEqual([1, 1]);
  });

  test('and fails is a warning; of pods that are not deleted, ten times: then only details have it', async () => {
    const ids = Array.from({ length: 12 }, (_, i) => `i${i}`);
    const levels = async (verdict: Decision['verdict']): Promise<(string | undefined)[]> => {
      const due = ids.map((id): Decision => ({ ...image(id, enforcing), verdict }));
      const { log } = await pass(due, ids);
      return log.lines.filter(({ message }) => message.endsWith(' failed')).map(({ level }) => level);
    };
    const warnings = Array.from({ length: 10 }, () => 'warn');
    expect(await levels('Delete')).toEqual([...warnings, 'debug', 'debug']);
    expect(await levels('Remove')).toEqual([...warnings, 'warn', 'warn']);
  });

  test('and is interrupted by a shutdown is no failure', async () => {
    const { log, results } = await pass([image('interrupted', enforcing)], ['interrupted']);
    expect(results.failed).toEqual([]);
    expect(log.lines.map(({ message }) => message)).not.toContain('removing image failed');
  });
});

test('the gauges of a plan count each mode, and forget the plan before', async () => {
  const metrics = unitMetrics(new Registry());
  const due = [image('a', dry), image('b', enforcing), image('c', enforcing), image('d', broken)];
  const shown = async () =>
    (await metrics.due.get()).values.map(({ labels, value }) => `${labels.mode ?? ''} ${value}`).sort();
  showPlan(metrics, 'imagegc', reasons, { due, kept: [] });
  expect(await shown()).toEqual(['DryRun 1', 'Enforce 2']);
  showPlan(metrics, 'imagegc', reasons);
  expect(await shown()).toEqual(['DryRun 0', 'Enforce 0']);
});

test('something is undecided if the clocks differ or facts are missing', () => {
  const kept = (reason: 'ClockUnsure' | 'InUse') => {
    const outcomes = [{ kind: 'kept', decision: image('a', dry), reason }] as const;
    return undecidedBecause({ outcomes, stopped: undefined }, 'skewed');
  };
  expect([kept('ClockUnsure'), kept('InUse')]).toEqual(['skewed', undefined]);
  const stopped = { kind: 'stop', why: 'unreadable', unknown: true } as const;
  expect(undecidedBecause({ outcomes: [], stopped }, undefined)).toBe('unreadable');
});
