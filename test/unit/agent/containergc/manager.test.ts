import { expect, test } from 'vitest';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { bed, governed, nodePolicy, type Bed } from './environment.ts';
import { apiPod, attempts, dead, down, link, log, logsRule } from './builders.ts';

const goneLog = '/var/log/pods/default_gone_uid-gone/main/0.log';
const goneLink = 'gone_default_main-gone-0.log';

/** A pod that is gone with its container, sandbox, logs and link; beside it one that runs. */
function goneBed(...args: Parameters<typeof bed>): Bed {
  const made = bed(...args);
  made.runtime.add(dead('gone-0', 60, { pod: 'gone' }), down('gone', 60), container('live'), sandbox('pod'));
  made.runtime.statuses.set('gone-0', { logPath: goneLog });
  made.logs.add(
    log('default_gone_uid-gone/main/0.log'),
    link(goneLink, goneLog),
    log('default_pod_uid-pod/main/0.log'),
  );
  made.world.pods = [apiPod('pod')];
  return made;
}

async function twice({ pass, clock }: Bed): Promise<void> {
  await pass();
  clock.advance(60_000);
  await pass();
}

test('a pod that is gone for two passes loses container, sandbox, logs and link; the other pod nothing', async () => {
  const made = goneBed();
  await made.pass();
  expect(made.runtime.changes).toEqual([]);
  await made.pass();
  expect(made.runtime.changes).toEqual([
    'removeContainer gone-0',
    'stopSandbox gone-sandbox',
    'removeSandbox gone-sandbox',
  ]);
  expect(made.logs.paths).toEqual(['/var/log/pods/default_pod_uid-pod/main/0.log']);
  expect(made.left()).toEqual(['live', 'pod-sandbox']);
  expect(made.asked).toEqual(['default/gone uid-gone']);
  expect(made.reports.map(({ result, removed, freedBytes }) => [result, removed, freedBytes])).toEqual([
    ['Idle', 0, 0],
    ['Succeeded', 3, 100],
  ]);
});

test('the container goes after its logs and its link, as the kubelet does it', async () => {
  const made = goneBed();
  made.runtime.before = (call) => {
    if (call === 'removeContainer') made.logs.calls.push('container');
  };
  await twice(made);
  expect(made.logs.calls.slice(0, 3)).toEqual([
    `log ${goneLog}`,
    `link /var/log/containers/${goneLink}`,
    'container',
  ]);
});

test('DryRun counts and touches nothing', async () => {
  const made = goneBed(nodePolicy({}, 'DryRun'));
  await twice(made);
  expect(made.runtime.changes).toEqual([]);
  expect(made.logs.calls).toEqual([]);
  expect(made.reports.at(-1)).toMatchObject({ result: 'Succeeded', removed: 0, errors: 0 });
  expect(made.inventories.at(-1)).toMatchObject({
    containers: { total: 2, removable: 1 },
    sandboxes: { total: 2, removable: 1 },
    logs: { bytes: 200, removableBytes: 100 },
  });
  expect(await made.registry.metrics()).toContain(
    'dustpan_container_gc_due_objects{reason="PodGone",mode="DryRun"} 1',
  );
});

test.each([
  { name: 'no policy', governance: { kind: 'keep', reason: 'NoPolicy', policy: undefined }, result: 'Idle' },
  {
    name: 'a marked node',
    governance: { kind: 'keep', reason: 'KeepMarked', policy: undefined },
    result: 'Idle',
  },
  {
    name: 'an unknown node',
    governance: { kind: 'keep', reason: 'NodeUnknown', policy: undefined },
    result: 'Unknown',
  },
] as const)('with $name nothing goes, what is there is told', async ({ governance, result }) => {
  const made = goneBed();
  made.world.governance = governance;
  await twice(made);
  expect(made.runtime.changes).toEqual([]);
  expect(made.reports.at(-1)).toMatchObject({ result, removed: 0 });
  expect(made.inventories.at(-1)).toMatchObject({ containers: { total: 2, removable: 0 } });
});

