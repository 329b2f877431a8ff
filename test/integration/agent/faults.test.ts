import { writeFileSync } from 'node:fs';
import { expect, test as sequential } from 'vitest';
import { AgentEnvironment, nodesPolicy, type RunningAgent } from './environment.ts';
import { until } from '../built.ts';

// They wait for deadlines and back-offs, each on a node of its own.
const test = sequential.concurrent;

const away = 'container runtime is not available, nothing is collected until it is';
const unused = 'registry.example.com/unused:v1';

const collectImages = (minimumAge: string) =>
  nodesPolicy('Enforce', {
    imageGC: { highThresholdPercent: 100, lowThresholdPercent: 80, minimumAge, maximumAge: '1h' },
    containerGC: { maxPerPodContainer: 0 },
  });

/** A finished pod with a stopped sandbox: a limit of zero removes its only container. */
function runFinishedPod(bed: AgentEnvironment): void {
  const { runtime } = bed.cri;
  const { sandbox } = runtime.runPod({
    name: 'web',
    containers: [{ name: 'done', image: 'app', state: 'Exited' }],
  });
  runtime.pods.stopSandbox(sandbox.id);
  bed.apiPod('web', { uid: sandbox.uid, image: 'app', phase: 'Succeeded' });
}

const isThere = (bed: AgentEnvironment): boolean =>
  bed.cri.runtime.images.all.some(({ tags }) => tags.includes(unused));
const isAlive = async (agent: RunningAgent): Promise<boolean> =>
  (await agent.page('health', '/healthz')) === 'ok';
const runtimeLine = async (agent: RunningAgent): Promise<string> =>
  (await agent.page('health', '/readyz?verbose')).split('\n').find((line) => line.includes('runtime')) ?? '';

test('waits for a missing socket: one log line, not ready, alive', async (context) => {
  await using bed = new AgentEnvironment(context.onTestFailed);
  await bed.startApi();
  bed.api.store.apply(collectImages('0s'));
  const agent = bed.startAgent();
  await until('it is logged', () => agent.timesLogged(away) === 1);
  await until('degraded', () => bed.condition('Degraded') === 'True RuntimeUnavailable');
  expect(await runtimeLine(agent)).toBe('[-]runtime failed: reason withheld');
  expect(agent.stdout).toContain(`socket ${bed.path('cri.sock')} is missing`);
  expect(await isAlive(agent)).toBe(true);
  await bed.startCri();
  await until('it responds', () => agent.timesLogged('container runtime answers') === 1);
  await until('no longer degraded', () => bed.condition('Degraded') === 'False AsPlanned');
  expect(agent.timesLogged(away)).toBe(1);
  expect(agent.stdout).not.toContain('    at ');
});

test('a runtime that is not ready counts as unavailable, until it is ready', async (context) => {
  await using bed = await AgentEnvironment.open(context);
  const { cri } = bed;
  cri.runtime.notReady = { reason: 'Starting', message: 'recovering' };
  cri.runtime.addImage({ tags: [unused] });
  runFinishedPod(bed);
  bed.api.store.apply(collectImages('0s'));
  const agent = bed.startAgent();
  await until('degraded', () => bed.condition('Degraded') === 'True RuntimeUnavailable');
  const message = bed.report()?.conditions?.find(({ type }) => type === 'Degraded')?.message;
  expect(message).toMatch(/is not ready: Starting: recovering$/);
  await until('passes failed', () => {
    const failed = agent.lines.filter(({ msg }) => msg === 'pass failed').map(({ loop }) => loop);
    return failed.includes('containergc') && failed.includes('imagegc');
  });
  expect(cri.changes).toEqual([]);
  expect(await runtimeLine(agent)).toBe('[-]runtime failed: reason withheld');
  expect(await isAlive(agent)).toBe(true);
  cri.runtime.notReady = undefined;
  await until('it is ready', () => agent.timesLogged('container runtime answers') === 1);
  await until('collected', () => cri.runtime.containers.length === 0);
  await until('no longer degraded', () => bed.condition('Degraded') === 'False AsPlanned');
  expect(agent.timesLogged(away)).toBe(1);
});

