import { describe, expect, test } from 'vitest';
import { pod, policy, terminatedRule } from '../../../builders.ts';
import { aged, gone, orphaned } from '../../controllers/podgc.world.ts';
import { ask, finished, flat, worldOf, type Told } from './scene.ts';

describe('what the table says', () => {
  const table = (told: Told, assumeElapsed = false): string =>
    flat(
      ask({ question: { kind: 'pod', namespace: 'default', name: 'x' }, world: worldOf(told), assumeElapsed })
        .table,
    );

  test('of an orphan: that its containers may still run', () => {
    const world = { policies: [orphaned()], pods: [pod('x', gone)] };
    for (const elapsed of [true, false]) {
      expect(table(world, elapsed)).toContain('Beware Its containers may still be running');
      expect(table(world, elapsed)).toContain('the live read of the node');
    }
  });

  test('of what waits for time: when, and how long that is', () => {
    expect(table(finished({ ttlAfterFinishedMs: 2 * 3_600_000 + 5_000 }, aged('x', 60)))).toContain(
      'When 2026-01-15T13:00:05Z, in 1h1m, if nothing else changes.',
    );
    expect(table(finished({ ttlAfterFinishedMs: 30 * 86_400_000 }, aged('x', 60)))).toContain('in 30 days');
    expect(table({ policies: [orphaned()], pods: [pod('x', gone)] })).toContain('in 40s');
  });

  test('in DryRun: that nothing is touched', () => {
    const dry = policy({ mode: 'DryRun', pods: { terminated: terminatedRule({ threshold: 1 }) } });
    const said = table({ policies: [dry], pods: [aged('x', 60), aged('y', 30)] });
    expect(said).toContain('Pod default/x (node node-1) would go: Terminated');
    expect(said).toContain('GCPolicy default (DryRun: nothing is touched)');
    expect(said).toContain('Never in mode DryRun');
  });
});
