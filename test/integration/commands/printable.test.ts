import { status as grpc } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { hostile, raw } from '../../hostile.ts';
import type { CriSandbox } from '../../sandbox/cri/server.ts';
import { startSandbox, type Sandbox } from '../../sandbox/server.ts';
import { AgentEnvironment, nodeName, nodesPolicy } from '../agent/environment.ts';
import { until } from '../built.ts';
import { policy, fillCluster as fill } from '../controller/environment.ts';
import { dustpan, policy as policyFile, inputOfEachTest } from './plan/fixture.ts';

/** Fields that users write into the API and that the API server does not validate. */
function hostilePods(api: Sandbox): void {
  const job = { apiVersion: 'batch/v1', kind: 'Job', name: hostile, uid: 'uid-job', controller: true };
  const pod = (metadata: { name: string; finalizers?: string[] }, status: object, node = 'node-1'): void => {
    api.store.apply({
      ...{ apiVersion: 'v1', kind: 'Pod' },
      metadata: { namespace: 'default', ownerReferences: [job], ...metadata },
      spec: { nodeName: node, containers: [{ name: 'main', image: `registry.example.com/${hostile}` }] },
      status: { reason: hostile, message: hostile, ...status },
    });
  };
  pod({ name: 'done' }, { phase: 'Failed' });
  pod({ name: 'held', finalizers: ['batch.kubernetes.io/job-tracking'] }, { phase: 'Succeeded' });
  pod({ name: 'lost' }, { phase: 'Running' }, `node-${hostile}`);
}

/** A pod of a runtime. */
const hostilePod = { name: hostile, containers: [{ name: hostile, image: 'app' }] };

/** No line is forged, and none has a control character. */
function expectPrintable(text: string): void {
  expect(text).not.toBe('');
  expect(text.replaceAll('\n', '')).not.toMatch(raw);
  expect(text).not.toMatch(/^ *ERROR forged/m);
}

