import { describe, expect, test } from 'vitest';
import { podsResource } from '../../../../src/kube/cache/resources.ts';
import type { KubeRequest } from '../../../../src/kube/http/transport.ts';
import { until } from '../../../fakes/manual-clock.ts';
import { apiWith, names, pause, pod, refused, start, startWatching, stateOf } from './reflector.bed.ts';

describe.each([{ jsonOnly: false }, { jsonOnly: true }])('in JSON: $jsonOnly', ({ jsonOnly }) => {
  test('lists in pages, then follows what happens', async () => {
    const api = apiWith('a', 'b', 'c', 'd', 'e');
    api.jsonOnly = jsonOnly;
    const { reflector } = await startWatching(api);
    expect(names(reflector)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(api.lists).toHaveLength(3);

    api.objects.apply(pod('f'));
    api.objects.delete('Pod', 'a', 'a');
    api.objects.apply({ ...pod('b'), status: { phase: 'Succeeded' } });
    await until(() => reflector.items.get('uid-b')?.phase === 'Succeeded');
    expect(names(reflector)).toEqual(['b', 'c', 'd', 'e', 'f']);
    expect(stateOf(reflector)).toMatchObject({
      synced: true,
      state: 'synced',
      lastError: undefined,
      lastSyncAt: 0,
    });
  });
});

describe('the requests', () => {
  test('a list is consistent, a watch goes on where it ended, both with the selector', async () => {
    const api = apiWith('a');
    await startWatching(api, {
      resource: podsResource({ labelKeys: () => 'all', nodeName: 'n' }),
      random: () => 0.5,
    });
    expect(api.lists[0]?.query).toEqual({ fieldSelector: 'spec.nodeName=n', limit: '2' });
    expect(api.watches[0]?.query).toEqual({
      fieldSelector: 'spec.nodeName=n',
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: api.objects.revision,
      timeoutSeconds: '450',
    });
  });

  test('a list in one page has no limit: of that the watch cache knows the answer', async () => {
    const api = apiWith('a', 'b', 'c');
    const { reflector } = await startWatching(api, { pageSize: 'all' });
    expect(api.lists.map(({ query }) => query)).toEqual([{}]);
    expect(names(reflector)).toEqual(['a', 'b', 'c']);
  });

  test('a watch that the server ends is resumed at once, after the last event or bookmark', async () => {
    const api = apiWith('a');
    const { clock } = await startWatching(api);
    api.objects.apply(pod('b'));
    api.server.bookmark();
    clock.advance(300_000);
    api.endWatches();
    await until(() => api.watches.length === 2);
    expect(api.watches[1]?.query?.['resourceVersion']).toBe(api.objects.revision);
    expect(api.lists).toHaveLength(1);
  });

  test('changes between two watches are not lost', async () => {
    const api = apiWith('a', 'b');
    const { reflector, clock } = await startWatching(api);
    api.server.bookmark();
    clock.advance(1000);
    api.endWatches();
    api.objects.delete('Pod', 'a', 'a');
    api.objects.apply(pod('c'));
    await until(() => reflector.items.has('uid-c'));
    expect(names(reflector)).toEqual(['b', 'c']);
  });
});

describe('the view', () => {
  test('is never half a list', async () => {
    const api = apiWith('a', 'b', 'c');
    const seen: (readonly string[])[] = [];
    const { reflector, changes } = start(api);
    api.before = ({ query }) => {
      if (query?.['watch'] === undefined) seen.push(names(reflector));
    };
    await until(() => reflector.synced);
    expect(seen).toEqual([[], []]);
    expect(changes).toEqual([['a', 'b', 'c']]);
  });

  test('stays as it is while listing again, then is the new one', async () => {
    const api = apiWith('a', 'b', 'c');
    const { reflector } = await startWatching(api);
    const seen: (readonly string[])[] = [];
    api.before = ({ query }) => {
      if (query?.['watch'] === undefined) seen.push(names(reflector));
    };
    api.silently(() => {
      api.objects.delete('Pod', 'a', 'a');
    });
    api.server.bookmark();
    api.sendError(410, 'Expired');
    await until(() => api.watches.length === 2);
    expect(seen).toEqual([['a', 'b', 'c']]);
    expect(names(reflector)).toEqual(['b', 'c']);
    expect(reflector.synced).toBe(true);
  });

  test('keeps the value of what a new list brings unchanged', async () => {
    const api = apiWith('a');
    const { reflector } = await startWatching(api);
    const before = reflector.items.get('uid-a');
    api.server.bookmark();
    api.sendError(410, 'Gone');
    await until(() => api.watches.length === 2);
    expect(reflector.items.get('uid-a')).toBe(before);
  });

  test('a new object takes the place of its namesake', async () => {
    const api = apiWith('a');
    const { reflector } = await startWatching(api);
    api.silently(() => {
      api.objects.delete('Pod', 'a', 'a');
    });
    api.objects.apply(pod('a', { uid: 'uid-new' }));
    await until(() => reflector.items.has('uid-new'));
    expect([...reflector.items.keys()]).toEqual(['uid-new']);
  });

  test('a namesake in another namespace is another object', async () => {
    const api = apiWith('a');
    const { reflector } = await startWatching(api);
    api.objects.apply(pod('a', { namespace: 'b', uid: 'uid-other' }));
    await until(() => reflector.items.size === 2);
  });
});

describe('relist', () => {
  test('projects anew; until it is done the view is not synced', async () => {
    const api = apiWith();
    api.objects.apply(pod('a', { labels: { app: 'x', tier: 'y' } }));
    const keys = new Set(['app']);
    const { reflector } = await startWatching(api, { resource: podsResource({ labelKeys: () => keys }) });
    expect(reflector.items.get('uid-a')?.labels).toEqual({ app: 'x' });

    keys.add('tier');
    reflector.relist('a policy reads another label');
    expect(reflector.synced).toBe(false);
    expect(names(reflector)).toEqual(['a']);
    await reflector.whenSynced(new AbortController().signal);
    expect(reflector.items.get('uid-a')?.labels).toEqual({ app: 'x', tier: 'y' });
  });

  test('in the middle of a list begins it again', async () => {
    const api = apiWith('a', 'b', 'c');
    const { reflector } = start(api);
    api.before = ({ query }) => {
      if (query?.['continue'] !== undefined && api.lists.length === 2) reflector.relist('test');
    };
    await until(() => api.watching === 1);
    expect(api.lists.map((r) => r.query?.['continue'] !== undefined)).toEqual([false, true, false, true]);
    expect(names(reflector)).toEqual(['a', 'b', 'c']);
  });

  test('what arrives of the old stream after it is not shown', async () => {
    const json = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);
    let deliver = (): void => undefined;
    const late = new Promise<void>((resolve) => (deliver = resolve));
    let watches = 0;
    async function* stream({ query }: KubeRequest): AsyncGenerator<Buffer> {
      if (query?.['watch'] === undefined) {
        yield json({ kind: 'PodList', metadata: { resourceVersion: '1' }, items: [pod('a')] });
        return;
      }
      watches += 1;
      await (watches === 1 ? late : new Promise(() => undefined));
      yield json({ type: 'ADDED', object: pod('b', { resourceVersion: '2' }) });
    }
    const transport = { send: () => Promise.reject(refused), stream };
    const { reflector, changes } = start(apiWith(), { transport });
    await until(() => watches === 1);
    reflector.relist('test');
    deliver();
    await until(() => watches === 2);
    expect(names(reflector)).toEqual(['a']);
    expect(changes).toEqual([['a'], ['a']]);
  });
});

describe('stopping', () => {
  test('ends run, and only that does', async () => {
    const api = apiWith('a');
    const { done, clock, stop } = await startWatching(api);
    stop.abort();
    await done;
    expect(api.watching).toBe(0);
    expect(clock.sleeping).toEqual([]);
  });

  test('ends a wait between attempts', async () => {
    const api = apiWith('a');
    api.fail('list', refused);
    const { done, clock, stop } = start(api);
    await pause(clock);
    stop.abort();
    await done;
  });

  test('whenSynced rejects with the reason', async () => {
    const api = apiWith('a');
    api.fail('list', refused);
    const { reflector } = start(api);
    const waiting = reflector.whenSynced(AbortSignal.abort(new Error('enough')));
    await expect(waiting).rejects.toThrow('enough');
  });
});
