import { expect, test } from 'vitest';
import { unmatchedSelectors } from '../../../src/api/policy/unmatched.ts';
import { everything, labelled, node, nodesRules, pod, policy } from '../../builders.ts';
import { namespaceOf } from '../commands/facts.ts';

type Rules = Parameters<typeof policy>[0];
type Cluster = Parameters<typeof unmatchedSelectors>[1];

const cluster: Cluster = {
  nodes: [node('node-1', { labels: { pool: 'ci' } })],
  namespaces: [namespaceOf('default', { team: 'a' }), namespaceOf('other')],
  pods: [pod('web', { labels: { app: 'web' } }), pod('other/db', { labels: { app: 'db' } })],
};
const ofNodes = (key: string, value: string): Rules => ({
  pods: undefined,
  nodes: nodesRules({ nodeSelector: labelled(key, value) }),
});

test.each<[name: string, rules: Rules, of: Partial<Cluster>, fields: readonly string[]]>([
  ['everything', { nodes: nodesRules() }, {}, []],
  ['a label of a node', ofNodes('pool', 'ci'), {}, []],
  ['a label of no node', ofNodes('pool', 'cl'), {}, ['nodes.nodeSelector']],
  ['the nodes are not known', ofNodes('pool', 'cl'), { nodes: undefined }, []],
  ['there are no nodes', ofNodes('pool', 'cl'), { nodes: [] }, []],
  ['a label of a namespace', { pods: { namespaceSelector: labelled('team', 'a') } }, {}, []],
  [
    'a label of no namespace',
    { pods: { namespaceSelector: labelled('team', 'b') } },
    {},
    ['pods.namespaceSelector'],
  ],
  ['a label of a pod', { pods: { podSelector: labelled('app', 'db') } }, {}, []],
  ['a label of no pod', { pods: { podSelector: labelled('app', 'dB') } }, {}, ['pods.podSelector']],
  [
    'a label of pods in namespaces that are not selected',
    { pods: { namespaceSelector: labelled('team', 'a'), podSelector: labelled('app', 'db') } },
    {},
    ['pods.podSelector'],
  ],
  [
    'a label of pods in namespaces that are excluded',
    { pods: { podSelector: labelled('app', 'db'), excludeNamespaces: new Set(['oth*']) } },
    {},
    ['pods.podSelector'],
  ],
  ['the pods are not known', { pods: { podSelector: labelled('app', 'x') } }, { pods: undefined }, []],
  [
    'the namespaces are not known',
    { pods: { podSelector: labelled('app', 'x') } },
    { namespaces: undefined },
    [],
  ],
  ['no pod is there', { pods: { podSelector: labelled('app', 'x') } }, { pods: [] }, []],
])('selectors that select nothing: %s', (_, rules, over, fields) => {
  expect(unmatchedSelectors(policy(rules), { ...cluster, ...over }).map(({ field }) => field)).toEqual(
    fields,
  );
  expect(unmatchedSelectors(policy({ pods: { namespaceSelector: everything } }), cluster)).toEqual([]);
});
