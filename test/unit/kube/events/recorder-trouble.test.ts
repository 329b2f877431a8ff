import { once } from 'node:events';
import { expect, test } from 'vitest';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { minutes, recorded, recording, webEvent } from '../../../fakes/event-recording.ts';
import { settled } from '../../../fakes/settling-clock.ts';

const broken = (): never => {
  throw new Error('connect ECONNREFUSED');
};
const hang = (): Promise<void> => new Promise(() => undefined);
const untilAborted = async (_: unknown, signal: AbortSignal): Promise<void> => {
  await once(signal, 'abort');
};

test('an Event is retried after a broken connection and does not delay others', async () => {
  const { recorder, server, clock, dropped } = recording();
  server.before = (request) => (request.path.includes('/shop/') ? broken() : undefined);
  for (let i = 0; i < 20; i += 1) recorder.record(webEvent({ name: `web-${i}` }));
  recorder.record({ ...webEvent(), regarding: { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'n' } });
  await settled();
  expect(server.events).toHaveLength(1);
  server.before = () => undefined;
  await clock.advance(9_000);
  expect(server.events).toHaveLength(1);
  await clock.advance(4_000);
  expect(server.events).toHaveLength(21);
  expect(dropped).toEqual([]);
});

test('occurrences between two attempts are counted, not sent', async () => {
  const { recorder, server, clock } = recording();
  server.before = broken;
  recorder.record(webEvent());
  await settled();
  recorder.record(webEvent());
  await settled();
  expect(server.requests).toHaveLength(1);
  server.before = () => undefined;
  await clock.advance(10_000);
  expect(server.events).toMatchObject([{ series: { count: 2 } }]);
});

test('an Event is dropped after twelve retries', async () => {
  const { recorder, server, clock, dropped, log } = recording();
  server.before = broken;
  recorder.record(webEvent());
  await minutes(clock, 60);
  expect(server.requests).toHaveLength(13);
  expect(dropped).toEqual(['unreachable']);
  expect(log.lines.filter((line) => line.level === 'warn')).toHaveLength(1);
});

test('after a success an Event has all its retries again', async () => {
  const { recorder, server, clock, dropped } = recording();
  for (const count of [1, 2]) {
    server.before = broken;
    recorder.record(webEvent());
    await settled();
    for (let retry = 0; retry < 11; retry += 1) await clock.advance(10_000);
    server.before = () => undefined;
    await clock.advance(10_000);
    expect(server.events).toMatchObject([count === 1 ? { reason: 'PodCollected' } : { series: { count } }]);
  }
  expect(dropped).toEqual([]);
});

test.each([
  { name: 'after Retry-After of a busy server', retryAfterMs: 30_000, waitMs: 30_000 },
  { name: 'after a minute at most', retryAfterMs: 2 ** 31, waitMs: 60_000 },
])('an Event is retried $name', async ({ retryAfterMs, waitMs }) => {
  const { recorder, server, clock } = recording();
  server.before = () => {
    throw new ApiError('slow down', { status: 429, retryAfterMs });
  };
  recorder.record(webEvent());
  await settled();
  server.before = () => undefined;
  await clock.advance(waitMs - 1_000);
  expect(server.requests).toHaveLength(1);
  await clock.advance(1_000);
  expect(server.events).toHaveLength(1);
});

test.each([
  ['a rejection is final, with a warning', [], 1],
  ['a rejection in a terminating namespace is final, without a warning', ['NamespaceTerminating'], 0],
])('%s', async (_, causes, warnings) => {
  const { recorder, server, clock, dropped, log } = recording();
  server.before = () => {
    throw new ApiError('forbidden', { status: 403, reason: 'Forbidden', causes });
  };
  recorder.record(webEvent());
  recorder.record(webEvent({ reason: 'Other' }));
  await minutes(clock, 5);
  expect(server.requests).toHaveLength(2);
  expect(dropped).toEqual(['rejected', 'rejected']);
  expect(log.lines.filter((line) => line.level === 'warn')).toHaveLength(warnings);
});

test('an Event whose creation lost its response is not created twice', async () => {
  const { recorder, server, clock, dropped } = recording();
  server.after = broken;
  recorder.record(webEvent());
  await settled();
  server.after = () => undefined;
  recorder.record(webEvent());
  await clock.advance(10_000);
  expect(server.verbs).toEqual(['POST', 'POST', 'PATCH']);
  expect(server.events).toMatchObject([{ series: { count: 2 } }]);
  expect(dropped).toEqual([]);
});

test('recurrences are counted even while no Event may be created', async () => {
  const { recorder, server, dropped } = recording();
  recorder.record(webEvent());
  for (let i = 0; i < 40; i += 1) recorder.record(webEvent({ reason: `Reason${i}` }));
  await settled();
  expect(dropped).toEqual(Array(16).fill('spam'));
  recorder.record(webEvent());
  await settled();
  expect(dropped).toHaveLength(16);
  expect(server.events).toMatchObject([{ series: { count: 2 } }, ...Array<object>(24).fill({})]);
});

test('at most a thousand Events wait', async () => {
  const { recorder, clock, dropped } = recording({ started: false });
  for (let batch = 0; batch < 120; batch += 1) {
    for (let i = 0; i < 10; i += 1) recorder.record(webEvent({ name: `web-${batch}-${i}` }));
    await clock.advance(1_000);
  }
  expect(dropped).toEqual(Array<string>(200).fill('queue_full'));
});

test('recording neither throws nor waits before the start and after the end', async () => {
  const idle = recording({ started: false });
  idle.recorder.record(webEvent());
  expect(idle.server.requests).toEqual([]);
  const ended = recording();
  await ended.stop();
  ended.recorder.record(webEvent());
  expect(ended.dropped).toEqual(['shutdown']);
});

test('a shutdown writes queued and delayed Events and the last counts', async () => {
  const { recorder, server, stop } = recording();
  for (let i = 0; i < 2; i += 1) {
    recorder.record(webEvent());
    await settled();
  }
  recorder.record(webEvent());
  server.before = broken;
  recorder.record(webEvent({ reason: 'Delayed' }));
  await settled();
  server.before = () => undefined;
  recorder.record(webEvent({ reason: 'Queued' }));
  await stop();
  expect(server.events).toMatchObject([
    { reason: 'PodCollected', series: { count: 3 } },
    { reason: 'Queued' },
    { reason: 'Delayed' },
  ]);
});

test('a shutdown writes occurrences that were counted during a write', async () => {
  const { recorder, server, stop } = await recorded();
  let respond = (): void => undefined;
  const response = new Promise<void>((resolve) => (respond = resolve));
  server.after = () => response;
  for (let i = 0; i < 3; i += 1) {
    recorder.record(webEvent());
    await settled();
  }
  const stopped = stop();
  await settled();
  respond();
  await stopped;
  expect(server.events).toMatchObject([{ series: { count: 4 } }]);
});

test('a shutdown waits three seconds for a server that does not respond', async () => {
  const { recorder, server, clock, stop, dropped } = recording();
  server.before = untilAborted;
  recorder.record(webEvent());
  await settled();
  const stopped = stop();
  await settled();
  await clock.advance(2_900);
  expect(dropped).toEqual([]);
  await clock.advance(100);
  await stopped;
  expect(dropped).toEqual(['shutdown']);
});

test('the recorder accepts Events during four slow responses', async () => {
  const { recorder, server } = recording();
  server.before = hang;
  for (let i = 0; i < 8; i += 1) recorder.record(webEvent({ name: `web-${i}` }));
  await settled();
  expect(server.requests).toHaveLength(4);
});
