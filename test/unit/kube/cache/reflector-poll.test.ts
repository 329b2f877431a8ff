import { expect, test } from 'vitest';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { untilAborted } from '../../../../src/runtime/scheduling/abort.ts';
import { until, type ManualClock } from '../../../fakes/manual-clock.ts';
import { apiWith, names, pod, start, stateOf } from './start-reflector.ts';

const pollMs = 20_000;
const deadlineMs = 30_000;

/** Waits for the end of the list. Returns the length of the pause. */
async function pause(clock: ManualClock): Promise<number> {
  await until(() => clock.sleeping.length === 1 && clock.sleeping[0] !== deadlineMs);
  return clock.sleeping[0] ?? NaN;
}

test('instead of a watch, whole lists from the memory of the API server', async () => {
  const { api, reflector, clock, changes } = start(apiWith('a'), { pollMs, random: () => 0.5 });
  expect(await pause(clock)).toBe(pollMs);
  expect(stateOf(reflector)).toMatchObject({ count: 1, synced: true, state: 'synced' });
  api.objects.apply(pod('b'));
  expect(names(reflector)).toEqual(['a']);
  clock.advance(pollMs);
  await until(() => reflector.items.size === 2);
  expect(changes).toEqual([['a'], ['a', 'b']]);
  expect(api.lists.map(({ query }) => query)).toEqual([{ resourceVersion: '0' }, { resourceVersion: '0' }]);
  expect(api.watches).toEqual([]);
});

test.each([
  { random: 0, expectedMs: 15_000 },
  { random: 0.999999, expectedMs: 25_000 },
])('the pause is random: with $random it is $expectedMs ms', async ({ random, expectedMs }) => {
  const { clock } = start(apiWith('a'), { pollMs, random: () => random });
  expect(Math.round(await pause(clock))).toBe(expectedMs);
});

test('an object in the same state is the same value after the next list', async () => {
  const { api, reflector, clock } = start(apiWith('a'), { pollMs });
  await pause(clock);
  const [before] = reflector.items.values();
  clock.advance(await pause(clock));
  await until(() => api.lists.length === 2);
  await pause(clock);
  expect([...reflector.items.values()][0]).toBe(before);
});

test('a list that is refused: not current from then on, tried again with a growing pause, current after the next list', async () => {
  const { api, reflector, clock } = start(apiWith('a'), { pollMs });
  await pause(clock);
  api.fail('list', new ApiError('no list for you', { status: 403 }), 2);
  clock.advance(15_000);
  await until(() => !reflector.synced);
  expect(reflector.stale).toMatchObject({ sinceMs: 15_000 });
  expect(stateOf(reflector)).toMatchObject({ count: 1, isComplete: true, state: 'failing' });
  for (const expectedMs of [800, 1_600]) {
    expect(await pause(clock)).toBe(expectedMs);
    clock.advance(expectedMs);
    await until(() => clock.sleeping.length === 0);
  }
  await until(() => reflector.synced);
});

test('a connection that swallows bytes: the list fails after 30 s', async () => {
  const { api, reflector, clock } = start(apiWith('a'), { pollMs, random: () => 0.5 });
  await pause(clock);
  api.before = (_, signal) => untilAborted(new Promise(() => undefined), signal);
  clock.advance(pollMs);
  await until(() => api.lists.length === 2);
  clock.advance(deadlineMs - 1);
  expect(reflector.synced).toBe(true);
  clock.advance(1);
  await until(() => !reflector.synced);
  expect(reflector.lastError).toContain('within 30 s');
});
