import { expect, test } from 'vitest';
import { SpreadWake } from '../../../src/runtime/scheduling/spread-wake.ts';
import { Turns } from '../../../src/runtime/scheduling/turns.ts';
import { Wake } from '../../../src/runtime/scheduling/wake.ts';
import { SettlingClock, settled } from '../../fakes/settling-clock.ts';

const never = new AbortController().signal;

test('tasks run in turn, in the order they asked, whatever becomes of the ones before', async () => {
  const clock = new SettlingClock();
  const turns = new Turns();
  const steps: string[] = [];
  const task =
    (name: string, ms: number, fails = false) =>
    async (): Promise<string> => {
      steps.push(`${name} begins`);
      await clock.sleep(ms, never);
      steps.push(`${name} ends`);
      if (fails) throw new Error(name);
      return name;
    };
  const results = Promise.allSettled([
    turns.take(task('a', 30, true), never),
    turns.take(task('b', 10), never),
    turns.take(task('c', 1), never),
  ]);
  for (let ms = 0; ms < 60; ms++) await clock.advance(1);
  expect(steps).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
});

test('whose signal aborts before its turn does not begin', async () => {
  const clock = new SettlingClock();
  const turns = new Turns();
  const stop = new AbortController();
  const first = turns.take(() => clock.sleep(10, never), never);
  let begun = false;
  const second = turns.take(() => {
    begun = true;
    return Promise.resolve();
  }, stop.signal);
  const refused = expect(second).rejects.toThrow(/aborted/);
  await settled();
  stop.abort();
  await clock.advance(10);
  await first;
  await refused;
  expect(begun).toBe(false);
});

/** The names of wakes that were triggered, in order. */
class NamedWake extends Wake {
  readonly #name: string;
  readonly #heard: string[];

  constructor(name: string, heard: string[]) {
    super();
    this.#name = name;
    this.#heard = heard;
  }

  override trigger(): void {
    this.#heard.push(this.#name);
  }
}

test('a wake is held back for its share of the spread; triggers meanwhile are one; the next counts anew', async () => {
  const clock = new SettlingClock();
  const heard: string[] = [];
  const wakes = ['first', 'second'].map((name) => new NamedWake(name, heard));
  const news = new SpreadWake({ clock, random: () => 0.5, spreadMs: 10_000, wakes });
  news.trigger(never);
  news.trigger(never);
  await clock.advance(4_999);
  expect(heard).toEqual([]);
  await clock.advance(1);
  expect(heard).toEqual(['first', 'second']);
  news.trigger(never);
  await clock.advance(5_000);
  expect(heard).toHaveLength(4);
});

test('a time that was drawn already is waited for; a trigger meanwhile changes nothing', async () => {
  const clock = new SettlingClock();
  const heard: string[] = [];
  const wakes = [new NamedWake('one', heard)];
  const news = new SpreadWake({ clock, random: () => 0.5, spreadMs: 10_000, wakes });
  news.hold(7_000, never);
  news.trigger(never);
  await clock.advance(6_999);
  expect([news.isHeld, heard]).toEqual([true, []]);
  await clock.advance(1);
  expect([news.isHeld, heard]).toEqual([false, ['one']]);
});

test('nothing is held back after the end', async () => {
  const clock = new SettlingClock();
  const news = new SpreadWake({ clock, random: () => 0.5, spreadMs: 10_000, wakes: [] });
  news.trigger(AbortSignal.abort());
  await settled();
  expect(clock.sleeping).toBe(0);
});
