import { describe, expect, test } from 'vitest';
import type { Check, Objection, StepResult } from '../../../src/gc/execute.ts';
import { Live, liveMs } from '../../../src/gc/live.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { Bench, series } from './bench.ts';

describe('an answer', () => {
  test('that a slow check has outdated is asked for again, with all that is old by then', async () => {
    const bench = new Bench();
    const fast = bench.check('fast');
    const slow = bench.check('slow', { takesMs: series(liveMs, 0) });
    await bench.run({ decisions: ['a'], execution: { checks: [fast, slow] } });
    expect(bench.calls).toEqual(['ask fast a', 'ask slow a', 'ask fast a', 'ask slow a', 'remove a']);
  });

  test('that is one millisecond too young to be old counts', async () => {
    const bench = new Bench();
    const slow = bench.check('slow', { takesMs: () => liveMs - 1 });
    await bench.run({ decisions: ['a'], execution: { checks: [slow] } });
    expect(bench.calls).toEqual(['ask slow a', 'remove a']);
  });

  test('that is too old three times in a row stops the pass', async () => {
    const bench = new Bench();
    const slow = bench.check('slow', { takesMs: () => liveMs });
    const { stopped } = await bench.run({ execution: { checks: [slow] } });
    expect(bench.calls).toEqual(['ask slow a', 'ask slow a', 'ask slow a']);
    expect(stopped?.why).toMatch(/takes longer than 5 s/);
    expect(stopped?.error).toBeInstanceOf(Error);
  });

  test('that is too old keeps the object alone, where its check says so', async () => {
    const bench = new Bench();
    const slow = bench.check('slow', { takesMs: () => liveMs });
    const whenSlow: Objection = { kind: 'keep', reason: 'NodeUnknown' };
    await bench.run({ decisions: ['a', 'b'], execution: { checks: [{ ...slow, whenSlow }] } });
    expect(bench.kinds).toEqual(['a kept', 'b kept']);
  });

  test('is shared by decisions of one key for 5 s from the question', async () => {
    const bench = new Bench();
    const shared = bench.check('policies', { shared: true });
    const step = bench.step('remove');
    const slowly = (target: string): Promise<StepResult> => {
      bench.clock.advance(liveMs / 2);
      return step(target);
    };
    await bench.run({ execution: { checks: [shared], steps: [slowly] } });
    expect(bench.calls).toEqual(['ask policies a', 'remove a', 'remove b', 'ask policies c', 'remove c']);
  });

  test('serves as many actions as it may', async () => {
    const bench = new Bench();
    const listing = bench.check('listing', { shared: true, maxDecisions: 2 });
    await bench.run({ execution: { checks: [listing] } });
    expect(bench.calls).toEqual(['ask listing a', 'remove a', 'remove b', 'ask listing c', 'remove c']);
  });

  test('that is no objection but cannot be had fails the decision, and is shared as well', async () => {
    const bench = new Bench();
    const live = new Live<string, never>({
      clock: bench.clock,
      ask: (target) => {
        bench.calls.push(`ask ${target}`);
        return Promise.reject(new Error('no answer'));
      },
    });
    const { stopped } = await bench.run({
      execution: { checks: [{ name: 'pod', live, objection: () => undefined }] },
    });
    expect(bench.calls).toEqual(['ask a']);
    expect(bench.kinds).toEqual(['a failed', 'b failed']);
    expect(stopped?.why).toBe('2 failures in a row');
  });

  test('is asked again after a pause of the process between the last answer and the action', async () => {
    const bench = new Bench();
    let paused = false;
    const node = bench.check('node');
    // The last thing before the action that a test can pause is a check without a question.
    const pausing: Check<string> = {
      name: 'pausing',
      objection: () => {
        if (!paused) bench.clock.advance(liveMs);
        paused = true;
        return undefined;
      },
    };
    await bench.run({ decisions: ['a'], execution: { checks: [node, pausing] } });
    expect(bench.calls).toEqual(['ask node a', 'ask node a', 'remove a']);
  });

  test('is not waited for after a shutdown, and nothing is removed by it', async () => {
    const bench = new Bench();
    const stop = new AbortController();
    const live = new Live<string, never>({
      clock: bench.clock,
      ask: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('aborted'));
          });
          stop.abort();
        }),
    });
    const checks = [{ name: 'pod', live, objection: () => undefined }];
    const { stopped, outcomes } = await bench.run({ execution: { checks }, signal: stop.signal });
    expect([stopped?.why, outcomes]).toEqual(['shutting down', []]);
  });
});

describe('a live answer', () => {
  const own = (clock: FakeClock): Live<string, string> =>
    new Live({
      clock,
      key: (target) => (target === 'none' ? undefined : target),
      ask: (target) => Promise.resolve(`answer about ${target}`),
    });
  const never = new AbortController().signal;

  test('is that of its own object', async () => {
    const live = own(new FakeClock());
    await live.refresh('a', never);
    await live.refresh('b', never);
    expect([live.answer('a'), live.answer('b')]).toEqual(['answer about a', 'answer about b']);
  });

  test('is not fresh before it is there', async () => {
    const live = own(new FakeClock());
    expect(live.isFresh('a')).toBe(false);
    const asking = live.refresh('a', never);
    expect(live.isFresh('a')).toBe(false);
    await asking;
    expect(live.isFresh('a')).toBe(true);
  });

  test('is not needed where a decision does not depend on it', async () => {
    const live = own(new FakeClock());
    await live.refresh('none', never);
    expect([live.isFresh('none'), live.answer('none')]).toEqual([true, undefined]);
  });
});
