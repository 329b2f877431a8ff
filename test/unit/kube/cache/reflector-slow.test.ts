import { expect, test } from 'vitest';
import type { KubeRequest, KubeTransport } from '../../../../src/kube/http/transport.ts';
import { ManualClock, until } from '../../../fakes/manual-clock.ts';
import type { FakeApi } from '../../../fakes/api.ts';
import { apiWith, names, pod, start } from './start-reflector.ts';

/** The same server, but its lists arrive in three pieces, one every `everyMs`. */
function trickling(api: FakeApi, clock: ManualClock, everyMs: number): KubeTransport {
  return {
    send: (request, signal) => api.send(request, signal),
    stream: (request, signal) =>
      request.query?.['watch'] === 'true' ? api.stream(request, signal) : pieces(request, signal),
  };

  async function* pieces(request: KubeRequest, signal: AbortSignal): AsyncGenerator<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of api.stream(request, signal)) chunks.push(chunk);
    const all = Buffer.concat(chunks);
    const third = Math.ceil(all.length / 3);
    for (const at of [0, third, 2 * third]) {
      await clock.sleep(everyMs, signal);
      signal.throwIfAborted();
      yield all.subarray(at, at + third);
    }
  }
}

test('aborts a page that is incomplete after 60 s', async () => {
  const [api, clock] = [apiWith('a', 'b'), new ManualClock()];
  const { reflector } = start(api, { transport: trickling(api, clock, 25_000), clock });
  for (let i = 0; i < 2; i += 1) {
    await until(() => clock.sleeping.includes(25_000));
    clock.advance(25_000);
  }
  await until(() => clock.sleeping.includes(25_000));
  clock.advance(10_000);
  await until(() => reflector.state === 'failing');
  expect(reflector.lastError).toBe('no page of pods within 60 s');
  expect(reflector.items.size).toBe(0);
});

test('keeps the old view, not synced, while each page of a list takes 30 s', async () => {
  const [api, clock] = [apiWith('a', 'c', 'd'), new ManualClock()];
  const { reflector } = start(api, { transport: trickling(api, clock, 10_000), clock });
  const passList = async (known: readonly string[]): Promise<void> => {
    for (let i = 0; i < 6; i += 1) {
      await until(() => clock.sleeping.includes(10_000));
      expect([reflector.synced, names(reflector)]).toEqual([false, known]);
      clock.advance(10_000);
    }
  };
  await passList([]);
  await until(() => api.watching === 1);
  api.endWatches();
  api.objects.delete('Pod', 'a', 'a');
  api.objects.apply(pod('b'));
  reflector.relist('test');
  await passList(['a', 'c', 'd']);
  await until(() => reflector.synced);
  expect(names(reflector)).toEqual(['b', 'c', 'd']);
});
