import type { BadRow } from './table.ts';

const pods = (fields: object): object => ({ pods: fields });
const terminated = (fields: object): object => pods({ terminated: fields });
const rule = (fields: unknown): object => terminated({ ttlByReason: [fields] });
const podLabels = (matchLabels: unknown): object => pods({ podSelector: { matchLabels } });
const expression = (...matchExpressions: unknown[]): object => pods({ podSelector: { matchExpressions } });
const words = (count: number): string[] => Array.from({ length: count }, (_, i) => `w${i}`);

/** Policies that are wrong in general, or about pods. */
export const badForPods: readonly BadRow[] = [
  ['no spec', undefined, 'spec'],
  ['a spec that is a list', [], 'spec'],
  ['an unknown mode', { mode: 'Delete' }, 'spec.mode'],
  ['a mode in lower case', { mode: 'enforce' }, 'spec.mode'],
  ['a boolean mode', { mode: true }, 'spec.mode'],
  ['a priority in words', { priority: 'high' }, 'spec.priority'],
  ['a fractional priority', { priority: 1.5 }, 'spec.priority'],
  ['a priority out of bounds', { priority: 1_000_000_001 }, 'spec.priority'],
  ['pods that are a list', { pods: [] }, 'spec.pods'],
  ['a rule given as true', pods({ outOfService: true }), 'spec.pods.outOfService'],

  [
    'an excluded namespace that is none',
    pods({ excludeNamespaces: ['kube-*'] }),
    'spec.pods.excludeNamespaces[0]',
  ],
  ['an empty excluded namespace', pods({ excludeNamespaces: [''] }), 'spec.pods.excludeNamespaces[0]'],
  ['a null excluded namespace', pods({ excludeNamespaces: [null] }), 'spec.pods.excludeNamespaces[0]'],
  ['a namespace excluded twice', pods({ excludeNamespaces: ['a', 'a'] }), 'spec.pods.excludeNamespaces[1]'],
  ['too many excluded namespaces', pods({ excludeNamespaces: words(257) }), 'spec.pods.excludeNamespaces'],

  ['a selector that is a text', pods({ podSelector: 'app=x' }), 'spec.pods.podSelector'],
  ['a label key that is none', podLabels({ 'app=x': 'y' }), 'spec.pods.podSelector.matchLabels'],
  ['a label value that is none', podLabels({ app: 'a b' }), 'spec.pods.podSelector.matchLabels.app'],
  ['a label value that is a number', podLabels({ app: 1 }), 'spec.pods.podSelector.matchLabels.app'],
  [
    'too many labels',
    podLabels(Object.fromEntries(words(33).map((key) => [key, '']))),
    'spec.pods.podSelector.matchLabels',
  ],
  [
    'an expression without a key',
    expression({ operator: 'Exists' }),
    'spec.pods.podSelector.matchExpressions[0].key',
  ],
  [
    'an expression without an operator',
    expression({ key: 'a' }),
    'spec.pods.podSelector.matchExpressions[0].operator',
  ],
  [
    'an operator of node affinity',
    { nodes: { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] } } },
    'spec.nodes.nodeSelector.matchExpressions[0].operator',
  ],
  [
    'In without values',
    pods({ namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }),
    'spec.pods.namespaceSelector.matchExpressions[0].values',
  ],
  [
    'NotIn with an empty list',
    expression({ key: 'a', operator: 'NotIn', values: [] }),
    'spec.pods.podSelector.matchExpressions[0].values',
  ],
  [
    'Exists with values',
    expression({ key: 'a', operator: 'Exists' }, { key: 'b', operator: 'Exists', values: ['c'] }),
    'spec.pods.podSelector.matchExpressions[1].values',
  ],
  [
    'DoesNotExist with values',
    expression({ key: 'b', operator: 'DoesNotExist', values: ['c'] }),
    'spec.pods.podSelector.matchExpressions[0].values',
  ],

  ['a threshold in words', terminated({ threshold: 'x' }), 'spec.pods.terminated.threshold'],
  ['a threshold of no int32', terminated({ threshold: 2 ** 31 }), 'spec.pods.terminated.threshold'],
  ['a negative number to keep', terminated({ keepPerOwner: -1 }), 'spec.pods.terminated.keepPerOwner'],
  [
    'a switch in words',
    terminated({ protectUnfinishedJobs: 'yes' }),
    'spec.pods.terminated.protectUnfinishedJobs',
  ],
  [
    'honorTTLAnnotation as a text',
    terminated({ honorTTLAnnotation: 'true' }),
    'spec.pods.terminated.honorTTLAnnotation',
  ],
  ['a time to live in days', terminated({ ttlAfterFinished: '1d' }), 'spec.pods.terminated.ttlAfterFinished'],
  [
    'a time to live without a unit',
    terminated({ ttlAfterFinished: '3600' }),
    'spec.pods.terminated.ttlAfterFinished',
  ],
  [
    'a time to live as a number',
    terminated({ ttlAfterFinished: 3600 }),
    'spec.pods.terminated.ttlAfterFinished',
  ],
  [
    'a negative time to live',
    terminated({ ttlAfterFinished: '-1h' }),
    'spec.pods.terminated.ttlAfterFinished',
  ],
  [
    'a time to live over ten years',
    terminated({ ttlAfterFinished: '87601h' }),
    'spec.pods.terminated.ttlAfterFinished',
  ],
  [
    'a time to live beyond all counting',
    terminated({ ttlAfterFinished: `${'9'.repeat(31)}h` }),
    'spec.pods.terminated.ttlAfterFinished',
  ],
  [
    'an overlong time to live',
    terminated({ ttlAfterFinished: '1s'.repeat(17) }),
    'spec.pods.terminated.ttlAfterFinished',
  ],
  ['a rule without a time to live', rule({ reason: 'Evicted' }), 'spec.pods.terminated.ttlByReason[0].ttl'],
  ['a rule without a matcher', rule({ ttl: '1h' }), 'spec.pods.terminated.ttlByReason[0]'],
  [
    'a rule that matches any message',
    rule({ messagePattern: '', ttl: '1h' }),
    'spec.pods.terminated.ttlByReason[0]',
  ],
  [
    'a rule for running pods',
    rule({ phase: 'Running', ttl: '1h' }),
    'spec.pods.terminated.ttlByReason[0].phase',
  ],
  ['a rule for no reason', rule({ reason: '', ttl: '1h' }), 'spec.pods.terminated.ttlByReason[0].reason'],
  [
    'an overlong message pattern',
    rule({ messagePattern: 'x'.repeat(257), ttl: '1h' }),
    'spec.pods.terminated.ttlByReason[0].messagePattern',
  ],
  ['a rule that is a text', rule('Evicted'), 'spec.pods.terminated.ttlByReason[0]'],
  [
    'too many rules',
    terminated({ ttlByReason: Array(33).fill({ reason: 'x', ttl: '1h' }) }),
    'spec.pods.terminated.ttlByReason',
  ],
  ['a quarantine that is a number', pods({ orphaned: { quarantine: 40 } }), 'spec.pods.orphaned.quarantine'],
  [
    'a percentage over 100',
    pods({ safety: { maxOrphanedNodesPercent: 101 } }),
    'spec.pods.safety.maxOrphanedNodesPercent',
  ],
  [
    'a negative limit of deletes',
    pods({ safety: { maxDeletesPerPass: -1 } }),
    'spec.pods.safety.maxDeletesPerPass',
  ],
];
