import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import type { FakeApi } from '../../../fakes/api.ts';
import { until } from '../../../fakes/manual-clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { settled } from '../../../fakes/settling-clock.ts';
import { apiWith, names, pause, pod, refused, start, startWatching, stateOf } from './start-reflector.ts';

const gone = new ApiError('too old', { status: 410, reason: 'Expired' });

describe('faults', () => {
  const inStream = (api: FakeApi): void => api.sendError(410, 'Expired');
  const asResponse = (api: FakeApi): void => {
    api.fail('watch', gone);
    api.endWatches();
  };
  test.each([
    ['in the stream', inStream],
    ['as the response', asResponse],
  ])('410 %s: a list at once after progress', async (_name, breakIt) => {
    const { api, clock } = await startWatching(apiWith('a'));
    api.server.bookmark();
    clock.advance(1000);
    breakIt(api);
    await until(() => api.lists.length === 2);
    await until(() => api.watching === 1);
    expect(clock.sleeping).toEqual([60_000]);
  });

  test('410 for every list: waits before the second', async () => {
    const { api, clock } = await startWatching(apiWith('a'));
    api.objects.apply(pod('b'));
    api.fail('list', gone, 3);
    api.sendError(410, 'Expired');
    expect(await pause(clock)).toBe(800);
    expect(api.lists).toHaveLength(2);
  });

  test('lists after an error in the stream, but not after a 429', async () => {
    const { api, clock } = await startWatching(apiWith('a'));
    api.sendError(429, 'TooManyRequests');
    clock.advance(await pause(clock));
    await until(() => api.watching === 1);
    expect(api.lists).toHaveLength(1);
    api.sendError(500, 'InternalError');
    clock.advance(await pause(clock));
    await until(() => api.watching === 1);
    expect(api.lists).toHaveLength(2);
  });

  test('waits after a watch that delivers only a bookmark and ends', async () => {
    const { api, clock } = await startWatching(apiWith('a'));
    api.server.bookmark();
    api.endWatches();
    expect(await pause(clock)).toBe(800);
  });

  test('410 right after a list: waits, to avoid a hot loop', async () => {
    const api = apiWith('a');
    api.fail('watch', gone);
    const { clock, reflector } = start(api);
    expect(await pause(clock)).toBe(800);
    expect(api.lists).toHaveLength(1);
    clock.advance(800);
    await until(() => api.watching === 1);
    expect(api.lists).toHaveLength(2);
    expect(reflector.synced).toBe(true);
  });

  test('reads a list whose continue token expires again, once and without a limit', async () => {
    const api = apiWith('a', 'b', 'c');
    api.before = ({ query }) => {
      if (query?.['continue'] !== undefined) api.server.compact();
    };
    const { reflector } = await startWatching(api);
    expect(names(reflector)).toEqual(['a', 'b', 'c']);
    expect(api.lists.map(({ query }) => [query?.['limit'], query?.['continue'] !== undefined])).toEqual([
      ['2', false],
      ['2', true],
      [undefined, false],
    ]);
  });

  test('waits double up to 30 s, warns once, and restart after two healthy minutes', async () => {
    const api = apiWith('a');
    api.fail('list', refused, 8);
    const log = new RecordingLogger();
    const { clock, reflector } = start(api, { log });
    const waits: number[] = [];
    for (let i = 0; i < 8; i += 1) {
      const ms = await pause(clock);
      waits.push(ms);
      clock.advance(ms);
    }
    expect(waits).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
    await until(() => reflector.synced);
    expect(stateOf(reflector)).toMatchObject({ state: 'synced', lastError: undefined });
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);

    await until(() => api.watching === 1);
    for (let seconds = 0; seconds < 122; seconds += 61) {
      api.server.bookmark();
      await settled();
      clock.advance(61_000);
    }
    api.endWatches(refused);
    expect(await pause(clock)).toBe(800);
    const failing = { state: 'failing', lastError: 'connection refused', synced: false };
    expect(stateOf(reflector)).toMatchObject(failing);
  });

  test('waits for the Retry-After of a busy server, a minute at most, and warns of nothing', async () => {
    const api = apiWith('a');
    const log = new RecordingLogger();
    api.fail('list', new ApiError('too many requests', { status: 429, retryAfterMs: 2 ** 31 }));
    const { clock, reflector } = start(api, { log });
    await until(() => reflector.state === 'failing' && clock.sleeping.length === 1);
    expect(clock.sleeping).toEqual([60_000]);
    expect(log.lines.map(({ level }) => level)).toEqual(['info']);
  });

  test.each([
    ['too large', { status: 504, reason: 'Timeout', causes: ['ResourceVersionTooLarge'] }],
    ['bad request', { status: 400, reason: 'BadRequest' }],
  ])(
    'lists if the server rejects the resourceVersion, its store may be a backup: %s',
    async (_name, facts) => {
      const api = apiWith('a');
      api.fail('watch', new ApiError('no', facts));
      const { clock } = start(api);
      expect(await pause(clock)).toBe(800);
      clock.advance(800);
      await until(() => api.watching === 1);
      expect(api.lists).toHaveLength(2);
    },
  );

  test('replaces the view by a new list after a malformed frame', async () => {
    const { api, clock, reflector } = await startWatching(apiWith('a'));
    api.sendRaw(Buffer.from([0, 0, 0, 3, 1, 2, 3]));
    await until(() => reflector.state === 'failing');
    expect(reflector.isComplete).toBe(true);
    clock.advance(800);
    await until(() => api.lists.length === 2);
  });
});

