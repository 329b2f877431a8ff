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

test('while no list can be read, the images of the last one count', async () => {
  const read = listsOf('refused', listOf('a'), 'refused', listOf('b'));
  expect(await read()).toBe('refused');
  expect(await read()).toBe('a, complete');
  clock.advance(300_000);
  expect(await read()).toBe('a, refused');
  expect(await read()).toBe('b, complete');
});
