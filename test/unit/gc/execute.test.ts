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
import { PassFixture, only } from './fixture.ts';

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
    const fixture = new PassFixture();
    const { stopped } = await fixture.run({
      execution: { checks: [{ name: 'any', objection: only('b', objection) }] },
    });
    expect(fixture.calls).toEqual(calls);
    expect(fixture.kinds).toEqual(kinds);
    expect(stopped).toEqual(objection.kind === 'stop' ? objection : undefined);
  });

  test('of the first check decides, and later checks send no query', async () => {
    const fixture = new PassFixture();
    const first = fixture.check('first', { objection: () => ({ kind: 'keep', reason: 'InUse' }) });
    const second = fixture.check('second', { objection: () => ({ kind: 'keep', reason: 'Pinned' }) });
    await fixture.run({ decisions: ['a'], execution: { checks: [first, second] } });
    expect(fixture.calls).toEqual(['query first a']);
    expect(fixture.outcomes).toMatchObject([{ kind: 'kept', reason: 'InUse' }]);
  });

  test('that arises during a later query stops the action', async () => {
    const fixture = new PassFixture();
    let isLeader = true;
    const lease: Check<string> = {
      name: 'lease',
      objection: () => (isLeader ? undefined : { kind: 'stop', why: 'lease lost' }),
    };
    const node = fixture.check('node', {
      takesMs: () => {
        isLeader = false;
        return 0;
      },
    });
    const { stopped } = await fixture.run({ execution: { checks: [lease, node] } });
    expect(fixture.calls).toEqual(['query node a']);
    expect(stopped).toEqual({ kind: 'stop', why: 'lease lost' });
  });
});

describe('an object that needs several requests', () => {
  test('is re-checked before each request', async () => {
    const fixture = new PassFixture();
    const node = fixture.check('node');
    const mark = fixture.step('mark');
    const slowMark = (target: string): Promise<StepResult> => {
      fixture.clock.advance(liveMs);
      return mark(target);
    };
    await fixture.run({
      decisions: ['a'],
      execution: { checks: [node], steps: [slowMark, fixture.step('delete')] },
    });
    expect(fixture.calls).toEqual(['query node a', 'mark a', 'query node a', 'delete a']);
  });

  test('is kept after the first request if a check objects by then', async () => {
    const fixture = new PassFixture();
    let hasLabel = false;
    const check: Check<string> = {
      name: 'label',
      objection: () => (hasLabel ? { kind: 'keep', reason: 'KeepMarked' } : undefined),
    };
    const setFailed = (): Promise<StepResult> => {
      hasLabel = true;
      return Promise.resolve({ kind: 'done' });
    };
    await fixture.run({
      decisions: ['a'],
      execution: { checks: [check], steps: [setFailed, fixture.step('delete')] },
    });
    expect(fixture.calls).toEqual([]);
    expect(fixture.kinds).toEqual(['a kept']);
  });

  test('is counted once, with the sum of the freed bytes', async () => {
    const fixture = new PassFixture();
    const steps = [fixture.step('one', () => ({ kind: 'done', freedBytes: 3 })), fixture.step('two')];
    const { outcomes } = await fixture.run({ decisions: ['a'], execution: { steps } });
    expect(outcomes).toEqual([{ kind: 'done', decision: 'a', freedBytes: 3 }]);
  });
});

describe('failures of the connection', () => {
  /** Fails for `a` and `c`; the result for `b` is this one. */
  const passWith = (between: StepResult | Error, over: Partial<Execution<string>> = {}) => {
    const fixture = new PassFixture();
    const step = (target: string): Promise<StepResult> => {
      const result = target === 'b' ? between : new Error('500');
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
    };
    const isHopeless = (error: unknown): boolean => error instanceof Error && error.message === '500';
    return { fixture, pass: fixture.run({ execution: { steps: [step], isHopeless, ...over } }) };
  };
  const wouldFail = { kind: 'stop', why: 'the others would fail as well' };

  test('in a row stop the pass', async () => {
    const { fixture, pass } = passWith(new Error('500'));
    expect((await pass).stopped).toEqual(wouldFail);
    expect(fixture.kinds).toEqual(['a failed', 'b failed']);
  });

  test('stop the pass at once where one is enough', async () => {
    const { fixture, pass } = passWith({ kind: 'done' }, { giveUpAfter: 1 });
    expect((await pass).stopped).toEqual(wouldFail);
    expect(fixture.kinds).toEqual(['a failed']);
  });

  test.each<{ readonly name: string; readonly result: StepResult | Error; readonly kind: string }>([
    { name: 'that is removed', result: { kind: 'done' }, kind: 'done' },
    {
      name: 'that the server rejects to remove',
      result: { kind: 'keep', reason: 'BudgetBlocked' },
      kind: 'kept',
    },
    { name: 'that is already gone', result: { kind: 'gone' }, kind: 'gone' },
    { name: 'that fails by itself', result: new Error('denied'), kind: 'failed' },
  ])('with an object $name in between do not stop the pass', async ({ result, kind }) => {
    const { fixture, pass } = passWith(result);
    expect((await pass).stopped).toBeUndefined();
    expect(fixture.kinds).toEqual(['a failed', `b ${kind}`, 'c failed']);
  });

  test('with an object in between that a check keeps stop the pass', async () => {
    const check = { name: 'label', objection: only('b', { kind: 'keep', reason: 'KeepMarked' }) };
    const { fixture, pass } = passWith({ kind: 'done' }, { checks: [check] });
    expect((await pass).stopped).toEqual(wouldFail);
    expect(fixture.kinds).toEqual(['a failed', 'b kept', 'c failed']);
  });
});

