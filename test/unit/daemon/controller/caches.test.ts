import { expect, onTestFinished, test } from 'vitest';
import { PolicySet } from '../../../../src/api/policy/policy-set.ts';
import { controllerCaches } from '../../../../src/daemon/controller/caches.ts';
import { FakeApi } from '../../../fakes/api.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { ManualClock, until } from '../../../fakes/manual-clock.ts';

test.each([
  { name: 'is complete', failure: undefined },
  { name: 'has failed', failure: new Error('forbidden') },
])(
  'a pass that waits for the first list of ReplicaSets is woken when it $name, though Jobs are watched already',
  async ({ failure }) => {
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const api = new FakeApi();
    let wakes = 0;
    const caches = controllerCaches({
      transport: api,
      clock: new ManualClock(),
      log: silentLogger,
      random: () => 0,
      policySet: new PolicySet(),
      onReady: () => (wakes += 1),
      onPolicy: () => undefined,
      onEvictionRequests: () => undefined,
      onReports: () => undefined,
    });
    void caches.run(stop.signal);
    await until(() => caches.jobs().synced);
    const before = wakes;
    if (failure !== undefined) api.fail('list', failure);
    await until(() => caches.replicaSets().isStarting === false);
    expect(wakes).toBeGreaterThan(before);
  },
);
