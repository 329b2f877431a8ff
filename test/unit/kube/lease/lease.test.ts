import { describe, expect, test } from 'vitest';
import { claimed, hasHolder, newLease, observe, type Lease } from '../../../../src/kube/lease/record.ts';
import { candidate, LeaseServer, led, pass } from '../../../fakes/lease-candidate.ts';
import { refusal } from '../../../fakes/transport.ts';
import { SettlingClock, settled } from '../../../fakes/settling-clock.ts';

test('a leader renews every retry period with one PUT and keeps acquireTime and transitions', async () => {
  const { server, clock } = await led();
  const before = server.requests.length;
  await pass(clock, 6_000);
  expect(server.requests.slice(before).map((r) => r.method)).toEqual(['PUT', 'PUT', 'PUT']);
  expect(server.requests.at(-1)).toMatchObject({ retries: 0, timeoutMs: 5_000 });
  expect(server.spec).toMatchObject({
    leaseTransitions: 0,
    acquireTime: '2026-01-15T12:00:00.000000Z',
    renewTime: '2026-01-15T12:00:06.000000Z',
  });
});

test('a crashed leader is replaced one term after the last observed change of the lease, by the local clock alone', async () => {
  const { server, clock } = await led();
  // A renewTime of next year must not matter: the clocks of two nodes may differ.
  const renewTime = '2027-01-01T00:00:00.000000Z';
  server.overwrite({ holderIdentity: 'dead', leaseDurationSeconds: 15, renewTime, leaseTransitions: 4 });
  const second = candidate('b', server, { clock });
  await pass(clock, 14_500);
  expect(second.elector.isLeader).toBe(false);
  await pass(clock, 2_000);
  expect(second.elector.isLeader).toBe(true);
  expect(server.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 5 });
});

describe('a lease whose holder names its pod', () => {
  const annotations = { 'gc.dustpan.dev/holder-pod': 'ns/dustpan-1/u-1' };
  const held = { holderIdentity: 'dustpan-1_x', leaseDurationSeconds: 60 };

  test.each<{
    name: string;
    pod?: readonly [string, string];
    fault?: Error;
    known?: object;
    holder?: string;
    leads: boolean;
  }>([
    { name: 'the pod is gone', leads: true },
    { name: 'another pod has its name', pod: ['dustpan-1', 'u-2'], leads: true },
    { name: 'the pod exists', pod: ['dustpan-1', 'u-1'], leads: false },
    { name: 'the pod may not be read', fault: refusal(403, 'Forbidden'), leads: false },
    { name: 'the pod is not known', known: {}, leads: false },
    { name: 'the pod is that of an earlier holder', holder: 'other_x', leads: false },
  ])('is taken after two periods without a renewal, if $name: $leads', async (row) => {
    const server = new LeaseServer();
    const clock = new SettlingClock();
    const holderIdentity = row.holder ?? held.holderIdentity;
    server.overwrite({ ...held, holderIdentity }, (row.known ?? annotations) as Record<string, string>);
    if (row.pod !== undefined) server.applyPod(...row.pod);
    const { elector, connection } = candidate('b', server, { clock });
    connection.hits = ({ path }) => path.includes('/pods/');
    connection.fault = row.fault;
    await pass(clock, 3_900);
    expect(elector.isLeader).toBe(false);
    await pass(clock, 1_000);
    expect(elector.isLeader).toBe(row.leads);
  });

  test('is not taken while somebody renews it', async () => {
    const server = new LeaseServer();
    const clock = new SettlingClock();
    const { elector } = candidate('b', server, { clock });
    for (let renewal = 0; renewal < 5; renewal += 1) {
      server.overwrite({ ...held, leaseTransitions: renewal }, annotations);
      await pass(clock, 2_000);
    }
    expect(elector.isLeader).toBe(false);
  });

  test('the next holder replaces the pod, also by none', async () => {
    const server = new LeaseServer();
    const clock = new SettlingClock();
    server.overwrite({ ...held, holderIdentity: '' }, annotations);
    const first = candidate('b', server, { clock, pod: { namespace: 'ns', name: 'dustpan-2', uid: 'u-2' } });
    await pass(clock, 100);
    expect(server.lease?.metadata.annotations).toEqual({ 'gc.dustpan.dev/holder-pod': 'ns/dustpan-2/u-2' });
    first.stop();
    await pass(clock, 1_000);
    candidate('c', server, { clock });
    await pass(clock, 5_000);
    expect(server.holder).toBe('c');
    expect(server.lease?.metadata.annotations ?? {}).toEqual({});
  });
});

