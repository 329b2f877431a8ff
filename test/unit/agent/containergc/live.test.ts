import { expect, test } from 'vitest';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { nodePod } from '../imagegc/builders.ts';
import { bed, governed, nodePolicy, type Bed } from './environment.ts';
import { apiPod, attempts, dead, down, link, log, logsRule } from './builders.ts';

/** Something of every kind that is due: dead attempts, a gone pod with container, sandbox and logs, a broken link, a rotated log. */
async function dueBed(over: Parameters<typeof nodePolicy>[0] = {}): Promise<Bed> {
  const made = bed(nodePolicy({ logs: logsRule({ maxRotatedPerContainer: 0 }), ...over }));
  made.world.governance = { kind: 'keep', reason: 'NoPolicy', policy: undefined };
  made.world.pods = [apiPod('pod')];
  made.runtime.add(...attempts(3), sandbox('pod'), dead('gone-0', 60, { pod: 'gone' }), down('gone', 60));
  made.runtime.add(container('live'));
  made.logs.add(
    log('default_gone_uid-gone/main/0.log'),
    log('default_pod_uid-pod/main/0.log'),
    log('default_pod_uid-pod/side/0.log.20260101-000001'),
    link('x_y_z-0123456789.log', 'default_pod_uid-pod/main/9.log'),
  );
  await made.pass();
  made.clock.advance(60_000);
  made.world.governance = governed(nodePolicy({ logs: logsRule({ maxRotatedPerContainer: 0 }), ...over }));
  return made;
}

const nothingTouched = (made: Bed): void => {
  expect(made.runtime.changes).toEqual([]);
  expect(made.logs.calls).toEqual([]);
};

test('what is due goes when the API server confirms it, asked once', async () => {
  const made = await dueBed();
  await made.pass();
  expect(made.reports.at(-1)).toMatchObject({ result: 'Succeeded', removed: 7 });
  expect(made.confirmed()).toBe(1);
});

const keptBy = (reason: 'NoPolicy' | 'KeepMarked' | 'NodeUnknown'): NodeGovernance => ({
  kind: 'keep',
  reason,
  policy: undefined,
});

test.each<{ name: string; governance: NodeGovernance }>([
  { name: 'the policy says DryRun by now', governance: governed(nodePolicy({}, 'DryRun')) },
  { name: 'the policy has changed', governance: governed({ ...nodePolicy(), generation: 2 }) },
  { name: 'a default of the policy has changed', governance: governed(nodePolicy({ minimumAgeMs: 7 })) },
  { name: 'there is no policy', governance: keptBy('NoPolicy') },
  { name: 'the node carries the keep label', governance: keptBy('KeepMarked') },
  { name: 'there is no such node', governance: keptBy('NodeUnknown') },
])('while the cache shows what was, nothing goes when $name', async ({ governance }) => {
  const made = await dueBed();
  made.world.live = { governance };
  await made.pass();
  nothingTouched(made);
  expect(made.reports.at(-1)).toMatchObject({
    result: 'Short',
    removed: 0,
    message: 'policies have changed',
  });
  expect(made.log.lines.filter(({ level }) => level === 'info')).toMatchObject([
    { message: 'pass ended early', fields: { why: 'policies have changed' } },
  ]);
});

test('when the API server does not answer, nothing goes, and the pass says why', async () => {
  const made = await dueBed();
  made.world.live = new Error('reading pods', { cause: new Error('connect ECONNREFUSED') });
  await made.pass();
  nothingTouched(made);
  expect(made.reports.at(-1)).toMatchObject({
    result: 'Unknown',
    removed: 0,
    errors: 0,
    message: 'policies, node and pods cannot be confirmed live: reading pods: connect ECONNREFUSED',
  });
  expect(made.confirmed()).toBe(1);
  expect(made.log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  expect(made.recorder.events).toEqual([]);
});

test('a pod that the API server lists and the cache misses loses nothing', async () => {
  const made = await dueBed({ maxPerPodContainer: undefined, logs: logsRule() });
  made.logs.entries.clear();
  made.logs.add(log('default_gone_uid-gone/main/0.log'));
  made.world.live = { pods: [nodePod('gone', [], { uid: 'uid-gone' })] };
  await made.pass();
  nothingTouched(made);
});

test('a pod that got the keep label a moment ago loses no container', async () => {
  const made = await dueBed();
  made.world.live = { pods: [nodePod('pod', [], { uid: 'uid-pod', keepMarked: true })] };
  await made.pass();
  const ids = made.runtime.containers.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(['c0', 'c1', 'c2']));
  expect(ids).not.toContain('gone-0');
});

