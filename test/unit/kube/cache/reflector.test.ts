import { describe, expect, onTestFinished, test } from 'vitest';
import { Reflector, View } from '../../../../src/kube/cache/reflector.ts';
import { jsonResource, podsResource } from '../../../../src/kube/cache/resources.ts';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import { FakeApi } from '../../../fakes/api.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { ManualClock, until } from '../../../fakes/manual-clock.ts';
import { policyManifest } from '../../../manifests.ts';
import { apiWith, names, pause, pod, refused, start, startWatching, stateOf } from './start-reflector.ts';

describe('the requests', () => {
  test('the list is consistent, the watch continues where it ended, both with the selector', async () => {
    const { api } = await startWatching(apiWith('a'), {
      resource: { ...podsResource({ labelKeys: () => 'all' }), query: { fieldSelector: 'spec.nodeName=n' } },
      random: () => 0.5,
    });
    expect(api.lists[0]?.query).toEqual({ fieldSelector: 'spec.nodeName=n', limit: '2' });
    expect(api.watches[0]?.query).toEqual({
      fieldSelector: 'spec.nodeName=n',
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: api.objects.revision,
      timeoutSeconds: '70',
    });
  });

  test('a list in one page has no limit, so that the watch cache serves it', async () => {
    const api = apiWith('a', 'b', 'c');
    const { reflector } = await startWatching(api, { pageSize: 'all' });
    expect(api.lists.map(({ query }) => query)).toEqual([{}]);
    expect(names(reflector)).toEqual(['a', 'b', 'c']);
  });

  test('a watch that ends is resumed at the last event, so that nothing is lost', async () => {
    const { api, clock } = await startWatching(apiWith('a'));
    api.objects.apply(pod('b'));
    clock.advance(59_000);
    api.endWatches();
    await until(() => api.watches.length === 2);
    expect(api.watches[1]?.query?.['resourceVersion']).toBe(api.objects.revision);
    expect(api.lists).toHaveLength(1);
  });
});

const json = (value: object): string => `${JSON.stringify(value)}\n`;

/** A server with one pod `a`, whose watch sends what this generator yields. */
function streaming(watch: () => AsyncGenerator<string>) {
  async function* stream({ query }: KubeRequest): AsyncGenerator<Buffer> {
    if (query?.['watch'] === undefined)
      yield Buffer.from(json({ kind: 'PodList', metadata: { resourceVersion: '1' }, items: [pod('a')] }));
    else for await (const text of watch()) yield Buffer.from(text);
  }
  return start(apiWith(), { transport: { send: () => Promise.reject(refused), stream } });
}
const endless = new Promise(() => undefined);
const added = json({ type: 'ADDED', object: pod('b', { resourceVersion: '2' }) });

describe('a change of the view', () => {
  test('is reported after each batch, bookmarks are not', async () => {
    const { api, reflector, changes } = await startWatching(apiWith('a'));
    api.objects.apply(pod('b'));
    await until(() => reflector.items.size === 2);
    await until(() => changes.length === 2);
    api.server.bookmark();
    api.objects.apply(pod('c'));
    await until(() => reflector.items.size === 3);
    expect(changes).toEqual([['a'], ['a', 'b'], ['a', 'b', 'c']]);
  });
});

describe('relist', () => {
  test('while the last page is read restarts the list', async () => {
    const api = apiWith('a');
    let isFirst = true;
    const listed: string[] = [];
    const nothing = (): void => undefined;
    const labelKeys = () => {
      if (isFirst) reflector.relist('a policy reads another label');
      isFirst = false;
      return 'all' as const;
    };
    const { reflector } = start(api, {
      resource: podsResource({ labelKeys }),
      metrics: { listed: (name) => listed.push(name), watchStarted: nothing, failed: nothing },
    });
    await until(() => api.watching === 1);
    expect(api.lists).toHaveLength(2);
    expect(listed).toEqual(['pods']);
  });

  test('ignores later events of the old stream', async () => {
    let deliver = (): void => undefined;
    const late = new Promise<void>((resolve) => (deliver = resolve));
    let watches = 0;
    const { reflector, changes } = streaming(async function* () {
      watches += 1;
      await (watches === 1 ? late : endless);
      yield added;
    });
    await until(() => watches === 1);
    reflector.relist('test');
    deliver();
    await until(() => watches === 2);
    expect(names(reflector)).toEqual(['a']);
    expect(changes).toEqual([['a'], ['a']]);
  });
});

