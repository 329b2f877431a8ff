import { expect, test } from 'vitest';
import { CollectedByOwner, podsCollected } from '../../../../src/controllers/podgc/events.ts';
import { bounded, bounds } from '../../../../src/runtime/bounds.ts';
import { now, owner, pod, policy } from '../../../builders.ts';

const job = owner('Job', 'j');
const ofNodeKind = (apiVersion: string) => ({ ...owner('Node', 'n'), apiVersion });

test.each([
  { name: 'the pod, if it has no owner', controller: undefined, on: 'Pod default/a' },
  {
    name: 'the pod, if the name of its owner is too long to exist',
    controller: { ...job, name: bounded('j'.repeat(1_400_000), bounds.name) },
    on: 'Pod default/a',
  },
  { name: 'the Node of a mirror pod, without a namespace', controller: ofNodeKind('v1'), on: 'Node -/n' },
  {
    name: 'an owner of a kind Node of another group, in the namespace of the pod',
    controller: ofNodeKind('mesh.example.com/v1'),
    on: 'Node default/n',
  },
  {
    name: 'the owner in each of two namespaces whose pods name one UID; a note lists five pods',
    controller: job,
    others: ['tenant/b', ...['c', 'd', 'e', 'f', 'g'].map((name) => `default/${name}`)],
    on: 'Job default/j, Job tenant/j',
    pods: '6 pods (Expired, policy default): a, c, d, e, f and 1 more',
    more: 1,
  },
])('the Event of a deletion is about $name', (row) => {
  const { controller, others = [], on, pods = '1 pod (Expired, policy default): a', more = 0 } = row;
  const collected = new CollectedByOwner(new Map());
  for (const name of ['default/a', ...others])
    collected.add({ reason: 'Expired', target: { pod: pod(name, { controller }) }, policy: policy() });
  const events = [...collected.groups()].map((group) => podsCollected(group, now));
  const objects = events.map(
    ({ regarding: { kind, namespace = '-', name } }) => `${kind} ${namespace}/${name}`,
  );
  expect(objects.join(', ')).toBe(on);
  expect(events[0]?.note).toBe(`Deleted ${pods}`);
  expect(events[0]?.annotations).toMatchObject({
    'gc.dustpan.dev/pods': more > 0 ? 'a,c,d,e,f' : 'a',
    'gc.dustpan.dev/more-pods': String(more),
  });
});
