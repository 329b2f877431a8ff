import { describe, expect, test } from 'vitest';
import { pod, policy, terminatedRule } from '../../../builders.ts';
import { aged, onMissingNode, orphaned } from '../../controllers/podgc/rows.ts';
import { explained, finished, flat, factsOf, type Facts } from './fixtures.ts';

describe('the table', () => {
  const table = (facts: Facts, assumeElapsed = false): string =>
    flat(
      explained({
        question: { kind: 'pod', namespace: 'default', name: 'x' },
        facts: factsOf(facts),
        assumeElapsed,
      }).table,
    );

  test('warns that the containers of an orphaned pod may still run', () => {
    const facts = { policies: [orphaned()], pods: [pod('x', onMissingNode)] };
    for (const elapsed of [true, false]) {
      expect(table(facts, elapsed)).toContain('Caution Its containers may still be running');
      expect(table(facts, elapsed)).toContain('the live read of the node');
    }
  });

  test('has the time at which a waiting pod is due, and how long that is', () => {
    expect(table(finished({ ttlAfterFinishedMs: 2 * 3_600_000 + 5_000 }, aged('x', 60)))).toContain(
      'When 2026-01-15T13:00:05Z, in 1h1m, if nothing else changes.',
    );
    expect(table(finished({ ttlAfterFinishedMs: 30 * 86_400_000 }, aged('x', 60)))).toContain('in 30 days');
    expect(table({ policies: [orphaned()], pods: [pod('x', onMissingNode)] })).toContain('in 40s');
  });

  test('says that mode DryRun removes nothing', () => {
    const dry = policy({ mode: 'DryRun', pods: { terminated: terminatedRule({ threshold: 1 }) } });
    const text = table({ policies: [dry], pods: [aged('x', 60), aged('y', 30)] });
    expect(text).toContain('Pod default/x (node node-1) would be deleted by podgc: Terminated');
    expect(text).toContain('GCPolicy default (DryRun: nothing is removed)');
    expect(text).toContain('Never in mode DryRun');
  });
});
