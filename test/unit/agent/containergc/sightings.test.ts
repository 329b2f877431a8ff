import { expect, test } from 'vitest';
import { apiPod, dead, down, factsOf, governedBy, keptOf, link, log, removalsOf, rule } from './builders.ts';
import { observeGone } from '../../../../src/agent/containergc/pods.ts';
import { planContainerGc } from '../../../../src/agent/containergc/plan.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { now } from '../../../builders.ts';

/** A crash-looping pod, a gone pod, a container that the kubelet did not create, and a broken link. */
const facts = factsOf({
  pods: [apiPod('crash')],
  sandboxes: [sandbox('crash'), down('gone', 300)],
  containers: [
    dead('crash-0', 480, { pod: 'crash', attempt: 0 }),
    dead('crash-1', 470, { pod: 'crash', attempt: 1 }),
    dead('crash-2', 460, { pod: 'crash', attempt: 2 }),
    container('crash-3', { pod: 'crash', attempt: 3 }),
    dead('gone-0', 660, { pod: 'gone' }),
    dead('foreign', 660, { labels: {}, name: 'z', sandboxId: 'sandbox-of-y' }),
  ],
  logs: [
    log('web_crash_uid-crash/main/3.log'),
    log('web_gone_uid-gone/main/0.log'),
    link('old_web_main-0123456789abcdef.log', 'web_old_x/main/0.log'),
  ],
});

test('everything of the gone pod is removed in order; the newest attempt and the sandbox of the crash-looping pod are kept', () => {
  const plan = planContainerGc(facts, { governance: governedBy(rule()), now, assumeGone: true });
  expect(removalsOf(plan)).toEqual([
    'gone-0 PodGone',
    'crash-0 DeadContainer',
    'crash-1 DeadContainer',
    'gone-sandbox Sandbox',
    'pods/web_gone_uid-gone OrphanedLogs',
    'containers/old_web_main-0123456789abcdef.log BrokenLink',
  ]);
  expect(keptOf(plan)).toEqual([
    'crash-2 NewestAttempt',
    'crash-3 Running',
    'crash-sandbox Running',
    'foreign NotKubelets',
    'pods/web_crash_uid-crash InUse',
  ]);
});

test('a pod is gone after two passes in a row', () => {
  const once = observeGone(new Map(), facts, { now });
  expect([...once]).toEqual([['uid-gone', 1]]);
  const twice = observeGone(once, facts, { now });
  expect(twice.get('uid-gone')).toBe(2);
  const planned = (sightings: typeof once) =>
    removalsOf(planContainerGc({ ...facts, sightings }, { governance: governedBy(rule()), now })).filter(
      (it) => it.includes('gone'),
    );
  expect(planned(once)).toEqual([]);
  expect(planned(twice)).toHaveLength(3);
});

test.each([
  { name: 'the pods were unknown', change: { pods: undefined } },
  { name: 'the pod existed', change: { pods: [apiPod('gone')] } },
  { name: 'the sandboxes were unknown', change: { sandboxes: undefined } },
  { name: 'a container of it ran', change: { containers: [container('gone-1', { pod: 'gone' })] } },
])('a pass in which $name resets the count', ({ change }) => {
  const between = observeGone(observeGone(new Map(), facts, { now }), { ...facts, ...change }, { now });
  expect(observeGone(between, facts, { now }).get('uid-gone')).toBe(1);
});
