import { beforeEach, describe, expect, test } from 'vitest';
import {
  logStop,
  type Check,
  type Execution,
  type Objection,
  type StepResult,
} from '../../../src/gc/execute.ts';
import { LiveQuery, liveMs } from '../../../src/gc/live.ts';
import { ManualClock } from '../../fakes/manual-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { settled } from '../../fakes/settling-clock.ts';
import { PassFixture, only } from './fixture.ts';

let fixture: PassFixture;
beforeEach(() => {
  fixture = new PassFixture();
});

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
    const { stopped } = await fixture.run({
      execution: { checks: [{ objection: only('b', objection) }] },
    });
    expect(fixture.calls).toEqual(calls);
    expect(fixture.kinds).toEqual(kinds);
    expect(stopped).toEqual(objection.kind === 'stop' ? objection : undefined);
  });

  test('of the first check decides, and later checks send no query', async () => {
    const first = fixture.check('first', { objection: () => ({ kind: 'keep', reason: 'InUse' }) });
    const second = fixture.check('second', { objection: () => ({ kind: 'keep', reason: 'Pinned' }) });
    await fixture.run({ decisions: ['a'], execution: { checks: [first, second] } });
    expect(fixture.calls).toEqual(['query first a']);
    expect(fixture.outcomes).toMatchObject([{ kind: 'kept', reason: 'InUse' }]);
  });
});

