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

async function open(count: number): Promise<void> {
  sandbox = await startSandbox();
  fillCluster(sandbox, count);
}

function start(...args: string[]): RunningController {
  const controller = new RunningController(built, sandbox.kubeconfigFile, args);
  running.push(controller);
  return controller;
}

const quickLease = [
  '--leader-elect-lease-duration=6s',
  '--leader-elect-renew-deadline=4s',
  '--leader-elect-retry-period=500ms',
];
const holder = (): unknown =>
  (
    sandbox.store.get('Lease', 'dustpan-controller', 'dustpan-system')?.['spec'] as
      Record<string, unknown> | undefined
  )?.['holderIdentity'];
const deletes = (): number =>
  sandbox.requests.filter(({ method, path }) => method === 'DELETE' && path.includes('/pods/')).length;

test('DryRun sends no request that writes to a pod; Enforce then collects', async () => {
  await open(30);
  sandbox.store.apply(policy('DryRun'));
  start();
  await until('a pass is in the status', () => conditionOf(sandbox, 'Enforcing') === 'False ModeDryRun');
  await new Promise((resolve) => setTimeout(resolve, 2_500));
  const writes = sandbox.requests.filter(({ method, path }) => method !== 'GET' && path.includes('/pods'));
  expect(writes).toEqual([]);
  sandbox.store.apply(policy('Enforce'));
  await until('all collected', () => podCount(sandbox) === 0);
  await until('it is reported', () => conditionOf(sandbox, 'Enforcing') === 'True ModeEnforce');
});

test('SIGTERM: exit 0, the lease is released, the next replica leads at once', async () => {
  await open(0);
  sandbox.store.apply(policy('Enforce'));
  // Who had to wait for the lease to run out would come too late.
  const long = ['--leader-elect-lease-duration=150s', '--leader-elect-renew-deadline=100s'];
  const first = start(...long);
  await until('leads', () => typeof holder() === 'string' && holder() !== '');
  expect(await first.stop()).toBe(0);
  expect(holder()).toBe('');
  start(...long);
  await until('the next one leads', () => holder() !== '');
});

test('another replica follows a killed leader after the lease has expired, and continues its work', async () => {
  await open(3);
  sandbox.store.apply(policy('Enforce'));
  const first = start(...quickLease);
  await until('collected', () => podCount(sandbox) === 0);
  const old = holder();
  start(...quickLease);
  first.kill('SIGKILL');
  fillCluster(sandbox, 3);
  await until('another leads', () => holder() !== old && holder() !== '');
  await until('collected again', () => podCount(sandbox) === 0);
});

test('a policy that becomes DryRun during a pass stops it', async () => {
  await open(1_500);
  sandbox.faults.next(({ method }) => method === 'DELETE', { kind: 'delay', ms: 20 }, 1_500);
  sandbox.store.apply(policy('Enforce'));
  start('--max-delete-qps=200');
  await until('the pass has begun', () => deletes() > 20);
  sandbox.store.apply(policy('DryRun'));
  const at = podCount(sandbox);
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(podCount(sandbox)).toBeGreaterThan(at - 150);
  const left = podCount(sandbox);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(podCount(sandbox)).toBe(left);
});

test('a policy that is deleted during a pass stops it', async () => {
  await open(1_500);
  sandbox.store.apply(policy('Enforce'));
  start('--max-delete-qps=200');
  await until('the pass has begun', () => deletes() > 20);
  sandbox.store.delete('GCPolicy', 'default');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const left = podCount(sandbox);
  expect(left).toBeGreaterThan(1_000);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(podCount(sandbox)).toBe(left);
});

test('waits for the end of many 429 responses with Retry-After; every pod is deleted in the end', async () => {
  await open(100);
  sandbox.faults.next(
    ({ method }) => method === 'DELETE',
    { kind: 'status', status: 429, retryAfterSeconds: 1 },
    20,
  );
  sandbox.store.apply(policy('Enforce'));
  start();
  await until('all collected', () => podCount(sandbox) === 0);
});

test('reads a label that a new policy selects by before any decision', async () => {
  await open(5);
  const labelled = sandbox.store.get('Pod', 'p0003');
  if (labelled === undefined) throw new Error('no such pod');
  sandbox.store.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p0003', namespace: 'default', labels: { app: 'x' } },
    spec: labelled['spec'],
    status: { phase: 'Succeeded' },
  });
  sandbox.store.apply(policy('DryRun'));
  start();
  await until('a pass is in the status', () => conditionOf(sandbox, 'Enforcing') === 'False ModeDryRun');
  const selecting = { podSelector: { matchLabels: { app: 'x' } }, terminated: { ttlAfterFinished: '0s' } };
  sandbox.store.apply(policy('Enforce', selecting));
  await until('the selected pod is deleted', () => podCount(sandbox) === 4);
  expect(sandbox.store.get('Pod', 'p0003')).toBeUndefined();
});
