import fc from 'fast-check';
import { expect, test } from 'vitest';
import { execute, type Check, type Objection, type StepResult } from '../../../src/gc/execute.ts';
import { LiveQuery, liveMs } from '../../../src/gc/live.ts';
import { FakeClock } from '../../fakes/clock.ts';

/** Mostly short: the responses of several checks must be fresh together for an action. */
const takesMs = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: liveMs / 5 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 1.2 * liveMs }) },
);
/** One live check: the duration of each query, the objects that it keeps, and whether decisions share its responses. */
const checkOf = fc.record({
  takesMs: fc.array(takesMs, { minLength: 1, maxLength: 6 }),
  keeps: fc.array(fc.nat(7), { maxLength: 2 }),
  stopsAt: fc.option(fc.nat(40), { nil: undefined }),
  isShared: fc.boolean(),
});
const given = fc.record({
  checks: fc.array(checkOf, { minLength: 1, maxLength: 4 }),
  /** The duration and the result of each request. */
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
type Given = typeof given extends fc.Arbitrary<infer G> ? G : never;

/** A query, its response, an action or an objection, in order. */
type Event =
  | {
      readonly kind: 'query' | 'response';
      readonly check: number;
      readonly key: string;
      readonly atMs: number;
    }
  | { readonly kind: 'action'; readonly object: number; readonly atMs: number }
  | { readonly kind: 'objection'; readonly object: number; readonly isStop: boolean };

async function run({ checks, steps, stepCount, concurrency, objects }: Given): Promise<readonly Event[]> {
  const clock = new FakeClock();
  const events: Event[] = [];
  let objections = 0;
  let actions = 0;
  const keyOf = (check: number, object: number): string =>
    checks[check]?.isShared === true ? 'shared' : String(object);
  const checkAt = ({ takesMs, keeps, stopsAt }: Given['checks'][number], i: number): Check<number> => {
    let queries = 0;
    const live = new LiveQuery<number, true>({
      clock,
      key: (object) => keyOf(i, object),
      query: async (object) => {
        const key = keyOf(i, object);
        events.push({ kind: 'query', check: i, key, atMs: clock.monotonicMs() });
        // Other workers continue meanwhile.
        await Promise.resolve();
        clock.advance(takesMs[queries++ % takesMs.length] ?? 0);
        events.push({ kind: 'response', check: i, key, atMs: clock.monotonicMs() });
        return true;
      },
    });
    const objection = (object: number): Objection | undefined => {
      objections += 1;
      const isStop = stopsAt !== undefined && objections > stopsAt;
      if (!isStop && !keeps.includes(object)) return undefined;
      events.push({ kind: 'objection', object, isStop });
      return isStop ? { kind: 'stop', why: 'a check' } : { kind: 'keep', reason: 'InUse' };
    };
    return { live, objection };
  };
  const act = async (object: number): Promise<StepResult> => {
    events.push({ kind: 'action', object, atMs: clock.monotonicMs() });
    const { takesMs, ends } = steps[actions++ % steps.length] ?? { takesMs: 0, ends: 'done' };
    await Promise.resolve();
    clock.advance(takesMs);
    if (ends === 'fails') throw new Error('500');
    return ends === 'throttled' ? { kind: 'throttled', forMs: takesMs, error: '429' } : { kind: 'done' };
  };
  await execute(
    Array.from({ length: objects }, (_, i) => i),
    {
      ...{ checks: checks.map(checkAt), clock, concurrency, giveUpAfter: 3, isHopeless: () => true },
      steps: Array.from({ length: stepCount }, () => act),
      onOutcome: () => undefined,
    },
    new AbortController().signal,
  );
  return events;
}

const worlds = { numRuns: 2_000 };

test('no action without a response of every check whose request was less than 5 s ago', async () => {
  await fc.assert(
    fc.asyncProperty(given, async (sample) => {
      const events = await run(sample);
      for (const [i, event] of events.entries()) {
        if (event.kind !== 'action') continue;
        for (const [check, { isShared }] of sample.checks.entries()) {
          const key = isShared ? 'shared' : String(event.object);
          const before = events
            .slice(0, i)
            .filter((one) => 'check' in one && one.check === check && one.key === key);
          const query = before.findLast(({ kind }) => kind === 'query');
          expect(before.some(({ kind }) => kind === 'response')).toBe(true);
          expect(event.atMs - (query !== undefined && 'atMs' in query ? query.atMs : -Infinity)).toBeLessThan(
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
    fc.asyncProperty(given, async (sample) => {
      const events = await run(sample);
      const kept = new Set(sample.checks.flatMap(({ keeps }) => keeps));
      const stop = events.findIndex((event) => event.kind === 'objection' && event.isStop);
      for (const [i, event] of events.entries()) {
        if (event.kind !== 'action') continue;
        expect(kept.has(event.object)).toBe(false);
        if (stop >= 0) expect(i).toBeLessThan(stop);
      }
    }),
    worlds,
  );
});

test('the queries about an object are sent in the order of the checks', async () => {
  await fc.assert(
    fc.asyncProperty(given, async (sample) => {
      const own = {
        ...sample,
        concurrency: 1,
        checks: sample.checks.map((one) => ({ ...one, isShared: false })),
      };
      const events = await run(own);
      const queries = new Map<string, number[]>();
      for (const event of events)
        if (event.kind === 'query') queries.set(event.key, [...(queries.get(event.key) ?? []), event.check]);
      for (const checks of queries.values()) {
        const first = [...new Set(checks)];
        expect(first).toEqual(first.toSorted((a, b) => a - b));
      }
    }),
    worlds,
  );
});

test('the random executions are such that many act, keep an object, query again, and stop after an action', async () => {
  const all = await Promise.all(fc.sample(given, worlds.numRuns).map(run));
  const isStop = (one: Event): boolean => one.kind === 'objection' && one.isStop;
  const isAction = ({ kind }: Event): boolean => kind === 'action';
  const keyOf = (one: Event): string[] => (one.kind === 'query' ? [`${one.check} ${one.key}`] : []);
  const kinds: readonly ((events: readonly Event[]) => boolean)[] = [
    (events) => events.some(isAction),
    (events) => events.some((one) => one.kind === 'objection' && !one.isStop),
    (events) => new Set(events.flatMap(keyOf)).size < events.flatMap(keyOf).length,
    (events) => events.some(isStop) && events.slice(0, events.findIndex(isStop)).some(isAction),
  ];
  for (const kind of kinds) expect(all.filter(kind).length).toBeGreaterThan(worlds.numRuns / 10);
});
