import { expect, test } from 'vitest';
import {
  backlogCollected,
  CollectedByOwner,
  podsCollected,
  tripped,
} from '../../../../src/controllers/podgc/events.ts';
import { countByPolicy } from '../../../../src/gc/summary.ts';
import type { EventSpec } from '../../../../src/kube/events/recorder.ts';
import { bounded, bounds } from '../../../../src/runtime/bounds.ts';
import { owner, pod, policy } from '../../../builders.ts';

const governing = policy();
const deletion = (name: string, over: Parameters<typeof pod>[1] = {}) => ({
  ...{ reason: 'Expired' as const, target: { pod: pod(name, over) }, policy: governing },
});

function eventsOf(deletions: readonly ReturnType<typeof deletion>[]): EventSpec[] {
  const collected = new CollectedByOwner(new Map());
  for (const one of deletions) collected.add(one);
  return [...collected.groups()].map(podsCollected);
}

test.each([
  { name: 'the pod, if it has no owner', controller: undefined, on: 'Pod default/a' },
  { name: 'its owner', controller: owner('Job', 'j'), on: 'Job default/j' },
  {
    name: 'the pod, if the name of its owner is too long to exist',
    controller: { ...owner('Job', 'j'), name: bounded('j'.repeat(1_400_000), bounds.name) },
    on: 'Pod default/a',
  },
  {
    name: 'the Node of a mirror pod, without a namespace',
    controller: { ...owner('Node', 'n'), apiVersion: 'v1' },
    on: 'Node -/n',
  },
  {
    name: 'an owner of a kind Node of another group, in the namespace of the pod',
    controller: { ...owner('Node', 'n'), apiVersion: 'mesh.example.com/v1' },
    on: 'Node default/n',
  },
])('the Event of a deletion is about $name', ({ controller, on }) => {
  const [event] = eventsOf([deletion('a', { controller })]);
  const { kind, namespace = '-', name } = event?.regarding ?? { kind: '', name: '' };
  expect(`${kind} ${namespace}/${name}`).toBe(on);
  expect(event?.note).toBe('Deleted 1 pod (Expired, policy default): a');
});

test('owners with one UID in two namespaces get one Event each', () => {
  const deletions = ['shop/a', 'tenant/b'].map((name) => deletion(name, { controller: owner('Job', 'j') }));
  expect(eventsOf(deletions).map(({ regarding, note }) => [regarding.namespace, note])).toEqual([
    ['shop', 'Deleted 1 pod (Expired, policy default): a'],
    ['tenant', 'Deleted 1 pod (Expired, policy default): b'],
  ]);
});

test('a note lists five pods and counts the others', () => {
  const deletions = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) =>
    deletion(name, { controller: owner('Job', 'j') }),
  );
  expect(eventsOf(deletions).map(({ note }) => note)).toEqual([
    'Deleted 7 pods (Expired, policy default): a, b, c, d, e and 2 more',
  ]);
});

test('with more than a hundred Events a pass is a backlog, with a summary per policy', () => {
  const collected = new CollectedByOwner(new Map());
  const ofOthers = {
    ...deletion('b', { controller: owner('Job', 'j') }),
    policy: policy({ name: 'others' }),
  };
  const hundred = [...Array.from({ length: 99 }, (_, i) => deletion(`a${i}`)), ofOthers, ofOthers, ofOthers];
  for (const one of hundred) collected.add(one);
  expect(collected.isBacklog).toBe(false);
  const all = [...hundred, deletion('one-more')];
  collected.add(deletion('one-more'));
  expect(collected.isBacklog).toBe(true);
  const notes = [...countByPolicy(all)].map(([of, pods]) => backlogCollected(of, pods).note.split(';')[0]);
  expect(notes).toEqual(['Deleted 100 pods in one pass', 'Deleted 3 pods in one pass']);
});

test('the Event of the circuit breaker has the number of missing nodes and the limit', () => {
  const safety = { maxDeletesPerPass: 0, maxOrphanedNodesPercent: 20 };
  expect(tripped({ policy: policy({ pods: { safety } }), missingNodes: 3, percent: 42.8 }).note).toBe(
    'Nodes missing: 3, 43 % of all; above 20 % (safety.maxOrphanedNodesPercent) dustpan deletes no orphaned pod',
  );
});
