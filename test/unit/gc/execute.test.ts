import { describe, expect, test } from 'vitest';
import {
  logStop,
  type Check,
  type Execution,
  type Objection,
  type StepResult,
} from '../../../src/gc/execute.ts';
import { liveMs } from '../../../src/gc/live.ts';
import { ManualClock } from '../../fakes/manual-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { settled } from '../../fakes/settling-clock.ts';
import { Bench, only } from './bench.ts';

describe('an objection', () => {
  test.each<{ readonly objection: Objection; readonly calls: readonly string[]; readonly kinds: string[] }>([
    {
      objection: { kind: 'keep', reason: 'KeepMarked' },
      ...{ calls: ['remove a', 'remove c'], kinds: ['a done', 'b kept', 'c done'] },
    },
    {
      objection: { kind: 'gone' },
      ...{ calls: ['remove a', 'remove c'], kinds: ['a done', 'b gone', 'c done'] },
    },
    {
      objection: { kind: 'stop', why: 'policies have changed' },
      ...{ calls: ['remove a'], kinds: ['a done'] },
    },
  ])('$objection.kind', async ({ objection, calls, kinds }) => {
    const bench = new Bench();
    const { stopped } = await bench.run({
      execution: { checks: [{ name: 'any', objection: only('b', objection) }] },
    });
    expect(bench.calls).toEqual(calls);
    expect(bench.kinds).toEqual(kinds);
    expect(stopped).toEqual(objection.kind === 'stop' ? objection : undefined);
  });

  test('of the first check decides, and the next ones are not asked', async () => {
    const bench = new Bench();
    const first = bench.check('first', { objection: () => ({ kind: 'keep', reason: 'InUse' }) });
    const second = bench.check('second', { objection: () => ({ kind: 'keep', reason: 'Pinned' }) });
    await bench.run({ decisions: ['a'], execution: { checks: [first, second] } });
    expect(bench.calls).toEqual(['ask first a']);
    expect(bench.outcomes).toMatchObject([{ kind: 'kept', reason: 'InUse' }]);
  });

  test('that comes up while a later check is asked is seen right before the action', async () => {
    const bench = new Bench();
    let isLeader = true;
    const lease: Check<string> = {
      name: 'lease',
      objection: () => (isLeader ? undefined : { kind: 'stop', why: 'lease lost' }),
    };
    const node = bench.check('node', {
      takesMs: () => {
        isLeader = false;
        return 0;
      },
    });
    const { stopped } = await bench.run({ execution: { checks: [lease, node] } });
    expect(bench.calls).toEqual(['ask node a']);
    expect(stopped).toEqual({ kind: 'stop', why: 'lease lost' });
  });
});

describe('an object that takes several requests', () => {
  test('is re-checked before each of them', async () => {
    const bench = new Bench();
    const node = bench.check('node');
    const mark = bench.step('mark');
    const slowMark = (target: string): Promise<StepResult> => {
      bench.clock.advance(liveMs);
      return mark(target);
    };
    await bench.run({
      decisions: ['a'],
      execution: { checks: [node], steps: [slowMark, bench.step('delete')] },
    });
    expect(bench.calls).toEqual(['ask node a', 'mark a', 'ask node a', 'delete a']);
  });

  test('is left after the first when a check objects by then', async () => {
    const bench = new Bench();
    let isMarked = false;
    const check: Check<string> = {
      name: 'label',
      objection: () => (isMarked ? { kind: 'keep', reason: 'KeepMarked' } : undefined),
    };
    const mark = (): Promise<StepResult> => {
      isMarked = true;
      return Promise.resolve({ kind: 'done' });
    };
    await bench.run({
      decisions: ['a'],
      execution: { checks: [check], steps: [mark, bench.step('delete')] },
    });
    expect(bench.calls).toEqual([]);
    expect(bench.kinds).toEqual(['a kept']);
  });

  test('is counted once, with what all of them freed', async () => {
    const bench = new Bench();
    const steps = [bench.step('one', () => ({ kind: 'done', freedBytes: 3 })), bench.step('two')];
    const { outcomes } = await bench.run({ decisions: ['a'], execution: { steps } });
    expect(outcomes).toEqual([{ kind: 'done', decision: 'a', freedBytes: 3 }]);
  });
});

