import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import type { Lease } from '../../../src/kube/lease/record.ts';
import { LeaseElector } from '../../../src/kube/lease/lease.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { silentLogger as log } from '../../fakes/logger.ts';
import { startEnvironment } from './environment.ts';
import { soon } from '../project.ts';

/** A stall of the renew deadline, as on a busy machine, would cost the lease. */
const times = { leaseDurationMs: 8_000, renewDeadlineMs: 5_000, retryPeriodMs: 250 };

function candidate(identity: string, lease: { namespace: string; name: string }) {
  const random = Math.random;
  const elector = new LeaseElector({ ...times, transport, clock: systemClock, log, random, lease, identity });
  const stop = new AbortController();
  const outcome = elector.run(async (signal) => {
    await once(signal, 'abort');
  }, stop.signal);
  return { elector, outcome, stop };
}

const { signal } = new AbortController();

const { transport } = await startEnvironment();

const fresh = (): { namespace: string; name: string } => ({
  namespace: 'default',
  name: `lease-${randomUUID().slice(0, 8)}`,
});
const read = async (name: string): Promise<Lease> => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`;
  const { body } = await transport.send({ method: 'GET', path }, signal);
  return JSON.parse(body.toString()) as Lease;
};
const leads = (who: ReturnType<typeof candidate>): Promise<void> =>
  vi.waitFor(() => {
    expect(who.elector.holdsLease()).toBe(true);
  }, soon);

test('one of two candidates leads; when it stops, the other leads at once', async () => {
  const lease = fresh();
  const first = candidate('first', lease);
  await leads(first);
  const second = candidate('second', lease);
  const before = await read(lease.name);
  const held = { holderIdentity: 'first', leaseDurationSeconds: 8, leaseTransitions: 0 };
  expect(before.spec).toMatchObject(held);
  expect(before.spec?.renewTime).toMatch(/\.\d{6}Z$/);
  await vi.waitFor(async () => {
    expect((await read(lease.name)).spec?.renewTime).not.toBe(before.spec?.renewTime);
  }, soon);
  expect(second.elector.isLeader).toBe(false);
  first.stop.abort();
  expect(await first.outcome).toBe('released');
  const releasedAtMs = performance.now();
  await leads(second);
  expect(performance.now() - releasedAtMs).toBeLessThan(times.leaseDurationMs);
  expect((await read(lease.name)).spec).toMatchObject({ holderIdentity: 'second', leaseTransitions: 1 });
  second.stop.abort();
  await second.outcome;
  expect((await read(lease.name)).spec?.holderIdentity).toBe('');
});
