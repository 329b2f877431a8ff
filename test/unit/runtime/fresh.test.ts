import { expect, test } from 'vitest';
import { isLive, LiveAnswers, liveMs, lookLive } from '../../../src/runtime/fresh.ts';
import { FakeClock } from '../../fakes/clock.ts';

/** Looks of which each takes so many milliseconds and gives so an answer; the last one again and again. */
function looks(...all: readonly (readonly [answer: 'yes' | 'no', ms: number])[]) {
  const clock = new FakeClock();
  let made = 0;
  const look = (): Promise<'yes' | 'no'> => {
    const [answer, ms] = all[Math.min(made, all.length - 1)] ?? ['no', 0];
    made += 1;
    clock.advance(ms);
    return Promise.resolve(answer);
  };
  const isYes = (answer: string): boolean => answer === 'yes';
  return { clock, look, isYes, made: () => made };
}

test.each([
  { name: 'a yes that is fresh', took: [['yes', liveMs - 1]], answer: 'yes', made: 1 },
  {
    name: 'a yes that is old is looked for again',
    took: [
      ['yes', liveMs],
      ['yes', 1],
    ],
    answer: 'yes',
    made: 2,
  },
  {
    name: 'and may have become a no',
    took: [
      ['yes', liveMs],
      ['no', 1],
    ],
    answer: 'no',
    made: 2,
  },
  { name: 'a no, however old', took: [['no', 10 * liveMs]], answer: 'no', made: 1 },
  {
    name: 'the third look may be the first that is fresh',
    took: [
      ['yes', liveMs],
      ['yes', liveMs],
      ['yes', 1],
    ],
    answer: 'yes',
    made: 3,
  },
  { name: 'three that are old are enough', took: [['yes', liveMs]], answer: 'slow', made: 3 },
] as const)('$name', async ({ took, answer, made }) => {
  const bed = looks(...took);
  expect(await lookLive(bed.look, bed)).toBe(answer);
  expect(bed.made()).toBe(made);
});

test('a yes is as old as what it takes over from before', async () => {
  const bed = looks(['yes', 10]);
  bed.clock.advance(liveMs);
  const known = [bed.clock.monotonicMs() - liveMs + 10, bed.clock.monotonicMs()];
  expect(await lookLive(bed.look, { ...bed, knownAt: () => known.shift() })).toBe('yes');
  expect(bed.made()).toBe(2);
});

test('a look that fails ends it', async () => {
  const { clock, isYes } = looks();
  const look = (): Promise<'yes'> => Promise.reject(new Error('no answer'));
  await expect(lookLive(look, { clock, isYes })).rejects.toThrow('no answer');
});

test('what was asked for is live for less than 5 s', () => {
  const clock = new FakeClock();
  clock.advance(4_999);
  expect(isLive(0, clock)).toBe(true);
  clock.advance(1);
  expect(isLive(0, clock)).toBe(false);
});

test('answers are known by their key, for 5 s from the question; one under way is shared', async () => {
  const clock = new FakeClock();
  const answers = new LiveAnswers<string>(clock);
  let asked = 0;
  const ask = (key: string): Promise<string> =>
    answers.get(key, () => {
      asked += 1;
      const answer = `${key}${asked}`;
      clock.advance(1_000);
      return Promise.resolve(answer);
    });
  expect(await Promise.all([ask('a'), ask('a'), ask('b')])).toEqual(['a1', 'a1', 'b2']);
  clock.advance(2_999);
  expect(await ask('a')).toBe('a1');
  clock.advance(1);
  expect([await ask('b'), await ask('a')]).toEqual(['b2', 'a3']);
});

test('a failure is an answer for as long', async () => {
  const clock = new FakeClock();
  const answers = new LiveAnswers<string>(clock);
  await expect(answers.get('a', () => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
  await expect(answers.get('a', () => Promise.resolve('yes'))).rejects.toThrow('no answer');
  clock.advance(liveMs);
  expect(await answers.get('a', () => Promise.resolve('yes'))).toBe('yes');
});
