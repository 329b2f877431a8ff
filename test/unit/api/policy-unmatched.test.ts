import { expect, test } from 'vitest';
import { unmatchedNames, unmatchedSelectors } from '../../../src/api/policy/unmatched.ts';
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

const excluding = (...names: readonly string[]) => ({ excludeNamespaces: new Set(names) });

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

test.each<[name: string, rules: Rules, namespaces: Cluster['namespaces'], expected: readonly string[]]>([
  ['an entry and a glob', { pods: excluding('other', 'def*') }, cluster.namespaces, []],
  ['a misspelt one', { pods: excluding('others') }, cluster.namespaces, ['pods.excludeNamespaces others']],
  ['the namespaces are not known', { pods: excluding('others') }, undefined, []],
  ['there are no namespaces', { pods: excluding('others') }, [], []],
  [
    'of the nodes, which repeat those of the pods',
    { pods: excluding('x'), nodes: nodesRules(excluding('x', 'y-*', 'other')) },
    cluster.namespaces,
    ['pods.excludeNamespaces x', 'nodes.excludeNamespaces y-*'],
  ],
  [
    'of the nodes alone',
    { pods: undefined, nodes: nodesRules(excluding('y')) },
    cluster.namespaces,
    ['nodes.excludeNamespaces y'],
  ],
])('excluded namespaces that match nothing: %s', (_, rules, namespaces, expected) => {
  const found = unmatchedNames(policy(rules), namespaces);
  expect(found.map(({ field, entries }) => `${field} ${entries.join(' ')}`)).toEqual(expected);
});
