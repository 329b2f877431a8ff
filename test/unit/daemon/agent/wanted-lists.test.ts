import { expect, test } from 'vitest';
import type { WantedList, WantedReading } from '../../../../src/api/wanted-images.ts';
import { WantedLists } from '../../../../src/daemon/agent/wanted-lists.ts';
import { FakeClock } from '../../../fakes/clock.ts';

const { signal } = new AbortController();
const clock = new FakeClock();
const listOf = (image: string): WantedList => ({
  listedAtMs: clock.now().getTime(),
  images: [{ image, workload: 'CronJob a/b', nodeSelector: {} }],
  omitted: 0,
});

function listsOf(...readings: readonly WantedReading[]): () => Promise<string> {
  const left = [...readings];
  const lists = new WantedLists({
    periodMs: 300_000,
    clock,
    read: () => Promise.resolve(left.shift() ?? 'read too often'),
    labels: () => ({}),
  });
  return async () => {
    const { images, unknownBecause = 'complete' } = await lists.read(signal);
    return [...images.map(({ image }) => image), unknownBecause].join(', ');
  };
}

test('a list is read again after a period', async () => {
  const read = listsOf(listOf('a'), listOf('b'));
  expect(await read()).toBe('a, complete');
  clock.advance(299_999);
  expect(await read()).toBe('a, complete');
  clock.advance(1);
  expect(await read()).toBe('b, complete');
});

test('a failed read is repeated after half a minute, not in each pass', async () => {
  const read = listsOf('refused', listOf('a'));
  expect([await read(), await read()]).toEqual(['refused', 'refused']);
  clock.advance(29_999);
  expect(await read()).toBe('refused');
  clock.advance(1);
  expect(await read()).toBe('a, complete');
});

test('the first list is awaited for ten minutes, no other', async () => {
  const left: WantedReading[] = ['refused', 'refused', listOf('a'), 'refused'];
  const lists = new WantedLists({
    periodMs: 300_000,
    clock,
    read: () => Promise.resolve(left.shift() ?? 'refused'),
    labels: () => ({}),
  });
  const awaited = async (afterMs: number): Promise<number | undefined> => {
    clock.advance(afterMs);
    return (await lists.read(signal)).awaitedForMs;
  };
  expect([await awaited(0), await awaited(599_999)]).toEqual([600_000, 1]);
  expect([await awaited(30_000), await awaited(300_000)]).toEqual([undefined, undefined]);
});

test('a list that was read is not awaited again', async () => {
  const left: WantedReading[] = [listOf('a')];
  const deps = { periodMs: 300_000, clock, labels: () => ({}) };
  const lists = new WantedLists({ ...deps, read: () => Promise.resolve(left.shift() ?? 'refused') });
  await lists.read(signal);
  clock.advance(300_000);
  expect(await lists.read(signal)).toMatchObject({ unknownBecause: 'refused', awaitedForMs: undefined });
});

test('after ten minutes without a list none is awaited', async () => {
  const deps = { periodMs: 300_000, clock, labels: () => ({}) };
  const lists = new WantedLists({ ...deps, read: () => Promise.resolve('refused') });
  await lists.read(signal);
  clock.advance(600_000);
  expect((await lists.read(signal)).awaitedForMs).toBeUndefined();
});

test('while no list can be read, the images of the last one count', async () => {
  const read = listsOf('refused', listOf('a'), 'refused', listOf('b'));
  expect(await read()).toBe('refused');
  clock.advance(30_000);
  expect(await read()).toBe('a, complete');
  clock.advance(300_000);
  expect(await read()).toBe('a, refused');
  clock.advance(30_000);
  expect(await read()).toBe('b, complete');
});
