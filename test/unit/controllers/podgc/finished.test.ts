import { expect, test } from 'vitest';
import { planPodGc } from '../../../../src/controllers/podgc/plan.ts';
import { podReasons } from '../../../../src/gc/reasons/pods.ts';
import { explain } from '../../../../src/gc/reasons/entry.ts';
import { finalizerHeld, node, now, owner } from '../../../builders.ts';
import { aged, terminated } from './rows.ts';

const pods = [aged('x/second', 7), aged('x/held', 9, finalizerHeld), aged('x/first', 8)];

/** The sentences about the pods that stay, by name. */
function details(over: Parameters<typeof terminated>[0]): Readonly<Record<string, string>> {
  const facts = {
    pods,
    nodes: new Map([['node-1', node('node-1')]]),
    namespaces: new Map([['x', {}]]),
    jobsFinished: undefined,
    replicaSetOwners: new Map([['uid', owner('Deployment', 'd')]]),
    seenNodes: new Set<string>(),
    missingForMs: new Map<string, number>(),
    finishedForMs: new Map<string, number>(),
  };
  const { kept } = planPodGc(facts, { policies: [terminated(over)], now });
  return Object.fromEntries([...kept].map((one) => [one.target.name, explain(podReasons, one).detail]));
}

test('the place of a pod counts the pods that can be deleted before it, and a threshold only those that can be deleted', () => {
  const { first, second, held } = details({ threshold: 10, perNamespaceThreshold: 5 });
  const more = '2 have finished (1 more cannot be deleted now and does not count)';
  expect(first).toBe(
    `Of the pods of this policy, ${more} and 10 may stay; this one would be the 1st to be deleted. Of its pods in namespace x, ${more} and 5 may stay; this one would be the 1st to be deleted.`,
  );
  expect(second).toBe(
    `Of the pods of this policy, ${more} and 10 may stay; this one would be the 2nd to be deleted. Of its pods in namespace x, ${more} and 5 may stay; this one would be the 2nd to be deleted.`,
  );
  expect(held).toMatch(/^It was deleted at .*, and waits only for its finalizers: example.com\/backup.$/);
});

test('without perNamespaceThreshold only the pods of the policy are counted', () => {
  const failed = { phase: 'Failed', reason: undefined, messagePattern: undefined, ttlMs: 1 };
  expect(details({ threshold: 1, ttlByReason: [failed] })['second']).toBe(
    'Of the pods of this policy, 2 have finished (1 more cannot be deleted now and does not count) and 1 may stay, so the first is deleted; this one is the 2nd.',
  );
});

test('iterated twice, the pods that stay are the same', () => {
  expect(details({})).toEqual(details({}));
  expect(Object.keys(details({}))).toHaveLength(3);
});
