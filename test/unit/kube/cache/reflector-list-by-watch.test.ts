import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import { FakeApi } from '../../../fakes/api.ts';
import { until } from '../../../fakes/manual-clock.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { settled } from '../../../fakes/settling-clock.ts';
import { apiWith, names, pause, pod, refused, start, startWatching, stateOf } from './start-reflector.ts';

const byWatch = { listsByWatch: true, random: () => 0 };

const json = (value: object): string => `${JSON.stringify(value)}\n`;
const added = (name: string): string => json({ type: 'ADDED', object: pod(name, { resourceVersion: '5' }) });
const deleted = (name: string): string =>
  json({ type: 'DELETED', object: pod(name, { resourceVersion: '6' }) });
const bookmark = (annotations: object = {}): string =>
  json({ type: 'BOOKMARK', object: { kind: 'Pod', metadata: { resourceVersion: '7', annotations } } });
const end = bookmark({ 'k8s.io/initial-events-end': 'true' });
const error = (code: number): string =>
  json({ type: 'ERROR', object: { kind: 'Status', status: 'Failure', message: 'no', code } });

/** The first watch sends these texts, one by one, and ends; undefined = it waits. Then the server is another one. */
function startWith(texts: readonly (string | undefined)[], api = apiWith('a')) {
  let isFirst = true;
  async function* stream(request: KubeRequest, signal: AbortSignal): AsyncGenerator<Buffer> {
    if (!isFirst) {
      yield* api.stream(request, signal);
      return;
    }
    isFirst = false;
    for (const text of texts) {
      if (text === undefined) {
        if (!signal.aborted) await once(signal, 'abort');
        signal.throwIfAborted();
      }
      if (text !== undefined) yield Buffer.from(text);
      await settled();
    }
  }
  const log = new RecordingLogger();
  const transport = { send: () => Promise.reject(refused), stream };
  return { ...start(api, { ...byWatch, log, transport }), log };
}

describe('a list by watch', () => {
  test('is one request, whose watch is long, and goes on after the list', async () => {
    const { api, reflector, changes, clock } = await startWatching(apiWith('a', 'b', 'c'), byWatch);
    await until(() => reflector.synced);
    expect(api.requests.map(({ query }) => query)).toEqual([
      {
        watch: 'true',
        allowWatchBookmarks: 'true',
        timeoutSeconds: '300',
        sendInitialEvents: 'true',
        resourceVersionMatch: 'NotOlderThan',
      },
    ]);
    api.objects.apply(pod('d'));
    await until(() => names(reflector).includes('d'));
    api.objects.delete('Pod', 'b', 'a');
    await until(() => !names(reflector).includes('b'));
    expect(changes).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b', 'c', 'd'],
      ['a', 'c', 'd'],
    ]);
    clock.advance(59_000);
    api.endWatches();
    await until(() => api.watches.length === 2);
    expect(api.watches[1]?.query).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      timeoutSeconds: '300',
      resourceVersion: api.objects.revision,
    });
    expect(api.lists).toEqual([]);
  });

  test('is not complete before its end', async () => {
    const { reflector, changes } = startWith([added('x'), added('y'), deleted('x'), undefined]);
    await settled();
    await settled();
    expect(stateOf(reflector)).toMatchObject({
      count: 0,
      synced: false,
      isComplete: false,
      state: 'starting',
    });
    expect(changes).toEqual([]);
  });

  test('objects that were deleted before its end are not in it', async () => {
    const { reflector } = startWith([added('x'), added('y'), deleted('x'), end, undefined]);
    await until(() => reflector.synced);
    expect(names(reflector)).toEqual(['y']);
  });

  test('no object is complete, too', async () => {
    const { reflector } = startWith([end, undefined]);
    await until(() => reflector.synced);
    expect(names(reflector)).toEqual([]);
  });

  test('replaces the view at its end: what vanished meanwhile vanishes', async () => {
    const { api, reflector, changes, clock } = await startWatching(apiWith('a', 'b'), byWatch);
    await until(() => reflector.synced);
    api.silently(() => {
      api.objects.delete('Pod', 'a', 'a');
      api.objects.apply(pod('c'));
    });
    api.objects.apply(pod('d'));
    await until(() => reflector.items.size === 3);
    const isListing = new Promise<void>((resolve) => {
      api.before = () => resolve();
    });
    clock.advance(1000);
    api.sendError(410, 'Expired');
    await isListing;
    expect(names(reflector)).toEqual(['a', 'b', 'd']);
    await until(() => changes.length === 3);
    expect(names(reflector)).toEqual(['b', 'c', 'd']);
    expect(api.lists).toEqual([]);
    expect(api.watches[1]?.query?.['sendInitialEvents']).toBe('true');
  });
});

