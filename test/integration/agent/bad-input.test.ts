import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startSandbox, type SandboxOptions } from '../../sandbox/server.ts';
import { AgentEnvironment, nodeName, type RunningAgent } from './environment.ts';
import { builtForFile, until } from '../built.ts';

const built = builtForFile();
let bed: AgentEnvironment;

beforeEach(() => {
  bed = new AgentEnvironment(built);
});
afterEach(async () => {
  await bed.stop();
});

function dustpan(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [built.main, 'agent', ...args], {
    env: { PATH: process.env['PATH'], ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

/** One line, no stack. */
const oneLine = (stderr: string, message: RegExp): void => {
  expect(stderr).toMatch(message);
  expect(stderr.trim().split('\n')).toHaveLength(1);
};

describe('bad usage is one line and exit code 2', () => {
  test.each([
    { args: [], message: /agent: --node-name is required: pass it, or set NODE_NAME/ },
    { args: ['--node-name=A_b'], message: /'A_b' is invalid\. Use an object name/ },
    { args: ['--node-nam=a'], message: /unknown option '--node-nam' \(Did you mean --node-name\?\)/ },
    { args: ['--node-name=a', '--leader-elect'], message: /unknown option '--leader-elect'/ },
    { args: ['--node-name=a', '--cri-socket=tcp://1.2.3.4'], message: /Use a socket such as/ },
    { args: ['--node-name=a', '--state-dir=var'], message: /'var' is invalid\. Use an absolute path/ },
    { args: ['--node-name=a', '--container-gc-period=0s'], message: /'0s' is invalid\. The minimum is 1s/ },
    { args: ['--node-name=a', '--kubeconfig=/nowhere'], message: /nowhere/ },
  ])('$args', ({ args, message }) => {
    const { status, stdout, stderr } = dustpan(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    oneLine(stderr, message);
  });

  test('the variable of the downward API replaces the flag', () => {
    const { status, stderr } = dustpan(['--kubeconfig=/nowhere'], { NODE_NAME: 'a' });
    expect(status).toBe(2);
    expect(stderr).not.toContain('--node-name');
  });
});

test('--help lists every flag and the memory flags of Node', () => {
  const { status, stdout } = dustpan(['--help']);
  expect(status).toBe(0);
  for (const text of ['--cri-socket=SOCKET', '--state-dir=DIRECTORY', '--max-semi-space-size=1', 'NODE_NAME'])
    expect(stdout).toContain(text);
});

const everythingBut = (verb: string, resource: string): SandboxOptions => ({
  users: [
    {
      name: 'dustpan',
      token: 'dustpan-token',
      allow: (asked) => !(asked.isResource && asked.verb === verb && asked.resource === resource),
    },
  ],
});

test.each(['pods', 'nodes', 'gcpolicies'])(
  'without the right to list %s: exit 1, one line that names both',
  async (resource) => {
    const api = await bed.startApi(everythingBut('list', resource));
    await bed.startCri();
    const agent = bed.startAgent([], { kubeconfig: api.kubeconfigOf('dustpan') });
    expect(await agent.ended()).toBe(1);
    oneLine(agent.stderr, new RegExp(`cannot list resource "${resource}"`));
  },
);

test('unknown credentials: exit 1, one line', async () => {
  const api = await bed.startApi();
  const other = await startSandbox();
  const kubeconfig = bed.path('kubeconfig');
  writeFileSync(kubeconfig, readFileSync(other.kubeconfigFile, 'utf8').replaceAll(other.url, api.url));
  await other.stop();
  const agent = bed.startAgent([], { kubeconfig });
  expect(await agent.ended()).toBe(1);
  oneLine(agent.stderr, /does not accept the credentials/);
});

test('without the right to write its report: one log line, the passes continue, the process lives', async () => {
  const api = await bed.startApi(everythingBut('patch', 'nodegcreports/status'));
  await bed.startCri();
  const agent = bed.startAgent(['--v=4'], { kubeconfig: api.kubeconfigOf('dustpan') });
  await until('it is logged', () =>
    agent.stdout.includes('cannot patch resource \\"nodegcreports/status\\"'),
  );
  await until('it fails again', () => agent.timesLogged('pass failed again') >= 2);
  await agent.passes('imagegc', 2);
  const warnings = agent.lines.filter(({ level }) => level === 'error' || level === 'warn');
  expect(warnings.map(({ msg, loop }) => ({ msg, loop }))).toEqual([{ msg: 'pass failed', loop: 'report' }]);
  expect(agent.isRunning).toBe(true);
  expect(agent.stdout).not.toContain('    at ');
});

const readiness = (agent: RunningAgent): Promise<string> => agent.page('health', '/readyz?verbose');

test('waits for an unreachable API server', async () => {
  const api = await bed.startApi();
  await bed.startCri();
  const kubeconfig = bed.path('kubeconfig');
  writeFileSync(
    kubeconfig,
    readFileSync(api.kubeconfigFile, 'utf8').replaceAll(api.url, 'http://127.0.0.1:1'),
  );
  const agent = bed.startAgent([], { kubeconfig });
  await until('it is logged', () => agent.timesLogged('API server does not answer, waiting for it') === 1);
  expect(await readiness(agent)).toContain('[-]gcpolicies-synced failed');
  expect(await agent.page('health', '/healthz')).toBe('ok');
  expect(await agent.stop()).toBe(0);
});

test('waits for missing CRDs and logs it; then it works', async () => {
  const api = await bed.startApi({ crds: false });
  await bed.startCri();
  const agent = bed.startAgent();
  await until(
    'it is logged',
    () => agent.timesLogged('kind GCPolicy is not installed, waiting for it') === 1,
  );
  expect(await readiness(agent)).toContain('[-]gcpolicies-synced failed');
  await api.installCrds();
  await until('governed', () => agent.timesLogged('nothing is collected on this node') === 1);
  await until('reported', () => bed.condition('Ready') === 'True NoPolicy');
});

test('a missing node: logged, not ready, nothing reported, until the node exists', async () => {
  const api = await bed.startApi();
  api.store.delete('Node', nodeName);
  await bed.startCri();
  const agent = bed.startAgent();
  await until(
    'it is logged',
    () => agent.timesLogged('there is no such node, nothing is collected until it appears') === 1,
  );
  expect(await readiness(agent)).toContain('[-]node-synced failed');
  bed.node();
  await until('reported', () => bed.condition('Ready') === 'True NoPolicy');
  expect(await readiness(agent)).toContain('[+]node-synced ok');
});
