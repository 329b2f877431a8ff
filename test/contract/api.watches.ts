import { expect, test } from 'vitest';
import {
  causedBy,
  metadataOnly,
  onNode,
  policies,
  refusal,
  unique,
  type Bed,
  type Event,
} from './api.bed.ts';

const initialEnd = 'k8s.io/initial-events-end';
const watchList = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';

/** What a watch sends, in which order, and where it starts. */
export function watchRows(bed: () => Bed): void {
  const watch = (query: string): string => `${bed().pods()}?watch=true&${query}`;
  const types = (events: readonly Event[]): readonly string[] => events.map(({ type }) => type);
  const versions = (events: readonly Event[]): readonly number[] =>
    events.map(({ object }) => Number(object.metadata.resourceVersion));

  test('sends every change after its resourceVersion, in order', async () => {
    const name = unique('watched');
    const since = await bed().now();
    await bed().createPod(name, onNode);
    await bed().patch(bed().pods(name), { metadata: { labels: { a: '1' } } });
    await bed().patch(`${bed().pods(name)}/status`, { status: { phase: 'Running' } });
    await bed().delete(bed().pods(name));
    await bed().delete(bed().pods(name), { gracePeriodSeconds: 0 });
    const events = await bed().watch(watch(`resourceVersion=${since}`), 6);
    expect(types(events)).toEqual(['ADDED', 'MODIFIED', 'MODIFIED', 'MODIFIED', 'MODIFIED', 'DELETED']);
    expect(versions(events)).toEqual([...new Set(versions(events))].toSorted((a, b) => a - b));
    expect(events[0]?.object).toMatchObject({ kind: 'Pod', apiVersion: 'v1', metadata: { name } });
  });

  test('sends changes as they happen', async () => {
    const since = await bed().now();
    const name = unique('live');
    const [events] = await Promise.all([
      bed().watch(watch(`resourceVersion=${since}&timeoutSeconds=20`), 1),
      bed().createPod(name),
    ]);
    expect(events[0]).toMatchObject({ type: 'ADDED', object: { metadata: { name } } });
  });

  test('shows a pod that is deleted without grace as terminating before it is gone', async () => {
    const { metadata } = await bed().createPod(unique('gone'), onNode);
    await bed().delete(bed().pods(metadata.name), { gracePeriodSeconds: 0 });
    const events = await bed().watch(watch(`resourceVersion=${metadata.resourceVersion}`), 2);
    expect(events).toMatchObject([
      { type: 'MODIFIED', object: { metadata: { deletionGracePeriodSeconds: 0 } } },
      { type: 'DELETED', object: { metadata: { uid: metadata.uid } } },
    ]);
    expect(versions(events)[1]).toBeGreaterThan(versions(events)[0] ?? 0);
  });

  test('turns changes that a selector sees into additions and deletions', async () => {
    const name = unique('selected');
    const { metadata } = await bed().createPod(name);
    const label = (value: string | null): Promise<unknown> =>
      bed().patch(bed().pods(name), { metadata: { labels: { [name]: value } } });
    await label('on');
    await label('still');
    await label(null);
    const query = `resourceVersion=${metadata.resourceVersion}&labelSelector=${name}`;
    expect(types(await bed().watch(watch(query), 3))).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
  });

  test.each(['', 'resourceVersion=0'])(
    'starts with what is there when it is not told where to start (%s)',
    async (query) => {
      const name = unique('there');
      await bed().createPod(name);
      const events = await bed().watch(watch(`${query}&fieldSelector=metadata.name%3D${name}`), 1);
      expect(events).toMatchObject([{ type: 'ADDED', object: { metadata: { name } } }]);
    },
  );

  test('ends after timeoutSeconds', async () => {
    expect(await bed().watch(watch(`resourceVersion=${await bed().now()}&timeoutSeconds=1`))).toEqual([]);
  });

  // Two seconds before the end, as upstream's cacher plans it; a busy server may miss that, and nobody promises a bookmark: hence the retries.
  test('sends a bookmark before it ends, when it has seen something', { retry: 3 }, async () => {
    const query = `resourceVersion=${await bed().now()}&allowWatchBookmarks=true&timeoutSeconds=4`;
    const watching = bed().watch(watch(query));
    const { metadata } = await bed().createPod(unique('marked'));
    const events = await watching;
    expect(events.at(-1)).toMatchObject({ type: 'BOOKMARK', object: { kind: 'Pod', apiVersion: 'v1' } });
    expect(versions(events).at(-1)).toBeGreaterThanOrEqual(Number(metadata.resourceVersion));
  });

  test('sends no bookmark unasked', async () => {
    const watching = bed().watch(watch(`resourceVersion=${await bed().now()}&timeoutSeconds=3`));
    await bed().createPod(unique('marked'));
    expect(types(await watching)).not.toContain('BOOKMARK');
  });

  test('lists by a watch: what is there, then a bookmark that says so', async () => {
    const name = unique('wl');
    const { metadata } = await bed().createPod(name, { metadata: { labels: { [name]: '' } } });
    const path = `${bed().pods()}?${watchList}&allowWatchBookmarks=true&labelSelector=${name}`;
    const events = await bed().watch(path, 2);
    expect(events).toMatchObject([
      { type: 'ADDED', object: { metadata: { name } } },
      { type: 'BOOKMARK', object: { kind: 'Pod', metadata: { annotations: { [initialEnd]: 'true' } } } },
    ]);
    expect(versions(events)[1]).toBeGreaterThanOrEqual(Number(metadata.resourceVersion));
  });

  test('goes on after the list of a watch', async () => {
    const name = unique('after');
    const path = `${bed().pods()}?${watchList}&allowWatchBookmarks=true&labelSelector=${name}`;
    const watching = bed().watch(path, 2);
    await bed().createPod(name, { metadata: { labels: { [name]: '' } } });
    expect(types(await watching).toSorted()).toEqual(['ADDED', 'BOOKMARK']);
  });

  test('ends the list of a watch in silence when bookmarks are not allowed', async () => {
    const name = unique('silent');
    const path = `${bed().pods()}?${watchList}&timeoutSeconds=1&labelSelector=${name}`;
    expect(await bed().watch(path)).toEqual([]);
  });

  test.each([
    { name: 'initial events without a match', query: 'sendInitialEvents=true' },
    {
      name: 'initial events of an exact version',
      query: 'sendInitialEvents=true&resourceVersionMatch=Exact',
    },
    { name: 'a match without initial events', query: 'resourceVersion=5&resourceVersionMatch=NotOlderThan' },
  ])('refuses $name', async ({ query }) => {
    const details = { kind: 'ListOptions', ...causedBy('resourceVersionMatch') };
    expect(await bed().ask('GET', watch(query))).toMatchObject(refusal(422, 'Invalid', { details }));
  });

  test('refuses a resourceVersion that is none', async () => {
    const answer = await bed().ask('GET', watch('resourceVersion=abc'));
    expect(answer).toMatchObject({ status: 500, body: { kind: 'Status', code: 500 } });
  });

  test('says in the stream that a resourceVersion is too old, and ends', async () => {
    const events = await bed().watch(`${policies}?watch=true&resourceVersion=1&timeoutSeconds=10`);
    expect(events).toMatchObject([
      { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } },
    ]);
    expect(events[0]?.object.message).toMatch(/^too old resource version: 1 \(\d+\)$/);
  });

  test('sends metadata alone when asked', async () => {
    const name = unique('meta');
    await bed().createPod(name);
    const [event] = await bed().watch(watch(`fieldSelector=metadata.name%3D${name}`), 1, metadataOnly);
    expect(event).toMatchObject({
      type: 'ADDED',
      object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name } },
    });
    expect(event?.object.spec).toBeUndefined();
  });
}