test('in a long pass it is asked again after 5 s', async () => {
  const made = await dueBed();
  made.runtime.before = (call) => {
    if (call !== 'removeContainer') return;
    made.clock.advance(5_000);
    made.world.live = { governance: governed(nodePolicy({}, 'DryRun')) };
  };
  await made.pass();
  expect(made.runtime.changes).toHaveLength(1);
  expect(made.confirmed()).toBe(2);
});

test('in mode DryRun it is never asked', async () => {
  const made = await dueBed();
  made.world.governance = governed(nodePolicy({ logs: logsRule() }, 'DryRun'));
  await made.pass();
  expect(made.reports.at(-1)).toMatchObject({ result: 'Succeeded' });
  expect(made.confirmed()).toBe(0);
});

test('with nothing to remove it is never asked', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(container('live'), sandbox('pod'));
  await made.pass();
  expect(made.reports).toMatchObject([{ result: 'Idle' }]);
  expect(made.confirmed()).toBe(0);
});

test('by a clock that differs from the API server’s no minimum age is judged; the rest goes', async () => {
  const made = await dueBed({ minimumAgeMs: 1_000 });
  made.world.live = { clockSkewMs: 3_600_000 };
  await made.pass();
  expect(made.runtime.changes).toEqual([]);
  expect(made.reports.at(-1)).toMatchObject({
    result: 'Unknown',
    message: "the clock of this node is 3600 s ahead of the API server's",
  });
  expect(made.logs.calls).toEqual(
    expect.arrayContaining([expect.stringMatching(/^link/), expect.stringMatching(/^rotated/)]),
  );
});

test('without a minimum age such a clock does not matter', async () => {
  const made = await dueBed();
  made.world.live = { clockSkewMs: 3_600_000 };
  await made.pass();
  expect(made.reports.at(-1)).toMatchObject({ result: 'Succeeded', removed: 7 });
});

test('when listing took so long that its answer is old, it is asked again', async () => {
  const made = await dueBed();
  let lists = 0;
  made.runtime.before = (call) => {
    if (call !== 'listContainers' || ++lists !== 2) return;
    made.clock.advance(5_000);
    made.world.live = { governance: keptBy('KeepMarked') };
  };
  await made.pass();
  nothingTouched(made);
});

test('what was seen before a pause of the agent is looked at again: what came into use in it stays', async () => {
  const made = await dueBed({ maxPerPodContainer: undefined, logs: logsRule() });
  made.logs.entries.clear();
  made.logs.add(log('default_gone_uid-gone/main/0.log'));
  let lists = 0;
  made.runtime.before = (call) => {
    // The look of the plan, then one for each kind: containers, sandboxes, log directories.
    if (call !== 'listSandboxes' || ++lists !== 4) return;
    // After the runtime has told its containers, and before it tells its sandboxes: a static pod comes back by its old UID.
    setImmediate(() => {
      made.clock.advance(11_000);
      made.runtime.add(container('back', { pod: 'gone' }));
    });
  };
  await made.pass();
  expect(made.logs.calls.filter((call) => call.startsWith('directory'))).toEqual([]);
  expect(lists).toBe(5);
});

test('a node that takes too long to look at keeps everything, and the pass says so', async () => {
  const made = await dueBed();
  made.runtime.before = (call) => {
    if (call === 'listContainers') made.clock.advance(5_000);
  };
  await expect(made.pass()).rejects.toThrow('checking before a removal');
  nothingTouched(made);
  expect(made.reports.at(-1)).toMatchObject({
    result: 'Failed',
    removed: 0,
    message: expect.stringContaining('re-checking live before a removal takes longer than 5 s') as string,
  });
});
