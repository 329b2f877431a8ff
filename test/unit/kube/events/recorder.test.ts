import { expect, test } from 'vitest';
import { minutes, recorded, recording, webEvent } from '../../../fakes/event-recording.ts';
import { settled } from '../../../fakes/settling-clock.ts';
import { hostile, raw } from '../../../hostile.ts';

test('each occasion has its own Event, and is not written', async () => {
  const { recorder, server, sent } = recording();
  for (const occasion of ['80', '95', '95']) recorder.record({ ...webEvent(), occasion });
  await settled();
  expect(sent).toEqual(['create', 'create']);
  expect(server.events).toHaveLength(2);
  expect(JSON.stringify(server.events)).not.toContain('occasion');
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

test('occurrences before the first request are in its series', async () => {
  const { recorder, server } = recording();
  for (let i = 0; i < 3; i += 1) recorder.record(webEvent());
  await settled();
  expect(server.verbs).toEqual(['POST']);
  expect(server.events).toMatchObject([{ series: { count: 3 } }]);
});

test.each([
  { name: 'another note continues it', change: { note: 'collected two pods' }, events: 1 },
  { name: 'another reason begins one', change: { reason: 'Tripped' }, events: 2 },
  { name: 'another action begins one', change: { action: 'Warn' }, events: 2 },
  { name: 'another type begins one', change: { type: 'Warning' as const }, events: 2 },
  { name: 'another object begins one', change: { name: 'api' }, events: 2 },
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

test('an active series is refreshed every 30 minutes', async () => {
  const { recorder, server, clock } = recording();
  for (let i = 0; i < 63; i += 1) {
    recorder.record(webEvent());
    await minutes(clock, 1);
  }
  expect(server.verbs).toEqual(['POST', 'PATCH', 'PATCH', 'PATCH']);
  expect(server.events).toMatchObject([{ series: { count: 61 } }]);
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

test('a single event is not written again', async () => {
  const { recorder, server, clock } = recording();
  recorder.record(webEvent());
  await minutes(clock, 60);
  expect(server.verbs).toEqual(['POST']);
});

test('a note is cut to 1024 bytes, between characters', async () => {
  const { server } = await recorded({ note: `x${'€'.repeat(400)}` });
  const note = server.events[0]?.note ?? '';
  expect(note).toBe(`x${'€'.repeat(341)}`);
  expect(Buffer.byteLength(note)).toBe(1024);
});

test('a note has control characters as text, and is cut after that', async () => {
  const { server } = await recorded({ note: `${hostile}${'\u202e'.repeat(400)}` });
  const note = server.events[0]?.note ?? '';
  expect(note).toContain(String.raw`a\u001b[2Jb\nERROR forged\u009b2J`);
  expect(note).not.toMatch(raw);
  expect(Buffer.byteLength(note)).toBe(1024);
});

test('a reporting instance is cut to 128 bytes, as node names may be longer', async () => {
  const { server } = await recorded({}, { instance: 'n'.repeat(253) });
  expect(server.events[0]?.reportingInstance).toHaveLength(128);
});
