import { describe, expect, onTestFinished, test } from 'vitest';
import { Reflector } from '../../../../src/kube/cache/reflector.ts';
import { jsonResource } from '../../../../src/kube/cache/resources.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { FakeApi } from '../../../fakes/api.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { ManualClock, until } from '../../../fakes/manual-clock.ts';
import { apiWith, names, startWatching, stateOf } from './reflector.bed.ts';

describe('a kind that may be missing', () => {
  const resource = jsonResource({ name: 'gcpolicies', path: '/apis/gc.dustpan.dev/v1alpha1/gcpolicies' });
  const notFound = new ApiError('404 page not found', { status: 404 });

  test('is empty and not synced, until it is there', async () => {
    const api = new FakeApi();
    const clock = new ManualClock();
    const reflector = new Reflector({ transport: api, clock, log: silentLogger, random: () => 0, resource });
    const stop = new AbortController();
    onTestFinished(() => {
      stop.abort();
    });
    void reflector.run(stop.signal);
    await until(() => reflector.state === 'missing');
    expect(stateOf(reflector)).toMatchObject({
      synced: false,
      lastError: expect.stringContaining('404 page not found') as string,
    });
    await api.server.registry.install('crds');
    const policy = {
      apiVersion: 'gc.dustpan.dev/v1alpha1',
      kind: 'GCPolicy',
      metadata: { name: 'p', uid: 'u' },
    };
    api.objects.apply({ ...policy, spec: { mode: 'DryRun' } });
    clock.advance(800);
    await until(() => reflector.synced);
    expect(reflector.items.get('u')).toMatchObject({ name: 'p', object: { spec: { mode: 'DryRun' } } });

    await until(() => api.watching === 1);
    clock.advance(1000);
    api.fail('watch', notFound);
    api.endWatches();
    await until(() => reflector.state === 'missing');
    expect(stateOf(reflector)).toMatchObject({ synced: false, count: 0 });
  });

  test('404 of a built-in kind is a fault: its objects stay', async () => {
    const api = apiWith('a');
    const { reflector, clock } = await startWatching(api);
    api.fail('watch', notFound);
    clock.advance(1000);
    api.endWatches();
    await until(() => reflector.state === 'failing');
    expect(stateOf(reflector)).toMatchObject({ synced: true });
    expect(names(reflector)).toEqual(['a']);
  });
});