describe('a silent watch', () => {
  test('without headers fails after 60 s, and each list makes it current for a minute at most', async () => {
    const api = apiWith('a');
    const failed: string[] = [];
    const nothing = (): void => undefined;
    const { reflector, clock } = start(api, {
      transport: {
        send: () => Promise.reject(refused),
        stream: (request, signal) => (isWatch(request) ? silence(signal) : api.stream(request, signal)),
      },
      metrics: { listed: nothing, watchStarted: nothing, failed: (resource) => failed.push(resource) },
    });
    for (const wait of [800, 1600]) {
      await until(() => reflector.state === 'synced' && clock.sleeping.includes(60_000));
      clock.advance(60_000);
      expect(await pause(clock)).toBe(wait);
      expect(stateOf(reflector)).toMatchObject({
        ...{ count: 1, synced: false, state: 'failing' },
        lastError: 'nothing arrived from the watch of pods for 60 s',
      });
      clock.advance(wait);
    }
    expect(failed).toEqual(['pods', 'pods']);
    await until(() => api.lists.length === 3);
  });

  test('fails 110 s after the last bytes, and what was lost is listed', async () => {
    const { api, reflector, clock } = await startWatching(apiWith('a'));
    clock.advance(50_000);
    api.server.bookmark();
    await settled();
    api.silently(() => api.objects.delete('Pod', 'a', 'a'));
    clock.advance(109_999);
    await settled();
    expect(reflector.state).toBe('synced');
    clock.advance(1);
    expect(await pause(clock)).toBe(800);
    expect(stateOf(reflector)).toMatchObject({
      ...{ count: 1, state: 'failing' },
      lastError: 'nothing arrived from the watch of pods for 110 s',
    });
    clock.advance(800);
    await until(() => reflector.items.size === 0);
    expect(reflector.state).toBe('synced');
  });
});

const isWatch = ({ query }: KubeRequest): boolean => query?.['watch'] !== undefined;

async function* silence(signal: AbortSignal): AsyncGenerator<Buffer> {
  await once(signal, 'abort');
  signal.throwIfAborted();
  yield Buffer.alloc(0);
}

test('a view that is not current: readiness fails after two minutes, and it is stale since the first failure', async () => {
  const api = apiWith('a');
  const { reflector, clock } = await startWatching(api);
  const ready = reflector.check('pods');
  expect([ready.check(), reflector.stale]).toEqual([undefined, undefined]);
  const failedMs = clock.monotonicMs();
  api.fail('watch', new ApiError('no list for you', { status: 403 }), 1_000);
  api.fail('list', new ApiError('no list for you', { status: 403 }), 1_000);
  api.endWatches();
  while (clock.monotonicMs() - failedMs < 119_000) clock.advance(Math.min(await pause(clock), 1_000));
  expect(ready.check()).toBeUndefined();
  expect(reflector.stale).toMatchObject({
    resource: 'pods',
    error: expect.stringContaining('no list for you') as string,
  });
  const { sinceMs = 0 } = reflector.stale ?? {};
  expect(sinceMs - failedMs).toBeLessThan(2_000);
  clock.advance(2_000);
  expect(ready.check()).toContain('no list for you');
});

test('a retry lists at once, and forgets the error whose cause has ended', async () => {
  const api = apiWith('a');
  api.fail('list', new ApiError('forbidden', { status: 403, reason: 'Forbidden' }));
  const { reflector, clock } = start(api);
  await pause(clock);
  clock.advance(500);
  reflector.retry();
  expect(reflector.stale).toMatchObject({ sinceMs: clock.monotonicMs(), error: undefined });
  await until(() => reflector.synced);
  reflector.retry();
  expect(reflector.synced).toBe(true);
});
