import { test } from 'vitest';
import type { Policy, TerminatedPolicy } from '../../../../src/api/policy/policy.ts';
import { labelled, node, pod, policy, terminatedRule, terminating, selectingAll } from '../../../builders.ts';
import { keepLabel } from './environment.ts';
import { checkRow, type Row, aged, onMissingNode, outOfServiceNode, terminated } from './rows.ts';

/** One object for many pods, as in the cache. */
const ofX = { labels: { app: 'x' } } as const;
const expired = terminatedRule({ ttlAfterFinishedMs: 0 });
const expire = policy({ pods: { terminated: expired } });
/** Governs the pods of app x. */
const high = (rule: TerminatedPolicy): Policy =>
  policy({ name: 'high', priority: 5, pods: { podSelector: labelled('app', 'x'), terminated: rule } });
const invalid = (priority: number | undefined) => ({
  ...{ name: 'broken', uid: 'u', generation: 1, priority, problems: ['spec: must be an object'] },
  ...selectingAll,
});
/** A namespace and a node with the keep label. */
const kept = {
  namespaces: new Map<string, Record<string, string>>([
    ['default', {}],
    ['kept-ns', keepLabel],
  ]),
  nodes: [node('node-1'), node('node-kept', { labels: keepLabel })],
};

const rows: readonly Row[] = [
  {
    name: 'one decision per pod, by the first rule; in the order of the rules',
    pods: [
      pod('unscheduled', { phase: 'Pending', ...terminating, nodeName: undefined }),
      pod('orphan', { ...onMissingNode, phase: 'Running' }),
      pod('service', { phase: 'Running', ...terminating }),
      aged('finished-orphan', 99, { nodeName: 'node-gone' }),
    ],
    nodes: [outOfServiceNode],
    policies: [
      policy({
        pods: {
          ...{ terminated: expired, orphaned: { quarantineMs: 0 } },
          ...{ outOfService: true, unscheduledTerminating: true },
        },
      }),
    ],
    deleted: [
      ...['finished-orphan Expired', 'service OutOfService mark', 'orphan Orphaned mark'],
      'unscheduled Unscheduled mark',
    ],
  },
  {
    name: 'maxDeletesPerPass limits the deletions',
    pods: [aged('a', 9), aged('b', 8), aged('c', 7)],
    policies: [
      policy({
        pods: { terminated: expired, safety: { maxDeletesPerPass: 2, maxOrphanedNodesPercent: 20 } },
      }),
    ],
    deleted: ['a Expired', 'b Expired'],
    kept: ['c PacingLimit'],
  },
  {
    name: 'the keep label on pod, namespace or node keeps a pod, and no threshold counts it',
    pods: [
      ...[aged('pod', 9, { labels: keepLabel }), aged('kept-ns/ns', 8)],
      aged('node', 7, { nodeName: 'node-kept' }),
      aged('other', 6, { labels: { 'gc.dustpan.dev/keep': 'false' } }),
    ],
    ...kept,
    policies: [terminated({ threshold: 1 })],
    deleted: [],
    kept: ['pod KeepMarked', 'ns KeepMarked', 'node KeepMarked', 'other UnderThreshold'],
  },
  {
    name: 'the policy of higher priority governs, and a threshold counts only the pods of its policy',
    pods: [aged('a', 9, ofX), aged('b', 8, ofX), aged('c', 7), aged('d', 6)],
    policies: [terminated({ threshold: 1 }), high(terminatedRule({ threshold: 2 }))],
    deleted: ['c Terminated'],
    kept: ['a UnderThreshold', 'b UnderThreshold', 'd UnderThreshold'],
  },
  {
    name: 'the pods of two policies are deleted in one order',
    pods: [aged('a', 9, ofX), aged('b', 8), aged('c', 7, ofX)],
    policies: [expire, high(expired)],
    deleted: ['a Expired', 'b Expired', 'c Expired'],
  },
  {
    name: 'an invalid policy without a priority keeps all pods',
    pods: [aged('a', 9)],
    policies: [expire, invalid(undefined)],
    deleted: [],
    kept: ['a InvalidPolicy'],
  },
];

test.each(rows)('$name', checkRow);
