import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PodGcPlan } from '../../../../src/controllers/podgc/facts.ts';
import { worlds } from '../../../worlds.ts';
import {
  facts,
  given,
  invented,
  lineOf,
  planned,
  testClusters,
  unlimited,
  withRules,
} from './arbitraries.ts';

testClusters('deletes no orphan while the circuit breaker is open', (seen, how) => {
  const plan = planned(seen, how);
  const orphans = plan.deletions.filter(({ reason }) => reason === 'Orphaned');
  // At least the names of former Nodes.
  const real = orphans.filter(
    ({ target: { pod: one } }) => one.nodeExisted || seen.seenNodes.has(one.nodeName ?? ''),
  );
  const missing = new Set(real.map(({ target: { node } }) => node)).size;
  for (const { policy: by } of orphans) {
    const all = missing + (seen.nodes?.size ?? 0);
    const { maxOrphanedNodesPercent: max = 0 } = by.pods?.safety ?? {};
    expect(missing).toBeLessThanOrEqual(max === 0 ? 0 : Math.max(1, (all * max) / 100));
    expect(plan.policies.find(({ policy: one }) => one === by)?.trippedPercent).toBeUndefined();
    const isOn = (by.pods?.safety.maxOrphanedNodesPercent ?? 0) < 100;
    if (isOn) expect(seen.leftOpenForMs.get(by.name)).not.toBe(39_999);
  }
});

test('invented nodes neither change the deletions of other orphans nor open the circuit breaker', () => {
  let orphans = 0;
  fc.assert(
    fc.property(facts, invented, given, (seen, made, how) => {
      const ofNodesAlone = withRules(how, (rules) => ({ ...unlimited(rules), terminated: undefined }));
      const missingForMs = new Map([
        ...seen.missingForMs,
        ...made.map(({ nodeName = '' }) => [nodeName, 0] as const),
      ]);
      const plan = planned(seen, ofNodesAlone);
      const other = planned({ ...seen, pods: [...seen.pods, ...made], missingForMs }, ofNodesAlone);
      const ofNodes = ({ deletions }: PodGcPlan): string[] =>
        deletions.filter(({ reason }) => reason === 'Orphaned').map(lineOf);
      expect(ofNodes(other)).toEqual(ofNodes(plan));
      expect(other.policies.map(({ missingNodes }) => missingNodes)).toEqual(
        plan.policies.map(({ missingNodes }) => missingNodes),
      );
      orphans += ofNodes(plan).length;
    }),
    worlds,
  );
  expect(orphans).toBeGreaterThan(10);
});

testClusters('without the nodes or the namespaces, no rule that needs them deletes a pod', (seen, how) => {
  const reasons = planned({ ...seen, nodes: undefined }, how).deletions.map(({ reason }) => reason);
  expect(reasons).not.toContain('Orphaned');
  expect(reasons).not.toContain('OutOfService');
  expect(planned({ ...seen, namespaces: new Map() }, how).deletions).toEqual([]);
});

test('the random clusters are such that the circuit breaker is open in some of them, and orphans are deleted in others', () => {
  const plans = fc.sample(fc.tuple(facts, given), worlds.numRuns).map(([seen, how]) => planned(seen, how));
  const open = plans.filter(({ policies }) =>
    policies.some(({ trippedPercent }) => trippedPercent !== undefined),
  );
  const deleting = plans.filter(({ deletions }) => deletions.some(({ reason }) => reason === 'Orphaned'));
  expect(open.length).toBeGreaterThan(2);
  expect(deleting.length).toBeGreaterThan(worlds.numRuns / 10);
});