describe('commands that read a cluster', () => {
  const input = inputOfEachTest();
  let api: Sandbox;
  let cri: CriSandbox;

  beforeEach(async () => {
    api = await startSandbox();
    fill(api, 1);
    hostilePods(api);
    cri = await input.startCri();
  });
  afterEach(async () => {
    cri.stop();
    await api.stop();
  });

  const run = (...args: string[]) => dustpan([...args, `--kubeconfig=${api.kubeconfigFile}`]);
  const rules = { terminated: { threshold: 1 }, orphaned: {}, safety: { maxOrphanedNodesPercent: 100 } };

  test.each([
    [['plan', '--kept'], /default\/held/],
    [['plan', '--kept', '-o', 'yaml'], /\\x9B2J/],
    [['why', 'pod', 'default/held'], /Job a\\u001b\[2Jb\\nERROR/],
    [['why', 'pod', 'default/lost'], /node-a\\u001b\[2Jb\\nERROR/],
  ])('%j', async (args, says) => {
    api.store.apply(policy('Enforce', rules));
    const { code, stdout, stderr } = await run(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(says);
    expectPrintable(stdout);
  });

  test('why, for a deleted pod that an Event names', async () => {
    api.store.apply({
      ...{ apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'e', namespace: 'default' } },
      ...{ eventTime: '2026-01-15T12:00:00.000000Z', reason: 'PodCollected', action: 'Collect' },
      ...{ type: 'Normal', note: `Deleted 1 pod (${hostile}): gone` },
      ...{ reportingController: 'gc.dustpan.dev/controller', reportingInstance: 'c' },
      regarding: { apiVersion: 'batch/v1', kind: 'Job', name: hostile, namespace: 'default', uid: 'u' },
    });
    const { code, stdout } = await run('why', 'pod', 'default/gone');
    expect(code).toBe(0);
    expect(stdout).toContain(String.raw`a\u001b[2Jb`);
    expectPrintable(stdout);
  });

  test('images, containers and logs of a node', async () => {
    const image = `registry.example.com/${hostile}:v1`;
    cri.runtime.addImage({ tags: [image] });
    const { containers } = cri.runtime.runPod(hostilePod);
    cri.runtime.exit(containers[0]?.id ?? '');
    const nodes = { imageGC: {}, containerGC: { maxPerPodContainer: 0 } };
    input.write('policy.json', policyFile('mine', { nodes }));
    const node = [`--policy=${input.path('policy.json')}`, ...input.nodeFlags];
    const kept = await run('plan', '--kept', ...node);
    expect(kept.stdout).toContain(String.raw`exe\u2028d\u007f:v1`);
    const dead = await run('why', 'container', containers[0]?.id ?? '', ...node);
    expect(dead.stdout).toContain(String.raw`a\u001b[2Jb\nERROR`);
    const missing = await run('why', 'image', 'registry.example.com/a', ...node);
    expect(missing.stderr).toMatch(/there is no image/);
    for (const text of [kept.stdout, dead.stdout, missing.stderr]) expectPrintable(text);
  });

  test('files with control characters in their names, keys and values', async () => {
    const name = '\u001b[2J\u009b.json';
    input.write(name, policyFile('mine', { [hostile]: 1, mode: hostile, pods: { podSelector: hostile } }));
    const { code, stdout, stderr } = await run('plan', `--policy=${input.path(name)}`);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const lines = stderr.trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(2);
    for (const line of lines) expect(line).toMatch(/^dustpan: \/[^ ]*\\u001b\[2J\\u009b\.json: spec\./);
    expectPrintable(stderr);
  });
});

/** Time and level; the message follows. */
const textLine = /^\d{4}-\d\d-\d\dT[\d:.]+Z (DEBUG|INFO |WARN |ERROR) /;

test('an agent: its log, its Events and its report', async ({ onTestFailed }) => {
  const bed = new AgentEnvironment(onTestFailed);
  const api = await bed.startApi();
  const cri = await bed.startCri({ name: `containerd${hostile}` });
  cri.runtime.addImage({ tags: [`registry.example.com/${hostile}:v1`] });
  const { sandbox, containers } = cri.runtime.runPod(hostilePod);
  cri.runtime.exit(containers[0]?.id ?? '');
  // The newest attempt is kept, the previous one is removed.
  cri.runtime.exit(cri.runtime.addContainer(sandbox.id, { name: hostile, image: 'app' }).id);
  const imageGC = { minimumAge: '0s', maximumAge: '1s' };
  api.store.apply(nodesPolicy('Enforce', { imageGC, containerGC: { maxPerPodContainer: 0 } }));
  const failure = { kind: 'fail', code: grpc.INTERNAL, message: hostile } as const;
  cri.faults.next('RemoveImage', failure, Infinity);
  cri.faults.next('RemoveContainer', failure, Infinity);
  // The escapes of each format are tested with the logger.
  const agent = bed.startAgent(['--log-format=text', '--v=4']);
  try {
    await until('failed', () => agent.stdout.includes('removing image failed'));
    await until('failed', () => agent.stdout.includes('removing container failed'));
    await until('reported', () => bed.condition('Degraded') === 'True PassFailed');
  } finally {
    await agent.stop();
  }
  expect(agent.stdout).toMatch(/\\u001b\[2J/);
  expectPrintable(agent.stdout);
  for (const line of agent.stdout.trimEnd().split('\n')) expect(line).toMatch(textLine);
  expect(agent.stderr).toBe('');
  const report = api.store.get('NodeGCReport', nodeName);
  expect(JSON.stringify(report)).toContain('u009b2J');
  expect(JSON.stringify(report)).not.toMatch(raw);
  const notes = api.store.list('Event').map(({ note }) => String(note));
  expect(notes).toContainEqual(expect.stringContaining('u009b2J'));
  for (const note of notes) expect(note).not.toMatch(raw);
  await bed.stop();
});
