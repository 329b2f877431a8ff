import { expect, test } from 'vitest';
import { PolicyOperator, type PolicyEvent } from '../../../../src/kube/actions/operator.ts';
import { settled } from '../../../fakes/settling-clock.ts';
import { PolicyFeed, storedPolicy } from '../../../fakes/policy-feed.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

type Policy = ReturnType<typeof storedPolicy>;

function startOperator(
  handle: (event: PolicyEvent, signal: AbortSignal) => Promise<void> = () => Promise.resolve(),
) {
  const feed = new PolicyFeed();
  const log = new RecordingLogger();
  const reported: string[] = [];
  const operator = new PolicyOperator({
    watch: feed.watch,
    transport: new FakeTransport({}),
    log,
    onEvent: (event, signal) => {
      reported.push(`${event.type} ${event.name}`);
      return handle(event, signal);
    },
  });
  const stop = new AbortController();
  const ended = operator.run(stop.signal);
  const set = async (...policies: readonly Policy[]): Promise<void> => {
    feed.set(...policies);
    await quiet();
  };
  const relist = async (...policies: readonly Policy[]): Promise<void> => {
    feed.relist(...policies);
    await quiet();
  };
  return { feed, log, reported, stop, ended, set, relist };
}

/** Waits for the library's queue, which starts each task in a later turn of the event loop. */
async function quiet(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await settled();
}

const a1 = storedPolicy('a', '1');
const b1 = storedPolicy('b', '1');

test('reports a deletion once, and nothing for a relist without changes', async () => {
  const { reported, set, relist } = startOperator();
  await set(a1, b1);
  await relist(a1, b1);
  await relist(b1);
  await set(storedPolicy('b', '2'));
  expect(reported).toEqual(['ADDED a', 'ADDED b', 'DELETED a', 'MODIFIED b']);
});

test('reports a reused name as a deletion and then an addition', async () => {
  const { reported, set, relist } = startOperator();
  await set(a1);
  await relist(storedPolicy('a', '7', 'another'));
  expect(reported).toEqual(['ADDED a', 'DELETED a', 'ADDED a']);
});

test('handles one event at a time; changes meanwhile are reported once, in their last state', async () => {
  let release = (): void => undefined;
  const seen: unknown[] = [];
  const { feed, reported, set } = startOperator(({ object }) => {
    seen.push(object);
    return new Promise((resolve) => (release = resolve));
  });
  await set(a1);
  for (const version of ['2', '3', '4']) feed.set(storedPolicy('a', version));
  await set(b1);
  expect(reported).toEqual(['ADDED a']);
  release();
  await quiet();
  release();
  await quiet();
  expect(reported).toEqual(['ADDED a', 'MODIFIED a', 'ADDED b']);
  expect(seen[1]).toMatchObject({ metadata: { resourceVersion: '4' } });
});

test('logs a failed handler and handles the next event', async () => {
  const { reported, log, set } = startOperator(({ name }) =>
    name === 'a' ? Promise.reject(new Error('boom')) : Promise.resolve(),
  );
  await set(a1, b1);
  expect(reported).toEqual(['ADDED a', 'ADDED b']);
  expect(log.lines).toMatchObject([{ level: 'error', fields: { policy: 'a' } }]);
});

test('reports nothing after the stop, and waits for the event in progress', async () => {
  let release = (): void => undefined;
  const { reported, stop, ended, set } = startOperator(() => new Promise((resolve) => (release = resolve)));
  let over = false;
  void ended.then(() => (over = true));
  await set(a1, b1);
  stop.abort();
  await quiet();
  expect(over).toBe(false);
  release();
  await quiet();
  expect(over).toBe(true);
  expect(reported).toEqual(['ADDED a']);
});