test('objects that cannot be removed never stop a pass, however many there are', async () => {
  const fixture = new PassFixture();
  const objects = Array.from({ length: 500 }, (_, i) => String(i));
  const steps = [() => Promise.reject<StepResult>(new Error('denied'))];
  const { stopped } = await fixture.run({
    decisions: objects,
    execution: { steps, isHopeless: () => false },
  });
  expect(stopped).toBeUndefined();
  expect(fixture.outcomes).toHaveLength(500);
});

describe('a server that throttles', () => {
  const throttling = (fixture: PassFixture, times: number, forMs: number): Execution<string>['steps'] => {
    let left = times;
    return [
      fixture.step('remove', () =>
        left-- > 0 ? { kind: 'throttled', forMs, error: new Error('429') } : { kind: 'done' },
      ),
    ];
  };

  test('gets no request until the pause ends, and then the same request again', async () => {
    const fixture = new PassFixture();
    await fixture.run({ decisions: ['a', 'b'], execution: { steps: throttling(fixture, 1, 2_000) } });
    expect(fixture.calls).toEqual(['remove a', 'remove a', 'remove b']);
    expect(fixture.clock.monotonicMs()).toBe(2_000);
    expect(fixture.kinds).toEqual(['a done', 'b done']);
  });

  test('pauses the pass for at most 30 s at a time', async () => {
    const fixture = new PassFixture();
    await fixture.run({ decisions: ['a'], execution: { steps: throttling(fixture, 1, 3_600_000) } });
    expect(fixture.clock.monotonicMs()).toBe(30_000);
  });

  test('is queried again after the pause', async () => {
    const fixture = new PassFixture();
    const checks = [fixture.check('node')];
    await fixture.run({ decisions: ['a'], execution: { checks, steps: throttling(fixture, 1, liveMs) } });
    expect(fixture.calls).toEqual(['query node a', 'remove a', 'query node a', 'remove a']);
  });

  test('five times counts as a failure', async () => {
    const fixture = new PassFixture();
    await fixture.run({ decisions: ['a', 'b'], execution: { steps: throttling(fixture, 5, 1) } });
    expect(fixture.kinds).toEqual(['a failed', 'b done']);
    expect(fixture.outcomes[0]).toMatchObject({ error: new Error('429') });
  });

  test('pauses all workers', async () => {
    const fixture = new PassFixture();
    const clock = new ManualClock();
    const pass = fixture.run({ execution: { clock, concurrency: 2, steps: throttling(fixture, 1, 1_000) } });
    await settled();
    expect(fixture.calls).toEqual(['remove a', 'remove b']);
    clock.advance(1_000);
    await pass;
    expect(fixture.calls.slice(2).toSorted()).toEqual(['remove a', 'remove c']);
  });
});

describe('a pause', () => {
  const throttledFor = (...ms: readonly number[]): Execution<string>['steps'] => {
    const left = [...ms];
    return [
      (): Promise<StepResult> => {
        const forMs = left.shift();
        return Promise.resolve(
          forMs === undefined ? { kind: 'done' } : { kind: 'throttled', forMs, error: new Error('429') },
        );
      },
    ];
  };

  test('is the longest that the server has requested', async () => {
    const fixture = new PassFixture();
    const clock = new ManualClock();
    const steps = throttledFor(10_000, 1_000);
    const pass = fixture.run({ decisions: ['a', 'b'], execution: { clock, concurrency: 2, steps } });
    await settled();
    clock.advance(9_999);
    await settled();
    expect(fixture.kinds).toEqual([]);
    clock.advance(1);
    await pass;
    expect(fixture.kinds).toEqual(['a done', 'b done']);
  });

  test('ends with a shutdown', async () => {
    const fixture = new PassFixture();
    const stop = new AbortController();
    const execution = { clock: new ManualClock(), steps: throttledFor(10_000) };
    const pass = fixture.run({ execution, signal: stop.signal });
    await settled();
    stop.abort();
    expect(await pass).toEqual({ outcomes: [], stopped: { kind: 'stop', why: 'shutting down' } });
  });
});

