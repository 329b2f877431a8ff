import fc from 'fast-check';
import { expect, test } from 'vitest';
import { execute, type Check, type Objection, type StepResult } from '../../../src/gc/execute.ts';
import { Live, liveMs } from '../../../src/gc/live.ts';
import { FakeClock } from '../../fakes/clock.ts';

/** One live check: how long each of its questions takes, which objects it objects to, and whether decisions share its answers. */
const checkOf = fc.record({
  takesMs: fc.array(fc.integer({ min: 0, max: 1.2 * liveMs }), { minLength: 1, maxLength: 6 }),
  keeps: fc.array(fc.nat(7)),
  stopsAt: fc.option(fc.nat(40), { nil: undefined }),
  isShared: fc.boolean(),
});
const world = fc.record({
  checks: fc.array(checkOf, { minLength: 1, maxLength: 4 }),
  /** How long each request takes, and which of them fail or are throttled. */
  steps: fc.array(
    fc.record({
      takesMs: fc.integer({ min: 0, max: 2 * liveMs }),
      ends: fc.constantFrom('done', 'done', 'done', 'fails', 'throttled'),
    }),
    { minLength: 1, maxLength: 8 },
  ),
  stepCount: fc.integer({ min: 1, max: 2 }),
  concurrency: fc.integer({ min: 1, max: 3 }),
  objects: fc.integer({ min: 1, max: 8 }),
});
type World = typeof world extends fc.Arbitrary<infer W> ? W : never;

/** What happened, in order: a question that was put, its answer, an action. */
type Event =
  | {
      readonly kind: 'asked' | 'answered';
      readonly check: number;
      readonly key: string;
      readonly atMs: number;
    }
  | { readonly kind: 'acted'; readonly object: number; readonly atMs: number }
  | { readonly kind: 'objected'; readonly object: number; readonly isStop: boolean };

async function run({ checks, steps, stepCount, concurrency, objects }: World): Promise<readonly Event[]> {
  const clock = new FakeClock();
  const events: Event[] = [];
  let objections = 0;
  let actions = 0;
  const keyOf = (check: number, object: number): string =>
    checks[check]?.isShared === true ? 'shared' : String(object);
  const checkAt = ({ takesMs, keeps, stopsAt }: World['checks'][number], i: number): Check<number> => {
    let asked = 0;
    const live = new Live<number, true>({
      clock,
      key: (object) => keyOf(i, object),
      ask: async (object) => {
        const key = keyOf(i, object);
        events.push({ kind: 'asked', check: i, key, atMs: clock.monotonicMs() });
        // Others go on meanwhile.
        await Promise.resolve();
        clock.advance(takesMs[asked++ % takesMs.length] ?? 0);
        events.push({ kind: 'answered', check: i, key, atMs: clock.monotonicMs() });
        return true;
      },
    });
    const objection = (object: number): Objection | undefined => {
      objections += 1;
      const isStop = stopsAt !== undefined && objections > stopsAt;
      if (!isStop && !keeps.includes(object)) return undefined;
      events.push({ kind: 'objected', object, isStop });
      return isStop ? { kind: 'stop', why: 'a check' } : { kind: 'keep', reason: 'InUse' };
    };
    return { name: String(i), live, objection };
  };
  const act = async (object: number): Promise<StepResult> => {
    events.push({ kind: 'acted', object, atMs: clock.monotonicMs() });
    const { takesMs, ends } = steps[actions++ % steps.length] ?? { takesMs: 0, ends: 'done' };
    await Promise.resolve();
    clock.advance(takesMs);
    if (ends === 'fails') throw new Error('500');
    return ends === 'throttled' ? { kind: 'throttled', forMs: takesMs, error: '429' } : { kind: 'done' };
  };
  await execute(
    Array.from({ length: objects }, (_, i) => i),
    {
      ...{ checks: checks.map(checkAt), clock, concurrency, giveUpAfter: 3 },
      steps: Array.from({ length: stepCount }, () => act),
      onOutcome: () => undefined,
    },
    new AbortController().signal,
  );
  return events;
}

const worlds = { numRuns: 2_000 };

test('no action without an answer of every check that is less than 5 s old, counted from its question', async () => {
  await fc.assert(
    fc.asyncProperty(world, async (given) => {
      const events = await run(given);
      for (const [i, event] of events.entries()) {
        if (event.kind !== 'acted') continue;
        for (const [check, { isShared }] of given.checks.entries()) {
          const key = isShared ? 'shared' : String(event.object);
          const before = events
            .slice(0, i)
            .filter((one) => 'check' in one && one.check === check && one.key === key);
          const asked = before.findLast(({ kind }) => kind === 'asked');
          const isAnswered = before.at(-1)?.kind === 'answered';
          expect(isAnswered || before.some(({ kind }) => kind === 'answered')).toBe(true);
          expect(event.atMs - (asked !== undefined && 'atMs' in asked ? asked.atMs : -Infinity)).toBeLessThan(
            liveMs,
          );
        }
      }
    }),
    worlds,
  );
});

test('no action on an object that a check keeps, and none after a stop', async () => {
  await fc.assert(
    fc.asyncProperty(world, async (given) => {
      const events = await run(given);
      const kept = new Set(given.checks.flatMap(({ keeps }) => keeps));
      const stop = events.findIndex((event) => event.kind === 'objected' && event.isStop);
      for (const [i, event] of events.entries()) {
        if (event.kind !== 'acted') continue;
        expect(kept.has(event.object)).toBe(false);
        if (stop >= 0) expect(i).toBeLessThan(stop);
      }
    }),
    worlds,
  );
});

test('the questions of an object are put in the order of the checks', async () => {
  await fc.assert(
    fc.asyncProperty(world, async (given) => {
      const own = {
        ...given,
        concurrency: 1,
        checks: given.checks.map((one) => ({ ...one, isShared: false })),
      };
      const events = await run(own);
      const asked = new Map<string, number[]>();
      for (const event of events)
        if (event.kind === 'asked') asked.set(event.key, [...(asked.get(event.key) ?? []), event.check]);
      // The first question to each check, in the order in which they were first put.
      for (const checks of asked.values()) {
        const first = [...new Set(checks)];
        expect(first).toEqual(first.toSorted((a, b) => a - b));
      }
    }),
    worlds,
  );
});