test('without the pods nothing is gone, and the pass says that it could not decide', async () => {
  const made = goneBed();
  made.world.pods = undefined;
  await twice(made);
  expect(made.runtime.changes).toEqual([]);
  expect(made.reports.at(-1)).toMatchObject({
    result: 'Unknown',
    message: 'the pods of the node are not known',
  });
});

test.each(['exists', 'unknown'] as const)(
  'a pod of which the API server says %s keeps everything',
  async (answer) => {
    const made = goneBed();
    made.world.answers.set('uid-gone', answer);
    await twice(made);
    expect(made.runtime.changes).toEqual([]);
    expect(made.logs.calls).toEqual([]);
    const reason = answer === 'exists' ? 'InUse' : 'PodsUnknown';
    expect(await made.registry.metrics()).toMatch(new RegExp(`skipped_total{reason="${reason}"} [1-9]`));
  },
);

test('a pod that was found after all has to be missed twice again', async () => {
  const made = goneBed();
  made.world.answers.set('uid-gone', 'exists');
  await twice(made);
  made.world.answers.clear();
  await made.pass();
  expect(made.runtime.changes).toEqual([]);
  await made.pass();
  expect(made.left()).toEqual(['live', 'pod-sandbox']);
});

test.each<{ name: string; change: (made: Bed) => void }>([
  {
    name: 'the policy went to DryRun',
    change: ({ world }) => (world.governance = governed(nodePolicy({}, 'DryRun'))),
  },
  {
    name: 'the policy is another one',
    change: ({ world }) => (world.governance = governed({ ...nodePolicy(), generation: 2 })),
  },
  {
    name: 'the node was marked',
    change: ({ world }) => (world.governance = { kind: 'keep', reason: 'KeepMarked', policy: undefined }),
  },
  {
    name: 'the pod is back in the cache',
    change: ({ world }) => (world.pods = [apiPod('pod'), apiPod('gone')]),
  },
  { name: 'the pods are not known any more', change: ({ world }) => (world.pods = undefined) },
  {
    name: 'a container of the pod runs',
    change: ({ runtime }) => runtime.add(container('gone-1', { pod: 'gone' })),
  },
  {
    name: 'the sandbox is ready again',
    change: ({ runtime }) => {
      runtime.sandboxes = runtime.sandboxes.map((one) => ({ ...one, state: 'Ready' }));
    },
  },
  {
    name: 'the container runs',
    change: ({ runtime }) => {
      runtime.containers = runtime.containers.map((one) => ({ ...one, state: 'Running' }));
    },
  },
])('when in the middle of a pass $name, nothing goes', async ({ change }) => {
  const made = goneBed();
  await made.pass();
  let lists = 0;
  made.runtime.before = (call) => {
    if (call === 'listContainers' && ++lists === 2) change(made);
  };
  await made.pass();
  expect(made.runtime.changes).toEqual([]);
  expect(made.logs.calls).toEqual([]);
});

test('a container that starts between the last list and the act is asked for and kept', async () => {
  const made = goneBed();
  await made.pass();
  made.runtime.statuses.set('gone-0', { state: 'Running', logPath: goneLog });
  await made.pass();
  expect(made.runtime.changes).toEqual([]);
  expect(made.logs.calls).toEqual([]);
});

test('a log that cannot be deleted keeps its container; the others go, and the node is told', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(...attempts(4), sandbox('pod'));
  made.runtime.statuses.set('c1', { logPath: '/var/log/pods/default_pod_uid-pod/main/1.log' });
  made.logs.failing.add('log /var/log/pods/default_pod_uid-pod/main/1.log');
  await expect(made.pass()).rejects.toThrow('removing containers, sandboxes and logs: 1 of 3 failed');
  expect(made.left()).toEqual(['c1', 'c3', 'pod-sandbox']);
  expect(made.reports).toMatchObject([{ result: 'Failed', removed: 2, errors: 1 }]);
  expect(made.recorder.events).toMatchObject([
    {
      type: 'Warning',
      reason: 'ContainerGCFailed',
      regarding: { kind: 'Node', name: 'node-1' },
      note: expect.stringMatching(/EROFS; of 3 planned removals 2 were done and 1 failed$/) as string,
    },
  ]);
});

