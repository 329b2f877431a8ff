import { expect, test } from 'vitest';
import { legacyLinkOf, stopSeconds } from '../../../../src/agent/containergc/act.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { bed, governed, nodePolicy, type Bed } from './environment.ts';
import { apiPod, attempts, dead, down } from './builders.ts';

test('one in unknown state of a gone pod is stopped first', async () => {
  const made = bed();
  made.runtime.add(dead('u', 60, { pod: 'gone', state: 'Unknown' }));
  await made.pass();
  await made.pass();
  expect(made.runtime.changes).toEqual(['stopContainer u', 'removeContainer u']);
});

test('one in unknown state that cannot be stopped stays', async () => {
  const made = bed();
  made.runtime.add(dead('u', 60, { pod: 'gone', state: 'Unknown' }));
  made.runtime.fail('stopContainer');
  await made.pass();
  await expect(made.pass()).rejects.toThrow('1 of 1 failed');
  expect(made.left()).toEqual(['u']);
});

test('one whose state is not known right before its removal stays', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(...attempts(2), sandbox('pod'));
  made.runtime.statuses.set('c0', {
    state: 'Unknown',
    logPath: '/var/log/pods/default_pod_uid-pod/main/0.log',
  });
  await made.pass();
  expect(made.left()).toEqual(['c0', 'c1', 'pod-sandbox']);
  expect(made.logs.calls).toEqual([]);
});

interface Meanwhile {
  readonly name: string;
  readonly change: (made: Bed) => void;
}

/** What forbids a removal, for a container as for a sandbox. */
const forbidding: readonly Meanwhile[] = [
  {
    name: 'the policy went to DryRun',
    change: ({ world }) => (world.live = { governance: governed(nodePolicy({}, 'DryRun')) }),
  },
  { name: 'the pod is there', change: ({ world }) => world.answers.set('uid-gone', 'exists') },
  {
    name: 'a container of the pod runs',
    change: ({ runtime }) => runtime.add(container('back', { pod: 'gone' })),
  },
];

test.each(forbidding)(
  'a container is not removed when, while it was being stopped, $name',
  async ({ change }) => {
    const made = bed();
    made.runtime.add(dead('u', 60, { pod: 'gone', state: 'Unknown' }));
    made.runtime.statuses.set('u', { logPath: '/var/log/pods/default_gone_uid-gone/main/0.log' });
    await made.pass();
    made.runtime.before = (call) => {
      if (call !== 'stopContainer') return;
      made.clock.advance(5_000);
      change(made);
    };
    await made.pass();
    expect(made.runtime.changes).toEqual(['stopContainer u']);
    expect(made.logs.calls).toEqual([]);
  },
);

test.each(forbidding)(
  'a sandbox is not removed when, while it was being stopped, $name',
  async ({ change }) => {
    const made = bed();
    made.runtime.add(down('gone', 60));
    await made.pass();
    made.runtime.before = (call) => {
      if (call !== 'stopSandbox') return;
      made.clock.advance(5_000);
      change(made);
    };
    await made.pass();
    expect(made.runtime.changes).toEqual(['stopSandbox gone-sandbox']);
  },
);

test('a pod that cannot be read keeps all that is left of it, and one line of the log says so', async () => {
  const made = bed(nodePolicy({ maxPerPodContainer: undefined }));
  made.runtime.add(...attempts(3, { pod: 'gone' }), down('gone', 60));
  await made.pass();
  made.world.answers.set('uid-gone', new Error('connect ECONNREFUSED'));
  await made.pass();
  expect(made.runtime.changes).toEqual([]);
  expect(made.log.lines.filter(({ level }) => level === 'warn')).toMatchObject([
    { message: 'reading pod failed', fields: { pod: { uid: 'uid-gone' } } },
  ]);
  expect(made.reports.at(-1)).toMatchObject({ result: 'Succeeded', removed: 0, errors: 0 });
});

test('however many removals fail in a row, the next is tried', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(...attempts(40), sandbox('pod'));
  made.runtime.fail('removeContainer', { times: 38 });
  await expect(made.pass()).rejects.toThrow('38 of 39 failed');
  expect(made.left()).not.toContain('c38');
  expect(made.reports).toMatchObject([{ result: 'Failed', removed: 1, errors: 38 }]);
});

