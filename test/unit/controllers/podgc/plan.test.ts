import { test } from 'vitest';
import {
  finalizerHeld,
  labelled,
  node,
  pod,
  policy,
  terminatedRule,
  terminating,
} from '../../../builders.ts';
import { checkRow, type Row, aged, gone, outOfServiceNode, terminated } from './rows.ts';

/** One object for many pods, as the cache has it. */
const shared = { app: 'x' };

const rows: readonly Row[] = [
  {
    name: 'one decision a pod, by the first rule; rules in order',
    pods: [
      pod('unscheduled', { phase: 'Pending', ...terminating, nodeName: undefined }),
      pod('orphan', { ...gone, phase: 'Running' }),
      pod('service', { phase: 'Running', ...terminating }),
      aged('finished-orphan', 99, { nodeName: 'node-gone' }),
    ],
    nodes: [outOfServiceNode],
    policies: [
      policy({
        pods: {
          terminated: terminatedRule({ ttlAfterFinishedMs: 0 }),
          orphaned: { quarantineMs: 0 },
          outOfService: true,
          unscheduledTerminating: true,
        },
      }),
    ],
    deleted: [
      'finished-orphan Expired',
      'service OutOfService mark',
      'orphan Orphaned mark',
      'unscheduled Unscheduled mark',
    ],
  },
  {
    name: 'what waits for its finalizers alone goes by none of several rules',
    pods: [aged('done', 9), pod('held', { ...gone, phase: 'Failed', ...finalizerHeld })],
    policies: [
      policy({
        pods: { terminated: terminatedRule({ ttlAfterFinishedMs: 0 }), orphaned: { quarantineMs: 0 } },
      }),
    ],
    deleted: ['done Expired'],
    kept: ['held FinalizerHeld'],
  },
  {
    name: 'maxDeletesPerPass cuts the sequence',
    pods: [aged('a', 9), aged('b', 8), aged('c', 7)],
    policies: [
      policy({
        pods: {
          terminated: terminatedRule({ ttlAfterFinishedMs: 0 }),
          safety: { maxDeletesPerPass: 2, maxOrphanedNodesPercent: 20 },
        },
      }),
    ],
    deleted: ['a Expired', 'b Expired'],
    kept: ['c PacingLimit'],
  },
  {
    name: 'the keep label on pod, namespace or node takes a pod out and it is not counted',
    pods: [
      aged('pod', 9, { labels: { 'gc.dustpan.dev/keep': 'true' } }),
      aged('kept-ns/ns', 8),
      aged('node', 7, { nodeName: 'node-kept' }),
      aged('other', 6, { labels: { 'gc.dustpan.dev/keep': 'false' } }),
    ],
    namespaces: new Map([
      ['default', {}],
      ['kept-ns', { 'gc.dustpan.dev/keep': 'true' }],
    ]),
    nodes: [node('node-1'), node('node-kept', { labels: { 'gc.dustpan.dev/keep': 'true' } })],
    policies: [terminated({ threshold: 1 })],
    deleted: [],
    kept: ['pod KeepMarked', 'ns KeepMarked', 'node KeepMarked', 'other UnderThreshold'],
  },
  {
    name: 'pods that share their labels are told apart by namespace and by node, and from those with others, when they alternate',
    pods: [
      aged('a', 9, { labels: shared }),
      aged('kept-ns/b', 9, { labels: shared }),
      aged('c', 8, { labels: shared }),
      aged('new-ns/d', 9, { labels: shared }),
      aged('e', 9, { labels: shared, nodeName: 'node-kept' }),
      aged('kept-ns/f', 9, { labels: shared }),
      aged('g', 9, { labels: { 'gc.dustpan.dev/keep': 'true' } }),
      aged('h', 7, { labels: shared }),
      aged('kube-system/i', 9, { labels: shared }),
    ],
    namespaces: new Map([
      ['default', {}],
      ['kube-system', {}],
      ['kept-ns', { 'gc.dustpan.dev/keep': 'true' }],
    ]),
    nodes: [node('node-1'), node('node-kept', { labels: { 'gc.dustpan.dev/keep': 'true' } })],
    policies: [
      policy({
        pods: {
          excludeNamespaces: new Set(['kube-system']),
          terminated: terminatedRule({ ttlAfterFinishedMs: 0 }),
        },
      }),
    ],
    deleted: ['a Expired', 'c Expired', 'h Expired'],
    kept: [
      'b KeepMarked',
      'd NamespaceUnknown',
      'e KeepMarked',
      'f KeepMarked',
      'g KeepMarked',
      'i NoPolicy',
    ],
  },
  {
    name: 'no policy, or none that speaks of pods: nothing goes',
    pods: [aged('a', 9)],
    policies: [policy({ pods: undefined })],
    deleted: [],
    kept: ['a NoPolicy'],
  },
  {
    name: 'the policy of higher priority governs, and thresholds count only their own pods',
    pods: [
      aged('a', 9, { labels: { app: 'x' } }),
      aged('b', 8, { labels: { app: 'x' } }),
      aged('c', 7),
      aged('d', 6),
    ],
    policies: [
      policy({ name: 'low', pods: { terminated: terminatedRule({ threshold: 1 }) } }),
      policy({
        name: 'high',
        priority: 5,
        pods: { podSelector: labelled('app', 'x'), terminated: terminatedRule({ threshold: 2 }) },
      }),
    ],
    deleted: ['c Terminated'],
    kept: ['a UnderThreshold', 'b UnderThreshold', 'd UnderThreshold'],
  },
  {
    name: 'two policies, one sequence',
    pods: [aged('a', 9, { labels: { app: 'x' } }), aged('b', 8), aged('c', 7, { labels: { app: 'x' } })],
    policies: [
      policy({ name: 'low', pods: { terminated: terminatedRule({ ttlAfterFinishedMs: 0 }) } }),
      policy({
        name: 'high',
        priority: 5,
        pods: { podSelector: labelled('app', 'x'), terminated: terminatedRule({ ttlAfterFinishedMs: 0 }) },
      }),
    ],
    deleted: ['a Expired', 'b Expired', 'c Expired'],
  },
  {
    name: 'an invalid policy shields what stands behind it',
    pods: [aged('a', 9)],
    policies: [
      terminated({ ttlAfterFinishedMs: 0 }),
      { name: 'broken', uid: 'u', generation: 1, priority: undefined, problems: ['spec: must be an object'] },
    ],
    deleted: [],
    kept: ['a InvalidPolicy'],
  },
  {
    name: 'an invalid policy of lower priority shields nothing that is decided before it',
    pods: [aged('a', 9)],
    policies: [
      terminated({ ttlAfterFinishedMs: 0 }),
      { name: 'broken', uid: 'u', generation: 1, priority: -1, problems: ['spec: must be an object'] },
    ],
    deleted: ['a Expired'],
  },
  {
    name: 'a pod whose namespace is not known yet stays',
    pods: [aged('a', 9)],
    namespaces: new Map(),
    policies: [terminated({ ttlAfterFinishedMs: 0 })],
    deleted: [],
    kept: ['a NamespaceUnknown'],
  },
  {
    name: 'mode DryRun decides the same',
    pods: [aged('a', 9)],
    policies: [policy({ mode: 'DryRun', pods: { terminated: terminatedRule({ ttlAfterFinishedMs: 0 }) } })],
    deleted: ['a Expired'],
  },
];

test.each(rows)('$name', checkRow);