describe('stopping', () => {
  test('ends the wait between attempts', async () => {
    const api = apiWith('a');
    api.fail('list', refused);
    const { done, clock, stop } = start(api);
    await pause(clock);
    stop.abort();
    await done;
  });

  test('whenComplete rejects with the reason', async () => {
    const api = apiWith('a');
    api.fail('list', refused);
    const { reflector } = start(api);
    const waiting = reflector.whenComplete(AbortSignal.abort(new Error('enough')));
    await expect(waiting).rejects.toThrow('enough');
  });
});

describe('a kind that is not installed', () => {
  const resource = jsonResource({ name: 'gcpolicies', path: '/apis/gc.dustpan.dev/v1alpha1/gcpolicies' });
  const notFound = new ApiError('404 page not found', { status: 404 });

  test('is empty and not synced until it is installed', async () => {
    const api = new FakeApi();
    const clock = new ManualClock();
    const sizes: number[] = [];
    const reflector = new Reflector({
      ...{ transport: api, clock, log: silentLogger, random: () => 0, resource },
      onChange: () => sizes.push(reflector.items.size),
    });
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    void reflector.run(stop.signal);
    await until(() => reflector.state === 'missing');
    expect(stateOf(reflector)).toMatchObject({
      synced: false,
      lastError: expect.stringContaining('404 page not found') as string,
    });
    await api.server.registry.install('crds');
    const { metadata, ...policy } = policyManifest('p', { mode: 'DryRun' });
    api.objects.apply({ ...policy, metadata: { ...metadata, uid: 'u' } });
    clock.advance(800);
    await until(() => reflector.synced);
    expect(reflector.items.get('u')).toMatchObject({ name: 'p', object: { spec: { mode: 'DryRun' } } });

    await until(() => api.watching === 1);
    clock.advance(1000);
    api.fail('watch', notFound);
    api.endWatches();
    await until(() => reflector.state === 'missing');
    expect(stateOf(reflector)).toMatchObject({ synced: false, count: 0 });
    expect(sizes).toEqual([0, 1, 0]);
  });

  test('keeps the objects of a built-in kind after a 404', async () => {
    const { api, reflector, clock } = await startWatching(apiWith('a'));
    api.fail('watch', notFound);
    clock.advance(1000);
    api.endWatches();
    await until(() => reflector.state === 'failing');
    expect(stateOf(reflector)).toMatchObject({ synced: false, isComplete: true });
    expect(names(reflector)).toEqual(['a']);
  });
});

describe('namesakes', () => {
  const object = (name: string, uid: string, namespace = 'a') => ({
    uid,
    name,
    namespace,
    resourceVersion: '1',
  });

  function viewOf(...objects: readonly ReturnType<typeof object>[]) {
    const view = new View<ReturnType<typeof object>>();
    for (const one of objects) view.put(one);
    return view;
  }

  test('a late deletion does not remove a namesake', () => {
    const view = viewOf(object('web-0', 'new'));
    view.remove(object('web-0', 'old'));
    expect([...view.items.keys()]).toEqual(['new']);
  });

  test('a new object replaces its namesake, whose deletion was lost', () => {
    expect([...viewOf(object('web-0', 'old'), object('web-0', 'new')).items.keys()]).toEqual(['new']);
    const elsewhere = viewOf(object('web-0', 'old'), object('web-0', 'new', 'b'));
    expect([...elsewhere.items.keys()]).toEqual(['old', 'new']);
  });
});
