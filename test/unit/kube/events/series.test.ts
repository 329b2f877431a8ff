import { expect, test } from 'vitest';
import {
  beginSeries,
  isIdle,
  isStale,
  repeatSeries,
  seriesKey,
  type Series,
} from '../../../../src/kube/events/series.ts';
import { EventWriter } from '../../../../src/kube/events/writer.ts';
import { webEvent } from '../../../fakes/event-recording.ts';
import { FakeTransport, refusal } from '../../../fakes/transport.ts';

const moment = { now: new Date('2026-01-15T12:00:00Z'), ms: 0 };

/** A series of so many occurrences, of which the Event on the server counts some. */
function series(count: number, sentCount: number, note = 'x'): Series {
  const made = beginSeries(webEvent({ note }), moment, 7);
  for (let i = 1; i < count; i += 1) repeatSeries(made, moment);
  return Object.assign(made, { sentCount });
}

test('a new object with the name of an earlier one has a series of its own', () => {
  const event = webEvent();
  const again = { ...event, regarding: { ...event.regarding, uid: 'another' } };
  expect(seriesKey(again)).not.toBe(seriesKey(event));
});

test('a series is idle after six minutes', () => {
  expect([359_999, 360_000].map((nowMs) => isIdle(series(1, 1), nowMs))).toEqual([false, true]);
});

test('a count is refreshed after 30 minutes, if it has changed', () => {
  const halfHour = 30 * 60_000;
  expect([halfHour - 1, halfHour].map((nowMs) => isStale(series(3, 2), nowMs))).toEqual([false, true]);
  expect(isStale(series(3, 3), halfHour)).toBe(false);
});

test('a note ends with a whole character', () => {
  expect(series(1, 0, '€'.repeat(400)).spec.note).toBe('€'.repeat(341));
});

test('an Event that exists although its creation had no response gets its count', async () => {
  const known = series(3, 0);
  const transport = new FakeTransport({
    send: ({ method }) => {
      if (method === 'POST') throw refusal(409, 'AlreadyExists');
      return {};
    },
  });
  const writer = new EventWriter(transport, { controller: 'gc.dustpan.dev/controller', instance: 'pod-1' });
  expect(await writer.write(known, new AbortController().signal)).toBe('create');
  expect(transport.requests.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
  expect(transport.requests[1]?.body).toMatchObject({ series: { count: 3 } });
  expect(known.sentCount).toBe(3);
});
