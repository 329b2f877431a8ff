import { expect, test } from 'vitest';
import { EventQueue } from '../../../../src/kube/events/queue.ts';

test('the first item is taken first', async () => {
  const queue = new EventQueue<string>();
  for (const item of ['a', 'b', 'a']) queue.push(item);
  expect([await queue.take(), await queue.take(), queue.size]).toEqual(['a', 'b', 0]);
});

test('an item that is taken is not taken again until it is done', async () => {
  const queue = new EventQueue<string>();
  queue.push('a');
  await queue.take();
  queue.push('a');
  expect([queue.size, queue.isTaken('a')]).toEqual([0, true]);
  queue.done('a');
  queue.push('a');
  expect(await queue.take()).toBe('a');
});

test('a closed queue is emptied, then nobody waits', async () => {
  const queue = new EventQueue<string>();
  const waiting = new EventQueue<string>();
  const taken = waiting.take();
  queue.push('a');
  for (const one of [queue, waiting]) one.close();
  expect([await queue.take(), await queue.take(), await taken]).toEqual(['a', undefined, undefined]);
});
