import { miswritten, rowsOf, type BadPolicy } from './rows.ts';

const labels = (matchLabels: unknown): object => ({ matchLabels });
const expressions = (...matchExpressions: readonly object[]): object => ({ matchExpressions });
/** An expression after a correct one. */
const second = (operator: string, values: readonly string[]): object =>
  expressions({ key: 'a', operator: 'Exists' }, { key: 'b', operator, values });
const rules = (...ttlByReason: readonly unknown[]): object => ({ ttlByReason });
const words = (count: number): string[] => Array.from({ length: count }, (_, i) => `w${i}`);

/** Durations with the correction that every message has. */
export const miswrittenDurations = {
  '7 days': '7d',
  '7D': '7d',
  '2weeks': '2w',
  ' 1d': '1d',
  '1h 30m': '1h30m',
  '36 hrs': '36h',
  '': '',
  '30': '',
  '-1h': '',
  '1y': '',
  '1.5d': '',
  '1h 7d': '',
  '87601h': '',
} as const;

/** Policies that are wrong in general, or about pods. */
export const badForPods: readonly BadPolicy[] = [
  ...rowsOf('', [
    ['no spec', undefined, ''],
    ['an unknown mode', { mode: 'Delete' }, 'mode'],
    ['a fractional priority', { priority: 1.5 }, 'priority'],
    ['a priority out of bounds', { priority: 1_000_000_001 }, 'priority'],
  ]),
  ...rowsOf('pods', [
    ['a rule given as true', { outOfService: true }, 'outOfService'],
    ['a null excluded namespace', { excludeNamespaces: [null] }, 'excludeNamespaces[0]'],
    ['a namespace excluded twice', { excludeNamespaces: ['a', 'a'] }, 'excludeNamespaces[1]'],
    ['a quarantine that is a number', { orphaned: { quarantine: 40 } }, 'orphaned.quarantine'],
  ]),
  ...rowsOf('pods.podSelector', [
    ['a label key that is none', labels({ 'app=x': 'y' }), 'matchLabels'],
    [
      'a key with a space',
      expressions({ key: 'a ', operator: 'Exists' }),
      'matchExpressions[0].key',
      'must be a label key, such as example.com/team',
    ],
    ['a label value that is a number', labels({ app: 1 }), 'matchLabels.app'],
    ['an expression without a key', expressions({ operator: 'Exists' }), 'matchExpressions[0].key'],
    ['an expression without an operator', expressions({ key: 'a' }), 'matchExpressions[0].operator'],
    ['NotIn with an empty list', second('NotIn', []), 'matchExpressions[1].values'],
    ['Exists with values', second('Exists', ['c']), 'matchExpressions[1].values'],
  ]),
  ...miswritten(
    ['pods.podSelector', 'matchLabels.app'],
    (app) => labels({ app }),
    'must be a label value: letters and digits, with - _ . between them',
    { ' a': 'a', 'a b': '', '-a': '' },
  ),
  ...miswritten(
    ['pods.podSelector', 'matchExpressions[1].values[1]'],
    (value) => second('In', ['c', value]),
    'must be a label value: letters and digits, with - _ . between them',
    { 'd ': 'd', 'd,e': '' },
  ),
  ...miswritten(
    ['pods', 'excludeNamespaces[0]'],
    (name) => ({ excludeNamespaces: [name] }),
    'must be the name of one namespace, or a glob such as kube-*',
    {
      ' kube-system ': 'kube-system',
      'Kube-*': 'kube-*',
      'kube-.*': 'kube-*',
      '^kube-.*$': 'kube-*',
      '.*': '*',
      '^kube': '',
      'a, b': '',
      'a b': '',
      '': '',
    },
  ),
  ...rowsOf('pods.namespaceSelector', [
    ['In without values', expressions({ key: 'a', operator: 'In' }), 'matchExpressions[0].values'],
  ]),
  ...rowsOf('nodes.nodeSelector', [
    [
      'an operator of node affinity',
      expressions({ key: 'a', operator: 'Gt', values: ['1'] }),
      'matchExpressions[0].operator',
    ],
  ]),
  ...rowsOf('pods.terminated', [
    ['a threshold of no int32', { threshold: 2 ** 31 }, 'threshold'],
    ['numbers to keep in keepPerOwner', { keepPerOwner: { failed: 1 } }, 'keepPerOwner'],
    ['a number to keep for phases', { keepPerOwnerByPhase: 1 }, 'keepPerOwnerByPhase'],
    [
      'a negative number to keep of a phase',
      { keepPerOwnerByPhase: { failed: -1 } },
      'keepPerOwnerByPhase.failed',
    ],
    ['honorTTLAnnotation as a text', { honorTTLAnnotation: 'true' }, 'honorTTLAnnotation'],
    ['a time to live as a number', { ttlAfterFinished: 3600 }, 'ttlAfterFinished'],
    ['a time to live beyond all counting', { ttlAfterFinished: `${'9'.repeat(31)}h` }, 'ttlAfterFinished'],
    ['an overlong time to live', { ttlAfterFinished: '1s'.repeat(17) }, 'ttlAfterFinished'],
    ['a rule without a time to live', rules({ reason: 'Evicted' }), 'ttlByReason[0].ttl'],
    ['a rule without a matcher', rules({ ttl: '1h' }), 'ttlByReason[0]'],
    ['a rule that matches any message', rules({ messagePattern: '', ttl: '1h' }), 'ttlByReason[0]'],
    ['a rule for running pods', rules({ phase: 'Running', ttl: '1h' }), 'ttlByReason[0].phase'],
    ['a rule for no reason', rules({ reason: '', ttl: '1h' }), 'ttlByReason[0].reason'],
    ['no exit code', rules({ exitCodes: [], ttl: '1h' }), 'ttlByReason[0].exitCodes'],
    [
      'an exit code of more than 32 bits',
      rules({ exitCodes: [2 ** 31], ttl: '1h' }),
      'ttlByReason[0].exitCodes[0]',
    ],
    ['an exit code twice', rules({ exitCodes: [1, 1], ttl: '1h' }), 'ttlByReason[0].exitCodes[1]'],
    [
      'an overlong message pattern',
      rules({ messagePattern: 'x'.repeat(257), ttl: '1h' }),
      'ttlByReason[0].messagePattern',
    ],
    ['too many rules', rules(...words(33).map((reason) => ({ reason, ttl: '1h' }))), 'ttlByReason'],
  ]),
  ...miswritten(
    ['pods.terminated', 'ttlAfterFinished'],
    (ttlAfterFinished) => ({ ttlAfterFinished }),
    'must be a duration from 0s to 87600h, such as 90s, 1h30m or 7d',
    miswrittenDurations,
  ),
  ...miswritten(
    ['pods.terminated', 'ttlByReason[0].messagePattern'],
    (messagePattern) => rules({ messagePattern, ttl: '1h' }),
    'must be a glob, not a regular expression, such as *ephemeral-storage*',
    { '^.*OOMKilled.*$': '*OOMKilled*', '.*OOMKilled.*': '*OOMKilled*', '^OOMKilled': '', OOMKilled$: '' },
  ),
  ...rowsOf('pods.safety', [
    ['a percentage over 100', { maxOrphanedNodesPercent: 101 }, 'maxOrphanedNodesPercent'],
    ['a negative limit of deletes', { maxDeletesPerPass: -1 }, 'maxDeletesPerPass'],
  ]),
];
