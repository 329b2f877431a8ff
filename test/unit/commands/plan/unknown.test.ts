import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import { planOf } from '../../../../src/evaluation/plan/plan.ts';
import { unknownIn } from '../../../../src/evaluation/plan/unknown.ts';
import type { PlanFacts } from '../../../../src/snapshot/plan-facts.ts';
import { labelled, node, now, policy } from '../../../builders.ts';
import { imageRule } from '../../agent/imagegc/builders.ts';
import { usage } from '../../agent/localstorage/builders.ts';
import { pressurePolicy } from '../../agent/nodepressure/builders.ts';
import { noCheckpointLimits, rule } from '../../agent/containergc/builders.ts';
import { terminated } from '../../controllers/podgc/rows.ts';
import { broken, factsOf, keepMark, nodesPolicy, partOf } from '../facts.ts';

const images = { ...nodesPolicy({ imageGC: imageRule() }), name: 'images' };
const containers = { ...nodesPolicy({ containerGC: rule() }), name: 'containers' };
const nodes = [node('b'), node('a'), { ...node('kept'), labels: keepMark }];

/** `POLICY: pods` or `POLICY: NODES`; '-' = everything is known. */
function unknownOf(policies: readonly Policy[], over: Partial<PlanFacts>, ofPods = false): string {
  const unknown = unknownIn({ ...factsOf({ policies, nodes }), ...over }, ofPods);
  const texts = unknown.map(
    (one) => `${one.policy}: ${one.what === 'nodes' ? (one.nodes?.join() ?? 'all nodes') : one.what}`,
  );
  return texts.join('; ') || '-';
}

const ttl = terminated({ ttlAfterFinishedMs: 0 });
const ofJobs = terminated({ protectUnfinishedJobs: true });
const ofOwners = terminated({ keepPerOwner: 1 });
const orphaned = policy({ pods: { orphaned: { quarantineMs: 0 } } });
const app = { namespace: 'app', selector: undefined };
const evictions = {
  ...nodesPolicy({ nodePressure: pressurePolicy({ evictPods: true }) }),
  name: 'evictions',
};
const measured = ['a', 'b'].map((name) => partOf({ name, usage: usage({}) }));
const read = ['a', 'b'].map((name) => partOf({ name }));

describe('what a plan leaves open', () => {
  test.each<[string, readonly Policy[], Partial<PlanFacts>, string]>([
    ['everything, without policies', [], { policies: undefined }, 'null: policies'],
    ['nothing, under a rule for pods', [ttl], {}, '-'],
    ['pods, which are not known', [ttl, images], { pods: undefined, parts: read }, 'default: pods'],
    ['pods, without namespaces', [ttl], { namespaces: undefined }, 'default: pods'],
    ['other pods than a part', [ttl], { part: app }, 'default: pods'],
    ['nothing, without nodes, where no rule needs them', [ttl], { nodes: undefined }, '-'],
    ['orphaned pods, without nodes', [orphaned], { nodes: undefined }, 'default: pods'],
    ['pods of Jobs, without these', [ofJobs], { jobs: undefined }, 'default: pods'],
    ['pods of owners, without ReplicaSets', [ofOwners], { jobs: new Map() }, 'default: pods'],
    ['nothing, where the controller keeps what depends on owners', [ofJobs], { isBlindToOwners: true }, '-'],
    ['nodes that were not read; one with the keep label is known', [images], {}, 'images: a,b'],
    ['the other one, where one was read', [images], { parts: [partOf({ name: 'a' })] }, 'images: b'],
    [
      'one of which a fact is missing',
      [images],
      { parts: [partOf({ name: 'a', images: undefined }), partOf({ name: 'b' })] },
      'images: a',
    ],
    [
      'one whose pods are not known',
      [images],
      { parts: [partOf({ name: 'b' }), partOf({ name: 'a', pods: undefined })] },
      'images: a',
    ],
    [
      'evictions on nodes, without namespaces',
      [evictions],
      { namespaces: undefined, parts: measured },
      'evictions: a,b',
    ],
    ['nothing of them with namespaces', [evictions], { parts: measured }, '-'],
    ['nothing, where no agent is installed', [images], { noAgents: true }, '-'],
    ['nodes whose list is not known', [images], { nodes: undefined }, 'images: all nodes'],
    [
      'nothing on nodes that no policy selects',
      [{ ...images, nodes: { ...images.nodes, nodeSelector: labelled('x', 'y') } } as Policy],
      {},
      '-',
    ],
  ])('%s', (_, policies, over, expected) => {
    expect(unknownOf(policies, over)).toBe(expected);
  });

  test('has a remedy where a node was not requested, not where the runtime did not have a fact, or nobody could read it', () => {
    const remedyOf = (over: Partial<PlanFacts>) =>
      unknownIn({ ...factsOf({ policies: [images] }), moreNodes: 'add --nodes', ...over }, false).map(
        ({ remedy }) => remedy,
      );
    const unread = [{ name: partOf({}).name, problem: 'no agent' }];
    expect(remedyOf({ parts: [] })).toEqual(['add --nodes']);
    expect(remedyOf({ parts: [partOf({ images: undefined })] })).toEqual([null]);
    expect(remedyOf({ parts: [], unread })).toEqual([null]);
  });

  test('an answer about pods leaves no image open', () => {
    expect(unknownOf([images], {}, true)).toBe('-');
    expect(unknownOf([containers], {}, true)).toBe('containers: a,b');
  });
});

const config = { kept: false, assumeElapsed: false, now, laterMs: 0 };
const everything = { namespace: undefined, selector: undefined };
const between = (replaced: readonly (Policy | typeof broken)[], policies: readonly Policy[]) =>
  planOf(
    { ...factsOf({ policies, nodes }), replaced },
    { ...config, filter: everything },
  ).changes?.unknown.map(({ policy: name }) => name);

test('a comparison leaves only the objects open about which the policies differ', () => {
  const other = { ...images, nodes: { ...images.nodes, imageGC: imageRule({ keep: ['x'] }) } } as Policy;
  expect(between([images, broken], [images, ttl])).toEqual(['images', 'images']);
  expect(between([images], [images, ttl])).toEqual([]);
  expect(between([images], [other])).toEqual(['images', 'images']);
});

test.each([
  ['checkpoints', nodesPolicy({ checkpoints: noCheckpointLimits }), ['containergc']],
  ['orphans', nodesPolicy({ orphans: { podCgroups: 'Remove', podDirectories: 'Remove' } }), ['containergc']],
  ['images', images, ['imagegc']],
] as const)('a policy with rules for %s has the totals of their unit', (_, rules, units) => {
  const facts = { ...factsOf({ policies: [rules], nodes }), parts: [partOf({ name: 'a' })] };
  const { totals } = planOf(facts, { ...config, filter: everything });
  expect(totals.flatMap(({ unit, node: on }) => (on === 'a' ? [unit] : []))).toEqual(units);
});
