import { expect, test } from 'vitest';
import { PolicyOperator } from '../../../../src/kube/cache/operator.ts';
import type { PolicyEvent } from '../../../../src/kube/cache/operator.ts';
import { statusPatcher } from '../../../../src/kube/actions/status-patch.ts';
import { settled } from '../../../fakes/settling-clock.ts';
import { PolicyFeed, storedPolicy } from '../../../fakes/policy-feed.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { FakeTransport, refusal } from '../../../fakes/transport.ts';

/** An operator at work; `handle` is what it does with an event beyond telling of it. */
function operating(
  handle: (event: PolicyEvent, signal: AbortSignal) => Promise<void> = () => Promise.resolve(),
) {
  const feed = new PolicyFeed();
  const log = new RecordingLogger();
  const told: string[] = [];
  const patches = new FakeTransport({});
  const operator = new PolicyOperator({
    watch: feed.watch,
    status: statusPatcher(patches),
    log,
    onEvent: (event, signal) => {
      told.push(`${event.type} ${event.name}`);
      return handle(event, signal);
    },
  });
  const stop = new AbortController();
  const ended = operator.run(stop.signal);
  return { feed, log, told, patches, operator, stop, ended };
}

/** The library's queue starts its tasks in a later turn of the event loop, each. */
async function quiet(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await settled();
}

const a1 = storedPolicy('a', '1');
const a2 = storedPolicy('a', '2');
const b1 = storedPolicy('b', '1');

test('it watches the policies of all names', () => {
  expect(operating().feed.path).toBe('/apis/gc.dustpan.dev/v1alpha1/gcpolicies');
});

test('additions, changes and deletions are told in turn', async () => {
  const { feed, told } = operating();
  feed.set(a1, b1);
  await quiet();
  feed.set(a2);
  await quiet();
  feed.relist(a2);
  await quiet();
  expect(told).toEqual(['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED b']);
});

test('a handler gets the whole object, of a deleted policy the last one', async () => {
  const events: PolicyEvent[] = [];
  const { feed } = operating((event) => {
    events.push(event);
    return Promise.resolve();
  });
  feed.set(a2);
  await quiet();
  feed.relist();
  await quiet();
  expect(events).toEqual([
    { type: 'ADDED', uid: 'uid-a', name: 'a', object: a2.object },
    { type: 'DELETED', uid: 'uid-a', name: 'a', object: a2.object },
  ]);
});

test('a relist that brings nothing new tells nothing', async () => {
  const { feed, told } = operating();
  feed.set(a1, b1);
  await quiet();
  feed.relist(a1, b1);
  await quiet();
  expect(told).toHaveLength(2);
});

test('a name used again is a deletion and an addition, in this order', async () => {
  const { feed, told } = operating();
  feed.set(a1);
  await quiet();
  feed.relist(storedPolicy('a', '7', 'another'));
  await quiet();
  expect(told).toEqual(['ADDED a', 'DELETED a', 'ADDED a']);
});

test('one event at a time; what changes meanwhile is told once, as it then is', async () => {
  let release = (): void => undefined;
  const seen: unknown[] = [];
  const { feed, told } = operating(({ object }) => {
    seen.push(object);
    return new Promise((resolve) => {
      release = resolve;
    });
  });
  feed.set(a1);
  await quiet();
  for (const version of ['2', '3', '4']) feed.set(storedPolicy('a', version));
  feed.set(b1);
  await quiet();
  expect(told).toEqual(['ADDED a']);
  release();
  await quiet();
  release();
  await quiet();
  expect(told).toEqual(['ADDED a', 'MODIFIED a', 'ADDED b']);
  expect(seen[1]).toMatchObject({ metadata: { resourceVersion: '4' } });
});

test('what came and went before its turn is not told at all', async () => {
  const { feed, told } = operating();
  feed.set(a1, b1);
  feed.relist(a1);
  await quiet();
  expect(told).toEqual(['ADDED a']);
});

test('a handler that fails is logged and the next event comes', async () => {
  const { feed, told, log } = operating(({ name }) =>
    name === 'a' ? Promise.reject(new Error('boom')) : Promise.resolve(),
  );
  feed.set(a1, b1);
  await quiet();
  expect(told).toEqual(['ADDED a', 'ADDED b']);
  expect(log.lines).toMatchObject([{ level: 'error', fields: { policy: 'a' } }]);
});

test('after the stop nothing more is told, and the run waits for what is under way', async () => {
  let release = (): void => undefined;
  const { feed, told, stop, ended } = operating(
    () =>
      new Promise((resolve) => {
        release = resolve;
      }),
  );
  let over = false;
  void ended.then(() => (over = true));
  feed.set(a1, b1);
  await quiet();
  stop.abort();
  await quiet();
  expect(over).toBe(false);
  release();
  await quiet();
  expect(over).toBe(true);
  expect(told).toEqual(['ADDED a']);
});

test('a status is a merge patch over our own connection', async () => {
  const { operator, patches } = operating();
  await operator.writeStatus('a', { observedGeneration: 3 }, new AbortController().signal);
  expect(patches.requests).toMatchObject([
    {
      method: 'PATCH',
      path: '/apis/gc.dustpan.dev/v1alpha1/gcpolicies/a/status',
      contentType: 'application/merge-patch+json',
      body: { status: { observedGeneration: 3 } },
    },
  ]);
});

test.each([
  { name: 'of a policy that is gone is no error', status: 404, gone: true },
  { name: 'that is refused is thrown, not swallowed', status: 403, gone: false },
])('a status $name', async ({ status, gone }) => {
  const transport = new FakeTransport({
    send: () => {
      throw refusal(status, 'no');
    },
  });
  const operator = new PolicyOperator({
    watch: new PolicyFeed().watch,
    status: statusPatcher(transport),
    log: new RecordingLogger(),
    onEvent: () => Promise.resolve(),
  });
  const written = operator.writeStatus('a', {}, new AbortController().signal);
  if (gone) await written;
  else await expect(written).rejects.toThrow('no');
});
