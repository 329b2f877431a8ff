import { once } from 'node:events';
import { expect, test } from 'vitest';
import { EventSpamFilter } from '../../../../src/kube/events/event-recorder.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { minutes, recorded, recording, webEvent } from '../../../fakes/event-recording.ts';
import { settled } from '../../../fakes/settling-clock.ts';
import { hostile, raw } from '../../../hostile.ts';

const broken = (): never => {
  throw new Error('connect ECONNREFUSED');
};
const untilAborted = async (_: unknown, signal: AbortSignal): Promise<void> => {
  await once(signal, 'abort');
};

test('each occasion has its own Event, and is not written', async () => {
  const { recorder, server, sent } = recording();
  for (const occasion of ['80', '95', '95']) recorder.record({ ...webEvent(), occasion });
  await settled();
  expect(sent).toEqual(['create', 'create']);
  expect(server.events).toHaveLength(2);
  expect(JSON.stringify(server.events)).not.toContain('occasion');
});

test('beyond the limit of new Events of an object, an occasion counts in the latest one that it may join', async () => {
  const { recorder, server, dropped } = recording();
  const record = (occasion: number): void =>
    recorder.record({ ...webEvent(), occasion: String(occasion), joins: true });
  for (let pass = 0; pass < 27; pass += 1) record(pass);
  await settled();
  expect(server.events).toHaveLength(25);
  expect(server.events.filter((event) => 'series' in event)).toMatchObject([{ series: { count: 3 } }]);
  expect(server.events.at(-1)).toHaveProperty('series');
  // Other Events about the object have a limit of their own.
  for (let i = 0; i < 26; i += 1) recorder.record({ ...webEvent(), reason: 'Tripped', occasion: String(i) });
  expect(dropped).toEqual(['spam']);
});

test('an Event joins no Event that could not be written', async () => {
  const { recorder, server, dropped } = recording();
  server.before = () => {
    throw new ApiError('forbidden', { status: 403 });
  };
  const record = (occasion: number): void =>
    recorder.record({ ...webEvent(), occasion: String(occasion), joins: true });
  for (let pass = 0; pass < 25; pass += 1) record(pass);
  await settled();
  record(25);
  expect(dropped.slice(-2)).toEqual(['rejected', 'spam']);
});

test('occurrences during the first request are one patch after it', async () => {
  const { recorder, server } = recording();
  let respond = (): void => undefined;
  server.before = (request) =>
    request.method === 'POST' ? new Promise((resolve) => (respond = resolve)) : undefined;
  recorder.record(webEvent());
  await settled();
  for (let i = 0; i < 4; i += 1) recorder.record(webEvent());
  await settled();
  expect(server.verbs).toEqual(['POST']);
  respond();
  await settled();
  expect(server.verbs).toEqual(['POST', 'PATCH']);
  expect(server.events).toMatchObject([{ series: { count: 5 } }]);
});

test.each([
  { name: 'another note continues it', change: { note: 'collected two pods' }, events: 1 },
  { name: 'another reason begins one', change: { reason: 'Tripped' }, events: 2 },
  {
    name: 'a new object with the name of an earlier one begins one',
    change: { regarding: { ...webEvent().regarding, uid: 'another' } },
    events: 2,
  },
])('a series: $name', async ({ change, events }) => {
  const { recorder, server } = await recorded();
  recorder.record(webEvent(change));
  await settled();
  expect(server.events).toHaveLength(events);
});

test('an ended series is written once more; a later occurrence is a new Event', async () => {
  const { recorder, server, clock } = recording();
  for (let i = 0; i < 5; i += 1) {
    recorder.record(webEvent());
    await minutes(clock, 1);
  }
  await minutes(clock, 7);
  expect(server.verbs).toEqual(['POST', 'PATCH', 'PATCH']);
  expect(server.events).toMatchObject([
    { series: { count: 5, lastObservedTime: '2026-01-15T12:04:00.000000Z' } },
  ]);
  recorder.record(webEvent());
  await settled();
  expect(server.events).toHaveLength(2);
});

test('a note has control characters as text, and is cut to 1024 bytes after that, between characters', async () => {
  const { server } = await recorded({ note: `${hostile}${'\u202e'.repeat(40)}${'€'.repeat(400)}` });
  const note = server.events[0]?.note ?? '';
  expect(note).toContain(String.raw`a\u001b[2Jb\nERROR forged\u009b2J`);
  expect(note).not.toMatch(raw);
  expect(note).toMatch(/€$/);
  expect(Buffer.byteLength(note)).toBeLessThanOrEqual(1024);
  expect(Buffer.byteLength(note)).toBeGreaterThan(1020);
});

test('a reporting instance is cut to 128 bytes, as node names may be longer', async () => {
  const { server } = await recorded({}, { instance: 'n'.repeat(253) });
  expect(server.events[0]?.reportingInstance).toHaveLength(128);
});

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

test('an Event is dropped after twelve retries', async () => {
  const { recorder, server, clock, dropped, log } = recording();
  server.before = broken;
  recorder.record(webEvent());
  await minutes(clock, 60);
  expect(server.requests).toHaveLength(13);
  expect(dropped).toEqual(['unreachable']);
  expect(log.lines.filter((line) => line.level === 'warn')).toHaveLength(1);
});

test('an Event is retried after Retry-After of a busy server', async () => {
  const { recorder, server, clock } = recording();
  server.before = () => {
    throw new ApiError('slow down', { status: 429, retryAfterMs: 30_000 });
  };
  recorder.record(webEvent());
  await settled();
  server.before = () => undefined;
  await clock.advance(29_000);
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

test('all objects get 200 Events, then ten a second, and never more than 200 at once', () => {
  const filter = new EventSpamFilter(0);
  const allowed = (nowMs: number): number =>
    Array.from({ length: 300 }, (_, i) => filter.allows(`${nowMs}-${i}`, nowMs)).filter(Boolean).length;
  expect([0, 1_000, 60_000_000].map(allowed)).toEqual([200, 10, 200]);
});