describe('failures', () => {
  const failing = (bench: Bench, ...names: readonly string[]): Partial<Execution<string>> => ({
    steps: [
      (target) => {
        bench.calls.push(`remove ${target}`);
        return names.includes(target) ? Promise.reject(new Error('500')) : Promise.resolve({ kind: 'done' });
      },
    ],
  });

  test('in a row stop the pass', async () => {
    const bench = new Bench();
    const { stopped } = await bench.run({ execution: failing(bench, 'a', 'b') });
    expect(bench.kinds).toEqual(['a failed', 'b failed']);
    expect(stopped).toEqual({ kind: 'stop', why: '2 failures in a row' });
  });

  test('with a success between them do not', async () => {
    const bench = new Bench();
    expect((await bench.run({ execution: failing(bench, 'a', 'c') })).stopped).toBeUndefined();
    expect(bench.kinds).toEqual(['a failed', 'b done', 'c failed']);
  });

  test('with an object between them that is kept do', async () => {
    const bench = new Bench();
    const check = { name: 'label', objection: only('b', { kind: 'keep', reason: 'KeepMarked' }) };
    const { stopped } = await bench.run({
      decisions: ['a', 'b', 'c', 'd'],
      execution: { ...failing(bench, 'a', 'c'), checks: [check] },
    });
    expect(stopped?.why).toBe('2 failures in a row');
  });

  test('with an object between them that the server refuses to remove do not', async () => {
    const bench = new Bench();
    const step = (target: string): Promise<StepResult> =>
      target === 'b'
        ? Promise.resolve({ kind: 'keep', reason: 'BudgetBlocked' })
        : Promise.reject(new Error('500'));
    const { stopped } = await bench.run({ execution: { steps: [step] } });
    expect(stopped).toBeUndefined();
    expect(bench.kinds).toEqual(['a failed', 'b kept', 'c failed']);
  });

  test('that every other removal would share stop it at once', async () => {
    const bench = new Bench();
    const isHopeless = (error: unknown): boolean => error instanceof Error && error.message === '500';
    const { stopped } = await bench.run({ execution: { ...failing(bench, 'a'), isHopeless } });
    expect(bench.calls).toEqual(['remove a']);
    expect(stopped?.kind).toBe('stop');
  });
});

describe('a server that throttles', () => {
  const throttling = (bench: Bench, times: number, forMs: number): Execution<string>['steps'] => {
    let left = times;
    return [
      bench.step('remove', () =>
        left-- > 0 ? { kind: 'throttled', forMs, error: new Error('429') } : { kind: 'done' },
      ),
    ];
  };

  test('is left alone for as long as it says, and the object is tried again', async () => {
    const bench = new Bench();
    await bench.run({ decisions: ['a', 'b'], execution: { steps: throttling(bench, 1, 2_000) } });
    expect(bench.calls).toEqual(['remove a', 'remove a', 'remove b']);
    expect(bench.clock.monotonicMs()).toBe(2_000);
    expect(bench.kinds).toEqual(['a done', 'b done']);
  });

  test('is not left alone for longer than 30 s at a time', async () => {
    const bench = new Bench();
    await bench.run({ decisions: ['a'], execution: { steps: throttling(bench, 1, 3_600_000) } });
    expect(bench.clock.monotonicMs()).toBe(30_000);
  });

  test('is asked everything again after the pause', async () => {
    const bench = new Bench();
    const checks = [bench.check('node')];
    await bench.run({ decisions: ['a'], execution: { checks, steps: throttling(bench, 1, liveMs) } });
    expect(bench.calls).toEqual(['ask node a', 'remove a', 'ask node a', 'remove a']);
  });

  test('five times counts as a failure', async () => {
    const bench = new Bench();
    await bench.run({ decisions: ['a', 'b'], execution: { steps: throttling(bench, 5, 1) } });
    expect(bench.kinds).toEqual(['a failed', 'b done']);
    expect(bench.outcomes[0]).toMatchObject({ error: new Error('429') });
  });

  test('is left alone by every lane', async () => {
    const bench = new Bench();
    const clock = new ManualClock();
    const pass = bench.run({ execution: { clock, concurrency: 2, steps: throttling(bench, 1, 1_000) } });
    await settled();
    expect(bench.calls).toEqual(['remove a', 'remove b']);
    clock.advance(1_000);
    await pass;
    expect(bench.calls.slice(2).toSorted()).toEqual(['remove a', 'remove c']);
  });
});

