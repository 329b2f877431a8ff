import { expect, test } from 'vitest';
import { led, pass } from '../../../fakes/lease-candidate.ts';

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
