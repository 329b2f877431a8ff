import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test as sequential } from 'vitest';
import { AgentEnvironment, nodeName, type RunningAgent } from './environment.ts';
import { built, until } from '../built.ts';
import { everythingBut, expectOneLine } from '../rights.ts';

// They wait for starts and passes, each on a node of its own.
const test = sequential.concurrent;

sequential('bad usage is one line and exit code 2; the downward API names the node', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [built.main, 'agent', '--kubeconfig=/nowhere'],
    { env: { PATH: process.env['PATH'], NODE_NAME: 'a' }, encoding: 'utf8' },
  );
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expectOneLine(stderr, /nowhere/);
});

test.for([
  ['list', 'nodes'],
  ['list', 'gcpolicies'],
  // Their list comes with the watch.
  ['watch', 'pods'],
] as const)(
  'without the right to %s %s: one line names it and its remedy, not ready until it is granted',
  async ([verb, resource], context) => {
    let isMissing = true;
    const options = everythingBut(verb, resource, () => isMissing);
    await using bed = await AgentEnvironment.open(context, options);
    const agent = bed.startAgent([], { kubeconfig: bed.api.kubeconfigOf('dustpan') });
    await until('it is reviewed', () => agent.timesLogged('rights are missing') === 1);
    const refused = agent.lines.filter(({ msg }) => msg === 'list or watch failed');
    expect(refused).toHaveLength(1);
    expect(refused[0]?.['err']).toMatch(
      new RegExp(`cannot ${verb} resource "${resource}".*; grant it to this user or service account$`),
    );
    expect(agent.lines.find(({ msg }) => msg === 'rights are missing')).toMatchObject({
      missing: [`${verb} ${resource}`],
    });
    expect(await readiness(agent)).toContain('[-]rights failed');
    // Each poll or cache lists for itself: no request only checks a right.
    expect(bed.api.requests.filter(({ query }) => query.get('limit') === '1')).toEqual([]);
    isMissing = false;
    await until('its cache is current', async () => {
      const name = resource === 'nodes' ? 'node' : resource;
      return (await readiness(agent)).includes(`[+]${name}-synced ok`);
    });
    expect(agent.isRunning).toBe(true);
  },
);

test('without the right to write its report: one log line, the passes continue, the process lives', async (context) => {
  const options = everythingBut('patch', 'nodegcreports/status');
  await using bed = await AgentEnvironment.open(context, options);
  const agent = bed.startAgent(['--v=4'], { kubeconfig: bed.api.kubeconfigOf('dustpan') });
  await until('it is logged', () =>
    agent.stdout.includes('cannot patch resource \\"nodegcreports/status\\"'),
  );
  await until('it fails again', () => agent.timesLogged('pass failed again') >= 1);
  await agent.passes('imagegc', 1);
  const errors = agent.lines.filter(({ level }) => level === 'error');
  expect(errors.map(({ msg, loop }) => ({ msg, loop }))).toEqual([{ msg: 'pass failed', loop: 'report' }]);
  expect(agent.isRunning).toBe(true);
  expect(agent.stdout).not.toContain('    at ');
});

const readiness = (agent: RunningAgent): Promise<string> => agent.page('health', '/readyz?verbose');

test('waits for an unreachable API server', async (context) => {
  await using bed = await AgentEnvironment.open(context);
  const { kubeconfigFile, url } = bed.api;
  const kubeconfig = bed.path('kubeconfig');
  writeFileSync(kubeconfig, readFileSync(kubeconfigFile, 'utf8').replaceAll(url, 'http://127.0.0.1:1'));
  const agent = bed.startAgent([], { kubeconfig });
  await until('it is logged', () => agent.timesLogged('list or watch failed') === 3);
  expect(await readiness(agent)).toContain('[-]gcpolicies-synced failed');
  expect(await agent.page('health', '/healthz')).toBe('ok');
  expect(await agent.stop()).toBe(0);
});

test('waits for missing CRDs and for its node, logs both and is not ready; then it works', async (context) => {
  await using bed = await AgentEnvironment.open(context, { crds: false });
  bed.api.store.delete('Node', nodeName);
  const agent = bed.startAgent();
  await until('it is logged', () => agent.timesLogged('kind is not installed, waiting for it') === 1);
  expect(await readiness(agent)).toContain('[-]gcpolicies-synced failed');
  await bed.api.installCrds();
  const missing = 'there is no such node, nothing is collected until it appears';
  await until('it is logged', () => agent.timesLogged(missing) === 1);
  expect(await readiness(agent)).toContain('[-]node-synced failed');
  bed.node();
  await until('reported', () => bed.condition('Ready') === 'True NoPolicy');
  expect(await readiness(agent)).toContain('[+]node-synced ok');
});