test('a removal that the shutdown breaks off has not failed', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(...attempts(2), sandbox('pod'));
  const abort = new AbortController();
  made.runtime.fail('removeContainer');
  made.runtime.before = (call) => {
    if (call === 'removeContainer') abort.abort();
  };
  await expect(made.pass(abort.signal)).rejects.toMatchObject({ name: 'AbortError' });
  expect(made.log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  expect(await made.registry.metrics()).toContain(
    'dustpan_container_gc_errors_total{reason="DeadContainer"} 0',
  );
});

test('the last dead attempt stays when the kubelet removed the newer ones meanwhile', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(...attempts(2), sandbox('pod'));
  let lists = 0;
  made.runtime.before = (call) => {
    if (call === 'listContainers' && ++lists === 2)
      made.runtime.containers = made.runtime.containers.filter(({ id }) => id !== 'c1');
  };
  await made.pass();
  expect(made.left()).toEqual(['c0', 'pod-sandbox']);
});

test('a container without a log has none removed', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(...attempts(2), sandbox('pod'));
  await made.pass();
  expect(made.left()).toEqual(['c1', 'pod-sandbox']);
  expect(made.logs.calls).toEqual([]);
});

test('a sandbox that became ready right before its removal stays', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(down('pod', 9), down('pod', 8, { id: 'newer' }));
  made.runtime.before = (call) => {
    if (call === 'sandboxStatus')
      made.runtime.sandboxes = made.runtime.sandboxes.map((one) => ({ ...one, state: 'Ready' }));
  };
  await made.pass();
  expect(made.runtime.changes).toEqual([]);
});

test('a superseded sandbox stays when the newer ones are gone meanwhile', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(down('pod', 9), down('pod', 8, { id: 'newer' }));
  let lists = 0;
  made.runtime.before = (call) => {
    if (call === 'listSandboxes' && ++lists === 2)
      made.runtime.sandboxes = made.runtime.sandboxes.filter(({ id }) => id !== 'newer');
  };
  await made.pass();
  expect(made.left()).toEqual(['pod-sandbox']);
});

test('the runtime is listed again for each batch, not for each removal', async () => {
  const made = bed();
  made.world.pods = [apiPod('pod')];
  made.runtime.add(...attempts(34), sandbox('pod'));
  await made.pass();
  expect(made.left()).toEqual(['c33', 'pod-sandbox']);
  expect(made.runtime.calls.filter((call) => call === 'listContainers')).toHaveLength(1 + 3);
});

test('the API server is asked once for all that is left of a pod, and again when the answer is old', async () => {
  const made = bed(nodePolicy({ maxPerPodContainer: undefined }));
  made.runtime.add(...attempts(3, { pod: 'gone' }), down('gone', 60));
  made.runtime.before = (call, target) => {
    if (call === 'removeContainer' && target === 'c1') made.clock.advance(5_000);
  };
  await made.pass();
  await made.pass();
  expect(made.left()).toEqual([]);
  expect(made.asked).toEqual(['default/gone uid-gone', 'default/gone uid-gone']);
});

test.each([
  { name: 'short', pod: 'crash', expected: 'crash_default_main-abc.log' },
  {
    name: 'cut to 255 characters, as the kubelet cuts it',
    pod: 'p'.repeat(253),
    expected: `${'p'.repeat(251)}.log`,
  },
  { name: 'none for a container that is not the kubelet’s', pod: '', expected: undefined },
  { name: 'none for a label that is no name', pod: '../x', expected: undefined },
])('legacy link: $name', ({ pod, expected }) => {
  expect(legacyLinkOf(container('abc', { pod }))).toBe(expected);
});

const deletion = 'io.kubernetes.pod.deletionGracePeriod';
const termination = 'io.kubernetes.pod.terminationGracePeriod';

test.each([
  { annotations: {}, expected: 2 },
  { annotations: { [termination]: '10' }, expected: 10 },
  { annotations: { [termination]: '10', [deletion]: '5' }, expected: 5 },
  { annotations: { [deletion]: '0' }, expected: 2 },
  { annotations: { [deletion]: '86400' }, expected: 30 },
  { annotations: { [deletion]: 'x' }, expected: 2 },
])('seconds to stop: $annotations → $expected', ({ annotations, expected }) => {
  expect(stopSeconds(container('abc', { annotations }))).toBe(expected);
});
