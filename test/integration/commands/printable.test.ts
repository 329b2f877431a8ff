import { status as grpc } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { hostile, raw } from '../../hostile.ts';
import { AgentEnvironment, nodeName, nodesPolicy } from '../agent/environment.ts';
import { until } from '../built.ts';

/** Time and level; the message follows. */
const textLine = /^\d{4}-\d\d-\d\dT[\d:.]+Z (DEBUG|INFO |WARN |ERROR) /;

test('an agent: its log, its Events and its report', async ({ onTestFailed }) => {
  const bed = new AgentEnvironment(onTestFailed);
  const api = await bed.startApi();
  const cri = await bed.startCri({ name: `containerd${hostile}` });
  cri.runtime.addImage({ tags: [`registry.example.com/${hostile}:v1`] });
  const { sandbox, containers } = cri.runtime.runPod({
    name: hostile,
    containers: [{ name: hostile, image: 'app' }],
  });
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
  expect(agent.stdout.replaceAll('\n', '')).not.toMatch(raw);
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
