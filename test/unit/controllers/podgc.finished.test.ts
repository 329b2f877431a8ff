import { expect, test } from 'vitest';
import type { FinishedPods } from '../../../src/controllers/podgc/facts.ts';
import { planPodGc } from '../../../src/controllers/podgc/plan.ts';
import { finalizerHeld, node, now, owner } from '../../builders.ts';
import { aged, terminated } from './podgc.world.ts';

const held = aged('x/held', 9, finalizerHeld);
const [first, second] = [aged('x/first', 8), aged('x/second', 7)];
const policy = terminated({ threshold: 10, perNamespaceThreshold: 10 });

function finishedPods(): FinishedPods {
  const facts = {
    pods: [second, held, first],
    nodes: new Map([['node-1', node('node-1')]]),
    namespaces: new Map([['x', {}]]),
    jobsFinished: undefined,
    replicaSetOwners: new Map([['uid', owner('Deployment', 'd')]]),
    seenNodes: new Set<string>(),
    missingForMs: new Map<string, number>(),
    finishedForMs: new Map<string, number>(),
  };
  const finished = planPodGc(facts, { policies: [policy], now }).finished(policy);
  if (finished === undefined) throw new Error('the policy has a rule for finished pods');
  return finished;
}

test('the turn of a pod counts those that can go before it; what cannot go has none', () => {
  const finished = finishedPods();
  expect([first, second, held].map((pod) => finished.turnOf(pod))).toEqual([1, 2, undefined]);
  expect([first, second, held].map((pod) => finished.turnInNamespaceOf(pod))).toEqual([1, 2, undefined]);
});

test('a threshold counts the pods that can be deleted, a namespace those that the threshold leaves in it', () => {
  const finished = finishedPods();
  expect([finished.all, finished.inNamespace('x'), finished.inNamespace('empty')]).toEqual([
    { counted: 2, held: 1 },
    { counted: 2, held: 1 },
    { counted: 0, held: 0 },
  ]);
});
