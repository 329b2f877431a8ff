import { expect, test as sequential } from 'vitest';
import { until } from '../built.ts';
import { ControllerEnvironment, podOn, policy } from './environment.ts';

// They wait for passes and back-offs, each in an environment of its own.
const test = sequential.concurrent;

test('half of the nodes vanish: their pods stay, over a restart too, the condition names the reason, and the circuit breaker closes when they are back', async () => {
  await using bed = await ControllerEnvironment.open();
  const { store, requests } = bed.api;
  const apply = (name: string) => store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  const names = Array.from({ length: 40 }, (_, i) => `n${i}`);
  for (const name of names) {
    apply(name);
    store.apply(podOn(name, `on-${name}`, 'Running'));
  }
  store.apply(policy('Enforce', { orphaned: { quarantine: '1s' } }));
  const controller = bed.start();
  await until('a pass is in the status', () => bed.condition('Degraded') === 'False AsPlanned');
  for (const name of names.slice(20)) store.delete('Node', name);
  await until('the circuit breaker is open', () => bed.condition('Degraded') === 'True Tripped');
  // The quarantine is a second, and so is the period.
  await controller.passes('podgc', 1);
  expect(await controller.sample('dustpan_kept_objects{unit="podgc",reason="Tripped"}')).toBe(20);
  expect(bed.podCount).toBe(40);

  // The next controller has never seen these nodes, and no pod proves that they existed.
  await controller.stop();
  const next = bed.start();
  await next.passes('podgc', 2);
  expect(await next.sample('dustpan_kept_objects{unit="podgc",reason="Tripped"}')).toBe(20);
  expect(bed.podCount).toBe(40);
  for (const name of names.slice(20)) apply(name);
  await until('the circuit breaker is closed', () => bed.condition('Degraded') === 'False AsPlanned');

  store.delete('Node', 'n39');
  await until('one orphan is deleted', () => bed.podCount === 39);
  expect(store.get('Pod', 'on-n39')).toBeUndefined();
  expect(requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
});

test('an API server that fails every request for a while: only due pods are deleted, soon all but those whose deletion failed', async () => {
  await using bed = await ControllerEnvironment.open({ pods: 300 });
  const { faults, store } = bed.api;
  store.apply(podOn('node-1', 'runs', 'Running'));
  store.apply(policy('Enforce'));
  const controller = bed.start();
  await until('the pass has begun', () => bed.writes.length > 5);
  const failures = 60;
  faults.next(() => true, { kind: 'status', status: 500 }, failures);
  faults.closeWatches();
  await until('it was hit', () => faults.pending < failures - 20);
  faults.clear();
  // Those whose deletion failed wait 20 s (test/unit/gc/failures.test.ts).
  await until('the others are deleted', () => bed.podCount <= failures + 1);
  await until('the pass has failed', () => controller.messages.includes('pass failed'));
  expect(store.get('Pod', 'runs')).toBeDefined();
  expect(controller.isRunning).toBe(true);
});