describe('a pass', () => {
  test('ends when its target is met, before the next decision', async () => {
    const fixture = new PassFixture();
    await fixture.run({ execution: { enough: (target) => target === 'c' } });
    expect(fixture.calls).toEqual(['remove a', 'remove b']);
  });

  test('executes as many decisions at a time as allowed, in order', async () => {
    const fixture = new PassFixture();
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
    const pass = fixture.run({ execution: { steps, concurrency: 2 } });
    await settled();
    expect([...waiting.keys()]).toEqual(['a', 'b']);
    waiting.get('b')?.();
    await settled();
    expect([...waiting.keys()]).toEqual(['a', 'c']);
    waiting.get('c')?.();
    waiting.get('a')?.();
    await pass;
    expect(fixture.kinds).toEqual(['b done', 'c done', 'a done']);
  });

  test('awaits sent requests after a stop, and starts nothing more', async () => {
    const fixture = new PassFixture();
    const stop = new AbortController();
    const remove = fixture.step('remove');
    const steps = [
      (target: string) => {
        stop.abort();
        return remove(target);
      },
    ];
    const { stopped } = await fixture.run({ execution: { steps }, signal: stop.signal });
    expect(fixture.kinds).toEqual(['a done']);
    expect(stopped).toEqual({ kind: 'stop', why: 'shutting down' });
  });

  test('does nothing after a shutdown during the last check', async () => {
    const fixture = new PassFixture();
    const stop = new AbortController();
    const stopping: Check<string> = {
      name: 'stopping',
      objection: () => {
        stop.abort();
        return undefined;
      },
    };
    await fixture.run({ execution: { checks: [stopping] }, signal: stop.signal });
    expect(fixture.calls).toEqual([]);
  });

  test('that another worker has stopped does nothing more, even with fresh responses', async () => {
    const fixture = new PassFixture();
    const slow = fixture.check('node');
    const stopping: Check<string> = {
      name: 'stopping',
      objection: only('b', { kind: 'stop', why: 'lease lost' }),
    };
    await fixture.run({ decisions: ['a', 'b'], execution: { checks: [stopping, slow], concurrency: 2 } });
    expect(fixture.calls.filter((call) => call.startsWith('remove'))).toEqual([]);
  });

  test('starts no more decisions per second than allowed', async () => {
    const fixture = new PassFixture();
    const started: number[] = [];
    const steps = [
      (): Promise<StepResult> => {
        started.push(fixture.clock.monotonicMs());
        return Promise.resolve({ kind: 'done' });
      },
    ];
    await fixture.run({ execution: { steps, maxPerSecond: 4 } });
    expect(started).toEqual([0, 250, 500]);
  });

  test('does not make up for a slow decision by a burst', async () => {
    const fixture = new PassFixture();
    const started: number[] = [];
    const steps = [
      (target: string): Promise<StepResult> => {
        started.push(fixture.clock.monotonicMs());
        if (target === 'a') fixture.clock.advance(1_000);
        return Promise.resolve({ kind: 'done' });
      },
    ];
    await fixture.run({ decisions: ['a', 'b', 'c', 'd'], execution: { steps, maxPerSecond: 4 } });
    expect(started).toEqual([0, 1_000, 1_250, 1_500]);
  });
});

test.each([
  { stopped: { kind: 'stop', why: 'shutting down' }, level: 'info' },
  { stopped: { kind: 'stop', why: 'no response', unknown: true }, level: 'warn' },
] as const)('an early end is logged: $stopped.why, $level', ({ stopped, level }) => {
  const log = new RecordingLogger();
  logStop(log, stopped);
  logStop(log, undefined);
  expect(log.lines).toMatchObject([{ level, message: 'pass ended early', fields: { why: stopped.why } }]);
});

test('the error of a failed pass is not logged here: its loop logs what the caller throws', () => {
  const log = new RecordingLogger();
  logStop(log, { kind: 'stop', why: 'no response', error: new Error('no response') });
  expect(log.lines).toEqual([]);
});