test('an Event at every failed pass, none at the others', async () => {
  const made = bed();
  made.runtime.fail('listContainers', { times: 2 });
  await expect(made.pass()).rejects.toThrow('listing containers and sandboxes');
  await expect(made.pass()).rejects.toThrow('listing containers and sandboxes');
  await made.pass();
  expect(made.recorder.reasons).toEqual(['ContainerGCFailed Node/node-1', 'ContainerGCFailed Node/node-1']);
  expect(made.reports.map(({ result }) => result)).toEqual(['Failed', 'Failed', 'Idle']);
  expect(made.inventories[0]).toBeUndefined();
});

test('a runtime that goes away in the middle ends the pass', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(...attempts(40), sandbox('pod'));
  made.runtime.before = (call, target) => {
    if (call === 'removeContainer' && target === 'c9') made.runtime.fail('listContainers', { times: 99 });
  };
  await expect(made.pass()).rejects.toThrow('checking before a removal');
  expect(made.runtime.changes).toHaveLength(16);
  expect(made.reports).toMatchObject([{ result: 'Failed', removed: 16 }]);
});

test('logs that cannot be listed do not keep containers, and the pass fails', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(...attempts(2), sandbox('pod'));
  made.logs.failing.add('list');
  await expect(made.pass()).rejects.toThrow('listing logs');
  expect(made.left()).toEqual(['c1', 'pod-sandbox']);
});

test('a sandbox whose container could not be removed stays', async () => {
  const made = goneBed();
  made.runtime.fail('removeContainer');
  await expect(twice(made)).rejects.toThrow('1 of 1 failed');
  expect(made.left()).toEqual(['gone-0', 'gone-sandbox', 'live', 'pod-sandbox']);
});

test('what is gone by itself is no failure', async () => {
  const made = goneBed();
  await made.pass();
  let lists = 0;
  made.runtime.before = (call) => {
    if (call === 'listContainers' && ++lists === 2) made.runtime.containers = [];
  };
  await made.pass();
  expect(made.reports.at(-1)).toMatchObject({ result: 'Succeeded', errors: 0 });
});

test('a shutdown ends the pass after what has begun, without a report', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(...attempts(9), sandbox('pod'));
  const abort = new AbortController();
  made.runtime.before = (call) => {
    if (call === 'removeContainer') abort.abort();
  };
  await expect(made.pass(abort.signal)).rejects.toMatchObject({ name: 'AbortError' });
  expect(made.runtime.changes).toEqual(['removeContainer c0']);
  expect(made.left()).not.toContain('c0');
  expect(made.reports).toEqual([]);
});

test('rotated logs and broken links go and are counted', async () => {
  const made = bed(nodePolicy({ logs: logsRule({ maxRotatedPerContainer: 0 }) }));
  made.world.pods = [apiPod('pod')];
  made.runtime.add(container('live'), sandbox('pod'));
  made.logs.add(
    log('default_pod_uid-pod/main/0.log'),
    log('default_pod_uid-pod/main/0.log.20260101-000001'),
    link('x_y_z-0123456789.log', 'default_pod_uid-pod/main/9.log'),
  );
  await made.pass();
  expect(made.logs.paths).toEqual(['/var/log/pods/default_pod_uid-pod/main/0.log']);
  const metrics = await made.registry.metrics();
  for (const reason of ['BrokenLink', 'RotatedLog'])
    expect(metrics).toContain(`dustpan_container_garbage_collected_total{reason="${reason}"} 1`);
  expect(metrics).toContain('dustpan_container_garbage_collected_total{reason="PodGone"} 0');
  expect(metrics).toContain('dustpan_container_gc_log_freed_bytes_total 100');
});
