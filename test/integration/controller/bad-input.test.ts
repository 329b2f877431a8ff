import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/server.ts';
import { builtForFile, RunningController, until } from '../built.ts';
import { conditionOf, podCount, policy, fillCluster } from './environment.ts';

const built = builtForFile();
let sandbox: Sandbox | undefined;
let controller: RunningController | undefined;

afterEach(async () => {
  await controller?.stop();
  await sandbox?.stop();
  [controller, sandbox] = [undefined, undefined];
});

const everythingBut = (forbidden: (verb: string, resource: string) => boolean): SandboxOptions => ({
  users: [
    {
      name: 'dustpan',
      token: 'dustpan-token',
      allow: (asked) => !(asked.isResource && forbidden(asked.verb, asked.resource)),
    },
  ],
});

async function start(
  options: SandboxOptions,
  args: readonly string[] = [],
): Promise<[Sandbox, RunningController]> {
  sandbox = await startSandbox(options);
  fillCluster(sandbox, 5);
  if (options.crds !== false) sandbox.store.apply(policy('Enforce'));
  const user = options.users?.[0]?.name;
  const kubeconfig = user === undefined ? sandbox.kubeconfigFile : sandbox.kubeconfigOf(user);
  controller = new RunningController(built, kubeconfig, args);
  return [sandbox, controller];
}

/** One line, no stack. */
const oneLine = (stderr: string, message: RegExp): void => {
  expect(stderr).toMatch(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
};

test.each([
  { verb: 'list', resource: 'pods' },
  { verb: 'list', resource: 'nodes' },
  { verb: 'list', resource: 'namespaces' },
  { verb: 'list', resource: 'gcpolicies' },
])(
  'without the right to $verb $resource: exit 1, one line that names both, nothing deleted',
  async (denied) => {
    const [server, running] = await start(
      everythingBut((verb, resource) => verb === denied.verb && resource === denied.resource),
    );
    expect(await running.ended()).toBe(1);
    oneLine(running.stderr, new RegExp(`cannot ${denied.verb} resource "${denied.resource}"`));
    expect(podCount(server)).toBe(5);
  },
);

test('unknown credentials: exit 1, one line', async () => {
  const other = await startSandbox();
  const [server] = [(sandbox = await startSandbox())];
  const file = `${other.kubeconfigFile}.wrong`;
  writeFileSync(file, readFileSync(other.kubeconfigFile, 'utf8').replaceAll(other.url, server.url));
  controller = new RunningController(built, file);
  expect(await controller.ended()).toBe(1);
  oneLine(controller.stderr, /does not accept the credentials/);
  await other.stop();
});

test('an API server that is not reachable at start: exit 1, one line', async () => {
  const server = (sandbox = await startSandbox());
  const file = `${server.kubeconfigFile}.away`;
  writeFileSync(
    file,
    readFileSync(server.kubeconfigFile, 'utf8').replaceAll(server.url, 'http://127.0.0.1:1'),
  );
  controller = new RunningController(built, file);
  expect(await controller.ended()).toBe(1);
  oneLine(controller.stderr, /127\.0\.0\.1:1/);
});

test('without the right to delete pods: one error, Degraded, the pods wait, the process lives', async () => {
  const [server, running] = await start(
    everythingBut((verb, resource) => verb === 'delete' && resource === 'pods'),
  );
  await until('degraded', () => conditionOf(server, 'Degraded') === 'True DeletesFailed');
  expect(running.stdout).toContain('cannot delete resource \\"pods\\"');
  // None is tried again for 20 s, whatever passes follow.
  await running.passes('podgc', 2);
  expect(running.lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  expect(server.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(5);
  expect(podCount(server)).toBe(5);
  expect(running.isRunning).toBe(true);
  expect(running.stdout).not.toContain('    at ');
});

test('without the right to list node reports: logged, and pods are still collected', async () => {
  const [server, running] = await start(
    everythingBut((verb, resource) => verb === 'list' && resource === 'nodegcreports'),
  );
  await until('all collected', () => podCount(server) === 0);
  expect(running.isRunning).toBe(true);
  expect(running.stdout).toContain('cannot list resource \\"nodegcreports\\"');
});

test('waits for missing CRDs and logs it; then it works', async () => {
  const [server, running] = await start({ crds: false });
  await until('it is logged', () =>
    running.messages.includes('kind GCPolicy is not installed, waiting for it'),
  );
  await running.passes('podgc', 2);
  expect(podCount(server)).toBe(5);
  await server.installCrds();
  server.store.apply(policy('Enforce'));
  await until('all collected', () => podCount(server) === 0);
});

test('no policy: logged, nothing deleted', async () => {
  sandbox = await startSandbox();
  fillCluster(sandbox, 5);
  controller = new RunningController(built, sandbox.kubeconfigFile);
  const running = controller;
  await until('it is logged', () => running.messages.includes('no GCPolicy exists, nothing is collected'));
  await running.passes('podgc', 2);
  expect(await running.sample('dustpan_kept_objects{unit="podgc",reason="NoPolicy"}')).toBe(5);
  expect(podCount(sandbox)).toBe(5);
});