test.each<{ name: string; spec: Parameters<LeaseServer['overwrite']>[0] | undefined; expected: boolean }>([
  { name: 'creates the lease', spec: undefined, expected: false },
  { name: 'gets a released lease', spec: { holderIdentity: '', leaseTransitions: 0 }, expected: true },
  { name: 'gets an expired lease', spec: { holderIdentity: 'x', leaseDurationSeconds: 1 }, expected: true },
])('a leader that $name has a predecessor: $expected, after renewals too', async ({ spec, expected }) => {
  const server = new LeaseServer();
  const clock = new SettlingClock();
  if (spec !== undefined) server.overwrite(spec);
  const { elector } = candidate('a', server, { clock });
  expect(elector.hasPredecessor).toBe(false);
  await pass(clock, 4_500);
  expect(elector.isLeader).toBe(true);
  expect(elector.hasPredecessor).toBe(expected);
  await pass(clock, 10_000);
  expect(elector.hasPredecessor).toBe(expected);
});

test('a stopped leader renews until its work has ended, then releases the lease at once', async () => {
  const { server, clock, leader } = await led({ obedient: false });
  leader.stop();
  await pass(clock, 30_000);
  expect(leader.work()?.aborted).toBe(true);
  expect(server.holder).toBe('a');
  expect(leader.elector.holdsLease()).toBe(true);
  leader.finish();
  expect(await leader.outcome).toBe('released');
  expect(server.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  expect(leader.statuses).toEqual([true, false]);
  const [reason, regarding] = ['LeaderElection', { kind: 'Lease', uid: expect.any(String) as string }];
  expect(leader.events).toMatchObject([
    { reason, regarding, note: 'a became leader' },
    { reason, regarding, note: 'a stopped leading' },
  ]);
  const second = candidate('b', server, { clock });
  await settled();
  expect(second.elector.isLeader).toBe(true);
  expect(server.spec.leaseTransitions).toBe(1);
});

test('a candidate that is stopped before it leads does not change the lease', async () => {
  const { server, clock } = await led();
  const second = candidate('b', server, { clock });
  await settled();
  second.stop();
  expect(await second.outcome).toBe('released');
  expect(server.holder).toBe('a');
  expect(second.work()).toBeUndefined();
});

test('a leader that releases the lease does not hold it any more', async () => {
  const { leader } = await led();
  let respond = (): void => undefined;
  leader.connection.answersAfter = new Promise((resolve) => (respond = resolve));
  leader.stop();
  await settled();
  expect(leader.elector.isLeader).toBe(true);
  expect(leader.elector.holdsLease()).toBe(false);
  respond();
  expect(await leader.outcome).toBe('released');
});

test('a lease that another process holds by now is not released', async () => {
  const { server, leader } = await led();
  leader.finish();
  server.overwrite({ ...server.spec, holderIdentity: 'thief' });
  expect(await leader.outcome).toBe('released');
  expect(server.holder).toBe('thief');
});

test('a leader whose work fails releases the lease and throws the failure', async () => {
  const { server, leader } = await led();
  leader.finish(new Error('boom'));
  await expect(leader.outcome).rejects.toThrow('boom');
  expect(server.holder).toBe('');
});

test('one of two candidates that create the lease at once gets a conflict and waits', async () => {
  const server = new LeaseServer();
  const clock = new SettlingClock();
  const both = [candidate('a', server, { clock }), candidate('b', server, { clock })];
  await settled();
  expect(both.map((c) => c.elector.isLeader)).toEqual([true, false]);
  expect(both.flatMap((c) => c.log.lines.filter((l) => l.level === 'warn'))).toEqual([]);
});

test('the release stops after the renew deadline', async () => {
  const { clock, leader } = await led();
  leader.connection.fault = 'hang';
  leader.stop();
  await pass(clock, 10_000);
  expect(await leader.outcome).toBe('released');
});

test('the release stops at once without the right to it', async () => {
  const { server, clock, leader } = await led();
  leader.connection.fault = refusal(403, 'leases is denied');
  leader.stop();
  await settled();
  expect(await Promise.race([leader.outcome, clock.advance(500).then(() => 'in progress')])).toBe('released');
  expect(server.holder).toBe('a');
});

test('a conflicting release is repeated', async () => {
  const { server, clock, leader } = await led();
  let conflicts = 1;
  leader.connection.fault = refusal(409, 'Conflict');
  leader.connection.hits = (request) => request.method === 'PUT' && conflicts-- > 0;
  leader.stop();
  await pass(clock, 500);
  expect(await leader.outcome).toBe('released');
  expect(server.holder).toBe('');
});

describe('a leader', () => {
  test.each([
    { name: 'refused connections', fault: 'down' },
    { name: 'requests without a response', fault: 'hang' },
  ] as const)('$name until the renew deadline lose the lease, which is not released', async ({ fault }) => {
    const { server, clock, leader } = await led();
    leader.connection.fault = fault;
    await pass(clock, 9_500);
    expect(leader.elector.holdsLease()).toBe(true);
    expect(leader.work()?.aborted).toBe(false);
    await pass(clock, 500);
    expect(leader.elector.holdsLease()).toBe(false);
    expect(leader.work()?.aborted).toBe(true);
    expect(await leader.outcome).toBe('lost');
    expect(leader.elector.isLeader).toBe(false);
    expect(server.holder).toBe('a');
  });

  test('a renewal whose response was lost is detected by the slow path', async () => {
    const { server, clock, leader } = await led();
    leader.connection.fault = 'mute';
    leader.connection.hits = (request) => request.method === 'PUT';
    await pass(clock, 2_000);
    leader.connection.fault = undefined;
    await pass(clock, 2_000);
    expect(leader.slowPaths()).toBe(1);
    expect(server.spec).toMatchObject({ holderIdentity: 'a', leaseTransitions: 0 });
    expect(leader.elector.holdsLease()).toBe(true);
  });

  test('a lease that another process held and released is lost too', async () => {
    const { server, clock, leader } = await led();
    server.overwrite({ ...server.spec, holderIdentity: '' });
    await pass(clock, 2_000);
    expect(await leader.outcome).toBe('lost');
  });

  test('after a pause longer than the deadline the first check fails, before any timer runs', async () => {
    const { clock, leader } = await led();
    const paused = clock.advance(10_000);
    expect(leader.elector.isLeader).toBe(true);
    expect(leader.elector.holdsLease()).toBe(false);
    await paused;
    expect(await leader.outcome).toBe('lost');
  });

  test('work that ends after the deadline ends with a lost lease', async () => {
    const { clock, leader } = await led();
    const paused = clock.advance(10_000);
    leader.finish();
    await paused;
    expect(await leader.outcome).toBe('lost');
  });

  test('the deadline begins when the renewal is sent, not with its response', async () => {
    const { clock, leader } = await led();
    let respond = (): void => undefined;
    leader.connection.answersAfter = new Promise((resolve) => (respond = resolve));
    await pass(clock, 5_000);
    respond();
    leader.connection.answersAfter = undefined;
    leader.connection.fault = 'down';
    await pass(clock, 6_500);
    expect(leader.elector.holdsLease()).toBe(true);
    await pass(clock, 500);
    expect(leader.elector.holdsLease()).toBe(false);
  });

  test('a leader that does not stop after its loss is unhealthy, so that the kubelet restarts it', async () => {
    const { clock, leader } = await led({ obedient: false });
    leader.connection.fault = 'down';
    await pass(clock, 35_000);
    expect(leader.elector.health()).toBeUndefined();
    await pass(clock, 500);
    expect(leader.elector.health()).toMatch(/not renewed for 36 s|not renewed for 35 s/);
    leader.finish();
    expect(await leader.outcome).toBe('lost');
    expect(leader.elector.health()).toBeUndefined();
  });
});

const place = { namespace: 'ns', name: 'dustpan' };
const held = (spec: Lease['spec'], resourceVersion = '1'): Lease => ({
  ...newLease(place),
  metadata: { ...place, resourceVersion },
  ...(spec && { spec: { holderIdentity: 'x', ...spec } }),
});

describe('a term', () => {
  test.each([
    { name: 'ends by its duration', spec: { leaseDurationSeconds: 20 }, endMs: 21_000 },
    { name: 'has our duration if it has none', spec: {}, endMs: 16_000 },
    { name: 'is over without a holder', spec: { holderIdentity: '', leaseDurationSeconds: 20 }, endMs: 0 },
  ])('$name', ({ spec, endMs }) => {
    const observation = { lease: held(spec), changedAtMs: 1_000 };
    expect([endMs - 1, endMs].map((nowMs) => hasHolder(observation, 15_000, nowMs))).toEqual([
      endMs > 0,
      false,
    ]);
  });

  test('is claimed for whole seconds, not fewer than its duration', () => {
    const claim = { identity: 'a', pod: undefined, leaseDurationMs: 15_001, now: new Date() };
    expect(claimed(newLease(place), claim).spec?.leaseDurationSeconds).toBe(16);
  });

  test('is not extended by a change of the metadata', () => {
    const known = { lease: held({ leaseTransitions: 1 }), changedAtMs: 1_000 };
    expect(observe(known, held({ leaseTransitions: 1 }, '2'), 5_000).changedAtMs).toBe(1_000);
    expect(observe(known, held({ leaseTransitions: 2 }, '2'), 5_000).changedAtMs).toBe(5_000);
  });
});