describe('a pass', () => {
  test('ends when its goal is reached, before the next decision', async () => {
    const bench = new Bench();
    await bench.run({ execution: { enough: (target) => target === 'c' } });
    expect(bench.calls).toEqual(['remove a', 'remove b']);
  });

  test('works on as many decisions at a time as it may, in order', async () => {
    const bench = new Bench();
    const waiting = new Map<string, () => void>();
    const steps = [
      (target: string) =>
        new Promise<StepResult>((resolve) => {
          waiting.set(target, () => {
            waiting.delete(target);
            resolve({ kind: 'done' });
          });
        }),
    ];
    const pass = bench.run({ execution: { steps, concurrency: 2 } });
    await settled();
    expect([...waiting.keys()]).toEqual(['a', 'b']);
    waiting.get('b')?.();
    await settled();
    expect([...waiting.keys()]).toEqual(['a', 'c']);
    waiting.get('c')?.();
    waiting.get('a')?.();
    await pass;
    expect(bench.kinds).toEqual(['b done', 'c done', 'a done']);
  });

  test('awaits what was sent when it is stopped, and starts nothing more', async () => {
    const bench = new Bench();
    const stop = new AbortController();
    const remove = bench.step('remove');
    const steps = [
      (target: string) => {
        stop.abort();
        return remove(target);
      },
    ];
    const { stopped } = await bench.run({ execution: { steps }, signal: stop.signal });
    expect(bench.kinds).toEqual(['a done']);
    expect(stopped).toEqual({ kind: 'stop', why: 'shutting down' });
  });

  test('that is stopped by the last word of a check does nothing more', async () => {
    const bench = new Bench();
    const stop = new AbortController();
    const stopping: Check<string> = {
      name: 'stopping',
      objection: () => {
        stop.abort();
        return undefined;
      },
    };
    await bench.run({ execution: { checks: [stopping] }, signal: stop.signal });
    expect(bench.calls).toEqual([]);
  });

  test('another lane has stopped does nothing more, even with all its answers', async () => {
    const bench = new Bench();
    const slow = bench.check('node');
    const stopping: Check<string> = {
      name: 'stopping',
      objection: only('b', { kind: 'stop', why: 'lease lost' }),
    };
    await bench.run({ decisions: ['a', 'b'], execution: { checks: [stopping, slow], concurrency: 2 } });
    expect(bench.calls.filter((call) => call.startsWith('remove'))).toEqual([]);
  });

  test('starts no more decisions a second than it may', async () => {
    const bench = new Bench();
    const started: number[] = [];
    const steps = [
      (): Promise<StepResult> => {
        started.push(bench.clock.monotonicMs());
        return Promise.resolve({ kind: 'done' });
      },
    ];
    await bench.run({ execution: { steps, maxPerSecond: 4 } });
    expect(started).toEqual([0, 250, 500]);
  });

  test('without decisions comes to nothing', async () => {
    expect(await new Bench().run({ decisions: [] })).toEqual({ outcomes: [], stopped: undefined });
  });
});

test.each([
  { stopped: { kind: 'stop', why: 'shutting down' }, level: 'info' },
  { stopped: { kind: 'stop', why: 'no answer', unknown: true }, level: 'warn' },
  { stopped: { kind: 'stop', why: 'no answer', error: new Error('no answer') }, level: 'warn' },
] as const)('an early end is logged: $stopped.why, $level', ({ stopped, level }) => {
  const log = new RecordingLogger();
  logStop(log, stopped);
  logStop(log, undefined);
  expect(log.lines).toMatchObject([{ level, message: 'pass ended early', fields: { why: stopped.why } }]);
});
