import { expect, test } from 'vitest';
import { observeGone } from '../../../../src/agent/containergc/pods.ts';
import { planContainerGc } from '../../../../src/agent/containergc/plan.ts';
import { now } from '../../../builders.ts';
import { container } from '../../../fakes/runtime.ts';
import { apiPod, dead, down, factsOf, governedBy, log, removalsOf, rule } from './builders.ts';

/** What a gone pod has left. */
const facts = factsOf({
  sandboxes: [down('gone', 300)],
  containers: [dead('gone-0', 660, { pod: 'gone' })],
  logs: [log('web_gone_uid-gone/main/0.log')],
});

test('a pod is gone after two passes in a row', () => {
  const once = observeGone(new Map(), facts, { now });
  expect([...once]).toEqual([['uid-gone', 1]]);
  const twice = observeGone(once, facts, { now });
  expect(twice.get('uid-gone')).toBe(2);
  const planned = (sightings: typeof once) =>
    removalsOf(planContainerGc({ ...facts, sightings }, { governance: governedBy(rule()), now }));
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
