import { afterEach, expect, test } from 'vitest';
import type { Refusal, Throttling } from '../../sandbox/api/faults.ts';
import { startSandbox, type Sandbox, type SandboxRequest } from '../../sandbox/server.ts';
import { builtForFile, RunningController, until, type LogLine } from '../built.ts';
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
  '--leader-elect-lease-duration=12s',
  '--leader-elect-renew-deadline=8s',
  '--leader-elect-retry-period=500ms',
];
const holder = (): unknown =>
  (
    sandbox.store.get('Lease', 'dustpan-controller', 'dustpan-system')?.['spec'] as
      Record<string, unknown> | undefined
  )?.['holderIdentity'];
const deletions = (): readonly SandboxRequest[] =>
  sandbox.requests.filter(({ method, path }) => method === 'DELETE' && path.includes('/pods/'));
const deletes = (): number => deletions().length;

/** The requests of a pass in flight at most (docs/reliability.md). */
const inFlight = 32;

/** Holds the first deletions of a pass, as many as it sends without a response; the returned function releases them. */
function holdDeletions(then?: Refusal | Throttling): () => void {
  let release: () => void = () => undefined;
  const until = new Promise<void>((resolve) => (release = resolve));
  sandbox.faults.next(
    ({ method }) => method === 'DELETE',
    { kind: 'hold', until, ...(then && { then }) },
    inFlight,
  );
  return release;
}

test('DryRun sends no request that writes to a pod; Enforce then collects', async () => {
  await open(30);
  sandbox.store.apply(policy('DryRun'));
  const controller = start();
  await until('a pass is in the status', () => conditionOf(sandbox, 'Enforcing') === 'False ModeDryRun');
  await controller.passes('podgc', 2);
  expect(await controller.sample('dustpan_due_objects{unit="podgc",reason="Expired",mode="DryRun"}')).toBe(
    30,
  );
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

test('SIGTERM during a pass: the 32 requests in flight end, no other begins, the lease is released, exit 0', async () => {
  const pods = 300;
  await open(pods);
  const release = holdDeletions();
  sandbox.store.apply(policy('Enforce'));
  const controller = start();
  await until('the pass waits for responses', () => deletes() === inFlight);
  const ended = controller.stop();
  await until('it stops', () => controller.messages.includes('stopping controller'));
  expect(holder()).not.toBe('');
  release();
  expect(await ended).toBe(0);
  expect(deletes()).toBe(inFlight);
  expect(podCount(sandbox)).toBe(pods - inFlight);
  expect(controller.lines.filter(({ msg }) => msg === 'deleted pod')).toHaveLength(inFlight);
  expect(holder()).toBe('');
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

test.each([
  {
    name: 'becomes DryRun',
    change: () => sandbox.store.apply(policy('DryRun')),
    seen: 'MODIFIED',
    left: 'dustpan_due_objects{unit="podgc",reason="Expired",mode="DryRun"}',
  },
  {
    name: 'is deleted',
    change: () => {
      sandbox.store.delete('GCPolicy', 'default');
    },
    seen: 'DELETED',
    left: 'dustpan_kept_objects{unit="podgc",reason="NoPolicy"}',
  },
])(
  'a policy that $name during a pass stops it: the 32 requests in flight end, and no other begins',
  async ({ change, seen, left }) => {
    const pods = 300;
    await open(pods);
    const release = holdDeletions();
    sandbox.store.apply(policy('Enforce'));
    const controller = start();
    await until('the pass waits for responses', () => deletes() === inFlight);
    change();
    const isSeen = ({ msg, change: how }: LogLine): boolean => msg === 'policies changed' && how === seen;
    await until('the controller knows', () => controller.lines.some(isSeen));
    release();
    await until('the pass has ended', () => controller.messages.includes('pass ended early'));
    // A pass that plans with the change.
    await expect.poll(() => controller.page('metrics', '/metrics')).toContain(`${left} ${pods - inFlight}\n`);
    expect(deletes()).toBe(inFlight);
    expect(podCount(sandbox)).toBe(pods - inFlight);
  },
);

test('responses 429 to all requests in flight: no other begins before the Retry-After has passed; then every pod is deleted', async () => {
  const [pods, retryAfterSeconds] = [100, 2];
  await open(pods);
  const release = holdDeletions({ kind: 'throttle', retryAfterSeconds });
  sandbox.store.apply(policy('Enforce'));
  start();
  await until('the pass waits for responses', () => deletes() === inFlight);
  const refusedMs = performance.now();
  release();
  await until('all collected', () => podCount(sandbox) === 0);
  const later = deletions().slice(inFlight);
  expect(later).toHaveLength(pods);
  const waitedMs = Math.min(...later.map(({ atMs }) => atMs)) - refusedMs;
  expect(waitedMs).toBeGreaterThanOrEqual(1_000 * retryAfterSeconds);
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