describe('an object that needs several requests', () => {
  test('is re-checked before each request', async () => {
    const slowMark = (target: string): Promise<StepResult> => {
      fixture.clock.advance(liveMs);
      return fixture.step('mark')(target);
    };
    const execution = { checks: [fixture.check('node')], steps: [slowMark, fixture.step('delete')] };
    await fixture.run({ decisions: ['a'], execution });
    expect(fixture.calls).toEqual(['query node a', 'mark a', 'query node a', 'delete a']);
  });

  test('is kept after the first request if a check objects by then', async () => {
    let hasLabel = false;
    const check: Check<string> = {
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
    const steps = [fixture.step('one', () => ({ kind: 'done', freedBytes: 3 })), fixture.step('two')];
    const { outcomes } = await fixture.run({ decisions: ['a'], execution: { steps } });
    expect(outcomes).toEqual([{ kind: 'done', decision: 'a', freedBytes: 3 }]);
  });
});

describe('failures of the connection', () => {
  /** Fails for `a` and `c`; the result for `b` is this one. */
  const passWith = (between: StepResult | Error, over: Partial<Execution<string>> = {}) => {
    const step = (target: string): Promise<StepResult> => {
      const result = target === 'b' ? between : new Error('500');
      return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
    };
    const isHopeless = (error: unknown): boolean => error instanceof Error && error.message === '500';
    return fixture.run({ execution: { steps: [step], isHopeless, ...over } });
  };
  const keeping = {
    checks: [{ objection: only('b', { kind: 'keep', reason: 'KeepMarked' }) }],
  };

  test.each<[string, StepResult | Error, stops: boolean, kinds: string, over?: Partial<Execution<string>>]>([
    ['in a row stop the pass', new Error('500'), true, 'a failed, b failed'],
    ['stop the pass at once where one is enough', { kind: 'done' }, true, 'a failed', { giveUpAfter: 1 }],
    [
      'before one that a check keeps stop it too',
      { kind: 'done' },
      true,
      'a failed, b kept, c failed',
      keeping,
    ],
    ['around one that is removed do not', { kind: 'done' }, false, 'a failed, b done, c failed'],
    [
      'around one that the server rejects to remove do not',
      { kind: 'keep', reason: 'BudgetBlocked' },
      false,
      'a failed, b kept, c failed',
    ],
    ['around one that is already gone do not', { kind: 'gone' }, false, 'a failed, b gone, c failed'],
    ['around one that fails by itself do not', new Error('denied'), false, 'a failed, b failed, c failed'],
  ])('%s', async (_, between, stops, ...[kinds, over]) => {
    const { stopped } = await passWith(between, over);
    expect(stopped).toEqual(stops ? { kind: 'stop', why: 'the others would fail as well' } : undefined);
    expect(fixture.kinds.join(', ')).toBe(kinds);
  });
});

/** The server throttles the first requests for so long. */
const throttledFor = (...ms: readonly number[]): Execution<string>['steps'] => {
  const left = [...ms];
  return [
    fixture.step('remove', () => {
      const forMs = left.shift();
      return forMs === undefined ? { kind: 'done' } : { kind: 'throttled', forMs, error: new Error('429') };
    }),
  ];
};

describe('a server that throttles', () => {
  test.each([
    { name: 'gets the same request again after the pause', ms: [2_000], pausedMs: 2_000, tries: 2 },
    { name: 'pauses the pass for at most 30 s at a time', ms: [3_600_000], pausedMs: 30_000, tries: 2 },
    { name: 'five times has failed to remove the object', ms: [1, 1, 1, 1, 1], pausedMs: 4, tries: 5 },
  ])('$name', async ({ ms, pausedMs, tries }) => {
    await fixture.run({ decisions: ['a', 'b'], execution: { steps: throttledFor(...ms) } });
    expect(fixture.calls).toEqual([...Array<string>(tries).fill('remove a'), 'remove b']);
    expect(fixture.clock.monotonicMs()).toBe(pausedMs);
    expect(fixture.outcomes.map(({ kind }) => kind)).toEqual([tries < 5 ? 'done' : 'failed', 'done']);
    if (tries === 5) expect(fixture.outcomes[0]).toMatchObject({ error: new Error('429') });
  });

  test('is queried again after the pause', async () => {
    const checks = [fixture.check('node')];
    await fixture.run({ decisions: ['a'], execution: { checks, steps: throttledFor(liveMs) } });
    expect(fixture.calls).toEqual(['query node a', 'remove a', 'query node a', 'remove a']);
  });

  test('pauses all workers, for the longest time that it has requested', async () => {
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

  test('does not delay a shutdown', async () => {
    const stop = new AbortController();
    const execution = { clock: new ManualClock(), steps: throttledFor(10_000) };
    const pass = fixture.run({ execution, signal: stop.signal });
    await settled();
    stop.abort();
    expect(await pass).toEqual({
      outcomes: [],
      stopped: { kind: 'stop', why: 'shutting down', isShutdown: true },
    });
  });
});

describe('a pass', () => {
  test('ends when its target is met, before the next decision', async () => {
    await fixture.run({ execution: { enough: (target) => target === 'c' } });
    expect(fixture.calls).toEqual(['remove a', 'remove b']);
  });

  test('executes as many decisions at a time as allowed, in order', async () => {
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
    expect(stopped).toEqual({ kind: 'stop', why: 'shutting down', isShutdown: true });
  });

  test('does nothing after a shutdown during the last check', async () => {
    const stop = new AbortController();
    const stopping: Check<string> = {
      objection: () => {
        stop.abort();
        return undefined;
      },
    };
    await fixture.run({ execution: { checks: [stopping] }, signal: stop.signal });
    expect(fixture.calls).toEqual([]);
  });

  test('that another worker has stopped does nothing more, even with fresh responses', async () => {
    const stopping = { objection: only('b', { kind: 'stop', why: 'lease lost' }) };
    const checks = [stopping, fixture.check('node')];
    await fixture.run({ decisions: ['a', 'b'], execution: { checks, concurrency: 2 } });
    expect(fixture.calls.filter((call) => call.startsWith('remove'))).toEqual([]);
  });

  test('starts no more decisions per second than allowed, and makes up for a slow one by no burst', async () => {
    const started: number[] = [];
    const step = (target: string): Promise<StepResult> => {
      started.push(fixture.clock.monotonicMs());
      if (target === 'a') fixture.clock.advance(1_000);
      return Promise.resolve({ kind: 'done' });
    };
    await fixture.run({ decisions: ['a', 'b', 'c', 'd'], execution: { steps: [step], maxPerSecond: 4 } });
    expect(started).toEqual([0, 1_000, 1_250, 1_500]);
  });
});

describe('a response', () => {
  test('that is one millisecond below the maximum age is fresh', async () => {
    const slow = fixture.check('slow', { takesMs: () => liveMs - 1 });
    await fixture.run({ decisions: ['a'], execution: { checks: [slow] } });
    expect(fixture.calls).toEqual(['query slow a', 'remove a']);
  });

  test('that is stale three times in a row stops the pass', async () => {
    const slow = fixture.check('slow', { takesMs: () => liveMs });
    const { stopped } = await fixture.run({ execution: { checks: [slow] } });
    expect(fixture.calls).toEqual(['query slow a', 'query slow a', 'query slow a']);
    expect(stopped?.why).toMatch(/takes longer than 5 s/);
    expect(stopped?.error).toBeInstanceOf(Error);
  });

  test('that is stale three times in a row only keeps the object if its check has `whenSlow`', async () => {
    const slow = fixture.check('slow', { takesMs: () => liveMs });
    const whenSlow: Objection = { kind: 'keep', reason: 'NodeUnknown' };
    await fixture.run({ decisions: ['a', 'b'], execution: { checks: [{ ...slow, whenSlow }] } });
    expect(fixture.kinds).toEqual(['a kept', 'b kept']);
  });

  test('is shared by decisions of one key for 5 s from the request', async () => {
    const shared = fixture.check('policies', { shared: true });
    const step = fixture.step('remove');
    const slowly = (target: string): Promise<StepResult> => {
      fixture.clock.advance(liveMs / 2);
      return step(target);
    };
    await fixture.run({ execution: { checks: [shared], steps: [slowly] } });
    expect(fixture.calls).toEqual([
      'query policies a',
      'remove a',
      'remove b',
      'query policies c',
      'remove c',
    ]);
  });

  test('serves all steps of at most `maxDecisions` decisions', async () => {
    const checks = [fixture.check('listing', { shared: true, maxDecisions: 2 })];
    await fixture.run({ execution: { checks, steps: [fixture.step('stop'), fixture.step('remove')] } });
    expect(fixture.calls).toEqual([
      ...['query listing a', 'stop a', 'remove a', 'stop b', 'remove b'],
      ...['query listing c', 'stop c', 'remove c'],
    ]);
  });

  test('that is an error fails the decision, and is shared as well', async () => {
    const live = new LiveQuery<string, never>({
      clock: fixture.clock,
      query: (target) => {
        fixture.calls.push(`query ${target}`);
        return Promise.reject(new Error('no response'));
      },
    });
    const { stopped } = await fixture.run({
      execution: { checks: [{ live, objection: () => undefined }] },
    });
    expect(fixture.calls).toEqual(['query a']);
    expect(fixture.kinds).toEqual(['a failed', 'b failed']);
    expect(stopped?.why).toBe('the others would fail as well');
  });

  test('is not awaited after a shutdown, and nothing is removed', async () => {
    const stop = new AbortController();
    const live = new LiveQuery<string, never>({
      clock: fixture.clock,
      query: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('aborted')));
          stop.abort();
        }),
    });
    const checks = [{ live, objection: () => undefined }];
    const { stopped, outcomes } = await fixture.run({ execution: { checks }, signal: stop.signal });
    expect([stopped?.why, outcomes]).toEqual(['shutting down', []]);
  });
});

test('an early end is logged, unless the loop of the pass logs its error', () => {
  const log = new RecordingLogger();
  logStop(log, { kind: 'stop', why: 'shutting down' });
  logStop(log, { kind: 'stop', why: 'no response', unknown: true });
  logStop(log, { kind: 'stop', why: 'no response', error: new Error('no response') });
  logStop(log, undefined);
  const message = 'pass ended early';
  expect(log.lines).toMatchObject([
    { level: 'info', message, fields: { why: 'shutting down' } },
    { level: 'warn', message, fields: { why: 'no response' } },
  ]);
});