test('from a runtime that is not the kubelet’s nothing is removed, and the report and readiness say so', async (context) => {
  await using bed = await AgentEnvironment.open(context);
  const { cri } = bed;
  cri.runtime.addImage({ tags: [unused] });
  runFinishedPod(bed);
  bed.apiPod('elsewhere', { uid: 'uid-elsewhere', image: 'app', phase: 'Running' });
  bed.api.store.apply(collectImages('0s'));
  const agent = bed.startAgent();
  await until('degraded', () => bed.condition('Degraded') === 'True NotKubeletsRuntime');
  const message = bed.report()?.conditions?.find(({ type }) => type === 'Degraded')?.message;
  expect(message).toMatch(
    /is not the kubelet's: it has no sandbox of any pod .* such as default\/elsewhere$/,
  );
  await until('passes failed', () => {
    const failed = agent.lines.filter(({ msg }) => msg === 'pass failed').map(({ loop }) => loop);
    return failed.includes('containergc') && failed.includes('imagegc');
  });
  expect(cri.changes).toEqual([]);
  expect(await runtimeLine(agent)).toBe('[-]runtime failed: reason withheld');
  bed.apiPod('elsewhere', { uid: 'uid-elsewhere', image: 'app', phase: 'Succeeded' });
  await until('collected', () => cri.runtime.containers.length === 0);
  await until('no longer degraded', () => bed.condition('Degraded') === 'False AsPlanned');
});

test('a runtime that hangs: deadlines, Degraded, alive, until it resumes', async (context) => {
  await using bed = await AgentEnvironment.open(context);
  const { cri } = bed;
  bed.api.store.apply(collectImages('0s'));
  const agent = bed.startAgent(['--runtime-request-timeout=3s']);
  await until('it responds', () => agent.timesLogged('container runtime answers') === 1);
  cri.faults.next('*', { kind: 'hang' }, Infinity);
  await until('it is logged', () => agent.timesLogged(away) === 1);
  await until('degraded', () => bed.condition('Degraded')?.startsWith('True') === true);
  expect(agent.stdout).toContain('did not respond within 3 s');
  expect(await isAlive(agent)).toBe(true);
  // One unit at a time asks the runtime; whose call hangs first is not settled.
  expect(await agent.page('metrics', '/metrics')).toMatch(
    /dustpan_runtime_operations_errors_total\{operation_type="[a-z_]+"\} [1-9]/,
  );
  await until('a pass has failed', () => agent.timesLogged('pass failed') > 0);
  const before = agent.timesLogged('passes succeed again');
  cri.faults.clear();
  await until('passes succeed', () => agent.timesLogged('passes succeed again') > before);
});

test('SIGTERM while the runtime hangs: exit 0, without its response', async (context) => {
  await using bed = await AgentEnvironment.open(context);
  const { cri } = bed;
  runFinishedPod(bed);
  cri.faults.next('RemoveContainer', { kind: 'hang' }, Infinity);
  bed.api.store.apply(collectImages('0s'));
  const agent = bed.startAgent();
  await until('a removal hangs', () => cri.calls.some(({ method }) => method === 'RemoveContainer'));
  expect(await agent.stop()).toBe(0);
  expect(agent.timesLogged('stopping while the container runtime is still at work')).toBe(1);
  expect(agent.stderr).toBe('');
});

test('a state directory that cannot be made: logged, not ready, nothing that needs history is removed early', async (context) => {
  await using bed = await AgentEnvironment.open(context);
  writeFileSync(bed.path('file'), '');
  bed.cri.runtime.addImage({ tags: [unused] });
  bed.api.store.apply(collectImages('30m'));
  const agent = bed.startAgent(['--v=4', `--state-dir=${bed.path('file/state')}`]);
  await until('passes were made', () => agent.timesLogged('planned pass') >= 4);
  expect(await agent.page('health', '/readyz?verbose')).toContain('[-]state-dir failed');
  expect(agent.lines.some(({ level, msg }) => level === 'warn' && msg.includes('state'))).toBe(true);
  expect(isThere(bed)).toBe(true);
  expect(await isAlive(agent)).toBe(true);
});
