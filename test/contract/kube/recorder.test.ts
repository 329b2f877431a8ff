import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readCollections } from '../../../src/kube/events/collected-events.ts';
import { EventRecorder, type EventDrop } from '../../../src/kube/events/event-recorder.ts';
import { eventAnnotations as keys, type ObjectRef } from '../../../src/api/event-refs.ts';
import type { EventSpec } from '../../../src/kube/events/recorder.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { webEvent, type StoredEvent } from '../../fakes/event-recording.ts';
import { silentLogger } from '../../fakes/logger.ts';
import { startEnvironment } from './environment.ts';
import { soon } from '../project.ts';

let recorder: EventRecorder;
let dropped: EventDrop[];
let sent: string[];
let stop: () => Promise<void>;
const { signal } = new AbortController();

const { transport } = await startEnvironment();

beforeEach(() => {
  dropped = [];
  sent = [];
  recorder = new EventRecorder({
    transport,
    clock: systemClock,
    log: silentLogger,
    random: Math.random,
    reportingController: 'gc.dustpan.dev/controller',
    reportingInstance: 'dustpan-controller-0',
    metrics: { sent: (verb) => sent.push(verb), dropped: (cause) => dropped.push(cause) },
  });
  const abort = new AbortController();
  const ended = recorder.run(abort.signal);
  stop = async () => {
    abort.abort();
    await ended;
  };
});

afterEach(() => stop());

const path = (namespace: string): string => `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
const eventsOf = async ({ uid, namespace = 'default' }: ObjectRef): Promise<readonly StoredEvent[]> => {
  const { body } = await transport.send({ method: 'GET', path: path(namespace) }, signal);
  const list = JSON.parse(body.toString()) as { items: readonly (StoredEvent & { regarding: ObjectRef })[] };
  return list.items.filter(({ regarding }) => regarding.uid === uid);
};
const event = (regarding: Partial<ObjectRef> = {}, note = 'collected a pod'): EventSpec => ({
  ...webEvent({ note }),
  regarding: { ...webEvent().regarding, namespace: 'default', uid: randomUUID(), ...regarding },
});
const shown = async (spec: EventSpec, count: number | undefined): Promise<StoredEvent> =>
  await vi.waitFor(async () => {
    const [stored, ...others] = await eventsOf(spec.regarding);
    if (stored === undefined) throw new Error('no Event yet');
    expect(others).toEqual([]);
    expect(stored.series?.count).toBe(count);
    return stored;
  }, soon);

test('the first occurrence is an Event, the second its series, later ones are counts that are written on stop', async () => {
  const spec = event();
  recorder.record(spec);
  const first = await shown(spec, undefined);
  expect(first).toMatchObject({
    ...{ type: 'Normal', reason: 'PodCollected', action: 'Collect', note: 'collected a pod' },
    ...{ reportingController: 'gc.dustpan.dev/controller', reportingInstance: 'dustpan-controller-0' },
    regarding: spec.regarding,
  });
  expect(first.eventTime).toMatch(/\.\d{6}Z$/);
  recorder.record({ ...spec, note: 'collected another' });
  expect((await shown(spec, 2)).note).toBe('collected a pod');
  for (let i = 0; i < 10; i += 1) recorder.record(spec);
  await stop();
  await shown(spec, 12);
  expect(sent).toEqual(['create', 'patch', 'patch']);
  expect(dropped).toEqual([]);
});

test('an expired Event is created again with its series', async () => {
  const spec = event();
  recorder.record(spec);
  const { metadata } = await shown(spec, undefined);
  await transport.send({ method: 'DELETE', path: `${path('default')}/${metadata.name}` }, signal);
  recorder.record(spec);
  await shown(spec, 2);
  expect(sent).toEqual(['create', 'create']);
});

test.each([
  {
    name: 'an object of the cluster',
    regarding: { apiVersion: 'v1', kind: 'Node', namespace: undefined, name: 'node-a' },
  },
  { name: 'an object in another namespace', regarding: { namespace: 'kube-system' } },
  { name: 'an object whose name no Event can have', regarding: { name: 'system:web' } },
  { name: 'an object with the longest of names', regarding: { name: 'a'.repeat(253) } },
])('$name can have one', async ({ regarding }) => {
  const spec = event(regarding);
  recorder.record(spec);
  await shown(spec, undefined);
  expect(dropped).toEqual([]);
});

test('Events of other reporters with the same reason are ignored', async () => {
  const collected = { reason: 'Expired', policy: 'default', names: ['web-a', 'web-b'], more: 5 };
  const annotations = {
    [keys.reason]: collected.reason,
    [keys.policy]: collected.policy,
    [keys.names]: collected.names.join(),
    [keys.more]: String(collected.more),
  };
  const spec = { ...event({}, 'Deleted 7 pods (Expired, policy default): …'), annotations };
  recorder.record(spec);
  const own = await shown(spec, undefined);
  const forged = {
    ...{ ...own, metadata: { name: `forged-${randomUUID()}` }, note: 'Deleted 1 pod: web-b' },
    reportingController: 'example.com/controller',
  };
  await transport.send({ method: 'POST', path: path('default'), body: forged }, signal);
  expect(await eventsOf(spec.regarding)).toHaveLength(2);
  const read = await readCollections(transport, 'default', signal);
  expect(read.find(({ note }) => note === spec.note)).toMatchObject(collected);
  expect(read.map(({ note }) => note)).not.toContain(forged.note);
});