describe('a list by watch that fails', () => {
  test('an older server refuses the parameter: list and watch at once, and no failure', async () => {
    const api = apiWith('a');
    api.server.listsByWatch = 'refused';
    const log = new RecordingLogger();
    const { reflector, clock } = await startWatching(api, { ...byWatch, log });
    expect(names(reflector)).toEqual(['a']);
    expect([api.lists.length, api.watches.length]).toEqual([1, 2]);
    expect(log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    api.objects.apply(pod('b'));
    await until(() => reflector.items.size === 2);
    clock.advance(1000);
    api.sendError(410, 'Expired');
    await until(() => api.watches.length === 3);
    expect(api.lists).toHaveLength(2);
    expect(api.watches[1]?.query).toMatchObject({ timeoutSeconds: '60' });
    expect(api.watches.filter(({ query }) => query?.['sendInitialEvents'] !== undefined)).toHaveLength(1);
  });

  test.each([
    ['it is cut', [added('x')]],
    ['another bookmark comes first: the server ignores the parameter', [added('x'), bookmark(), undefined]],
    ['410', [added('x'), error(410), undefined]],
    ['500', [added('x'), error(500), undefined]],
    ['a malformed frame', [added('x'), '{"type":"ADDED","object":{}}\n', undefined]],
  ])('nothing of it is shown, and the next one is a list: %s', async (_name, texts) => {
    const { api, reflector, clock, changes, log } = startWith(texts);
    expect(await pause(clock)).toBe(800);
    expect(stateOf(reflector)).toMatchObject({
      count: 0,
      synced: false,
      isComplete: false,
      state: 'failing',
    });
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    clock.advance(800);
    await until(() => reflector.synced);
    expect(names(reflector)).toEqual(['a']);
    expect(changes.at(-1)).toEqual(['a']);
    await until(() => api.watching === 1);
    expect([api.lists.length, api.watches.length]).toEqual([1, 1]);
  });

  test('a server that ignores the parameter and sends nothing more: after a minute', async () => {
    const { reflector, clock, api } = startWith([added('x'), undefined]);
    await settled();
    await until(() => clock.sleeping.includes(60_000));
    clock.advance(59_999);
    await settled();
    expect(reflector.state).toBe('starting');
    clock.advance(1);
    expect(await pause(clock)).toBe(800);
    expect(reflector.lastError).toBe('the watch of pods did not begin with a whole list');
    clock.advance(800);
    await until(() => reflector.synced);
    expect(api.lists).toHaveLength(1);
  });

  test.each([
    ['the server is busy', new ApiError('too many requests', { status: 429 })],
    ['the right is missing', new ApiError('forbidden', { status: 403 })],
    ['the connection is refused', refused],
  ])('the same request follows: %s', async (_name, why) => {
    const api = apiWith('a');
    api.fail('watch', why);
    const { clock, reflector } = start(api, byWatch);
    clock.advance(await pause(clock));
    await until(() => reflector.synced);
    expect([api.lists.length, api.watches.length]).toEqual([0, 2]);
  });

  test.each([404, 500, 501, 504])('HTTP status %s: the next one is a list', async (status) => {
    const api = apiWith('a');
    api.fail('watch', new ApiError('no', { status }), 2);
    const { clock, reflector } = start(api, byWatch);
    clock.advance(await pause(clock));
    await until(() => reflector.synced);
    expect(names(reflector)).toEqual(['a']);
    expect(api.lists).toHaveLength(1);
  });

  test('a busy server ends it: the same request follows', async () => {
    const { api, reflector, clock } = startWith([added('x'), error(429), undefined]);
    clock.advance(await pause(clock));
    await until(() => reflector.synced);
    expect(names(reflector)).toEqual(['a']);
    expect([api.lists.length, api.watches.length]).toEqual([0, 1]);
  });

  test('410 right after it: waits, to avoid a hot loop', async () => {
    const { api, clock } = startWith([`${added('x')}${end}`, error(410), undefined], new FakeApi());
    expect(await pause(clock)).toBe(800);
    expect(api.requests).toEqual([]);
  });

  test('no bookmark follows it, as without a watch cache: list and watch are two from then on', async () => {
    const { api, reflector, clock } = startWith([added('x'), end, undefined]);
    await until(() => reflector.synced);
    clock.advance(110_000);
    clock.advance(await pause(clock));
    await until(() => api.watching === 1);
    expect([api.lists.length, api.watches.length]).toEqual([1, 1]);
    expect(api.watches[0]?.query).toMatchObject({ timeoutSeconds: '60' });
  });
});
