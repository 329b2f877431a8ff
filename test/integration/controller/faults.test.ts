import { afterEach, expect, test } from 'vitest';
import { startSandbox, type Sandbox } from '../../sandbox/server.ts';
import { builtForFile, RunningController, until } from '../built.ts';
import { conditionOf, podCount, policy, fillCluster } from './environment.ts';

const built = builtForFile();
let sandbox: Sandbox;
const running: RunningController[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((controller) => controller.stop()));
  await sandbox.stop();
});

/** Two users, so that the server's log distinguishes two replicas. */
async function open(count: number): Promise<void> {
  const users = ['first', 'second'].map((name) => ({ name, token: `token-${name}`, allow: () => true }));
  sandbox = await startSandbox({ users });
  fillCluster(sandbox, count);
}

function start(user: 'first' | 'second', ...args: string[]): RunningController {
  const controller = new RunningController(built, sandbox.kubeconfigOf(user), args);
  running.push(controller);
  return controller;
}

const deletesOf = (user: string): number =>
  sandbox.requests.filter((one) => one.user === user && one.method === 'DELETE').length;
/** The number of deletes of a stopped process, once all sent ones have arrived. */
async function arrivedOf(user: string): Promise<number> {
  for (let before = -1; ;) {
    const now = deletesOf(user);
    if (now === before) return now;
    before = now;
    await pause(500);
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('a leader that is paused beyond its lease and resumed deletes nothing more, and exits', async () => {
  await open(2_000);
  sandbox.store.apply(policy('Enforce'));
  const lease = [
    // A process that stalls for as long as the renew deadline, as on a busy machine, would rightly end.
    '--leader-elect-lease-duration=12s',
    '--leader-elect-renew-deadline=8s',
    '--leader-elect-retry-period=500ms',
  ];
  const first = start('first', ...lease);
  await until('the first works', () => deletesOf('first') > 10);
  first.kill('SIGSTOP');
  const sent = await arrivedOf('first');
  start('second', ...lease);
  await until('the second works', () => deletesOf('second') > 10);
  const left = podCount(sandbox);
  first.kill('SIGCONT');
  expect(await first.ended()).not.toBe(0);
  // At most the request that it was about to send.
  expect(deletesOf('first')).toBeLessThanOrEqual(sent + 1);
  await until('the second continues', () => podCount(sandbox) < left);
});

test('half of the nodes vanish: their pods stay, over a restart too, the condition names the reason, and the circuit breaker closes when they are back', async () => {
  await open(0);
  const names = Array.from({ length: 40 }, (_, i) => `n${i}`);
  const apply = (name: string): void => {
    sandbox.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  };
  for (const name of names) {
    apply(name);
    sandbox.store.apply({
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: `on-${name}`, namespace: 'default' } },
      spec: { nodeName: name, containers: [{ name: 'c', image: 'i' }] },
      status: { phase: 'Running' },
    });
  }
  sandbox.store.apply(policy('Enforce', { orphaned: { quarantine: '1s' } }));
  const controller = start('first');
  await until('a pass is in the status', () => conditionOf(sandbox, 'Degraded') === 'False AsPlanned');
  for (const name of names.slice(20)) sandbox.store.delete('Node', name);
  await until('the circuit breaker is open', () => conditionOf(sandbox, 'Degraded') === 'True Tripped');
  // The quarantine is a second, and so is the period.
  await controller.passes('podgc', 3);
  expect(await controller.sample('dustpan_kept_objects{unit="podgc",reason="Tripped"}')).toBe(20);
  expect(podCount(sandbox)).toBe(40);

  // The next controller has never seen these nodes, and no pod proves that they existed.
  await controller.stop();
  const next = start('second');
  await next.passes('podgc', 5);
  expect(await next.sample('dustpan_kept_objects{unit="podgc",reason="Tripped"}')).toBe(20);
  expect(podCount(sandbox)).toBe(40);
  for (const name of names.slice(20)) apply(name);
  await until('the circuit breaker is closed', () => conditionOf(sandbox, 'Degraded') === 'False AsPlanned');

  sandbox.store.delete('Node', 'n39');
  await until('one orphan is deleted', () => podCount(sandbox) === 39);
  expect(sandbox.store.get('Pod', 'on-n39')).toBeUndefined();
  expect(sandbox.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
});

test('an API server that fails every request for a while: only due pods are deleted, and in the end all of them', async () => {
  await open(600);
  sandbox.store.apply({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'runs', namespace: 'default' } },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
    status: { phase: 'Running' },
  });
  sandbox.store.apply(policy('Enforce'));
  const controller = start('first');
  await until('the pass has begun', () => deletesOf('first') > 5);
  sandbox.faults.next(() => true, { kind: 'status', status: 500 }, 60);
  sandbox.faults.closeWatches();
  await until('it was hit', () => sandbox.faults.pending < 40);
  sandbox.faults.clear();
  await until('all due pods are deleted', () => podCount(sandbox) === 1);
  expect(controller.messages).toContain('pass failed');
  expect(sandbox.store.get('Pod', 'runs')).toBeDefined();
  expect(controller.isRunning).toBe(true);
});
