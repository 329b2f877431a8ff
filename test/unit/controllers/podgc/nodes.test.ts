import { test } from 'vitest';
import { finalizerHeld, labelled, node, pod, policy, terminating } from '../../../builders.ts';
import { checkRow, type Row, gone, outOfServiceNode, orphaned } from './rows.ts';

const rows: readonly Row[] = [
  {
    name: 'an orphan past the quarantine goes, marked unless it had finished',
    world: {
      pods: [
        pod('running', gone),
        pod('done', { ...gone, phase: 'Failed' }),
        pod('here', { phase: 'Running' }),
      ],
    },
    policies: [orphaned()],
    goes: ['done Orphaned', 'running Orphaned mark'],
    stays: ['here NotTerminated'],
  },
  ...[
    { ms: 39_999, goes: [], stays: ['a Quarantined 12:00:00'] },
    { ms: 40_000, goes: ['a Orphaned mark'], stays: [] },
    { ms: 0, goes: [], stays: ['a Quarantined 12:00:40'] },
  ].map(({ ms, goes, stays }) => ({
    name: `missing for ${ms} ms of 40 s`,
    world: { pods: [pod('a', gone)], missingForMs: new Map([['node-gone', ms]]) },
    policies: [orphaned()],
    goes,
    stays,
  })),
  {
    name: 'a node of which nobody says since when it is missing starts its quarantine',
    world: { pods: [pod('a', gone)], missingForMs: new Map([['another', 40_000]]) },
    policies: [orphaned()],
    goes: [],
    stays: ['a Quarantined 12:00:40'],
  },
  {
    name: 'over the percentage of missing nodes no orphan goes',
    world: {
      pods: [pod('a', gone), pod('b', { ...gone, nodeName: 'node-gone-2' })],
      nodes: ['1', '2', '3', '4', '5', '6', '7'].map((n) => node(`node-${n}`)),
    },
    policies: [orphaned(40_000, 20)],
    goes: [],
    stays: ['a Tripped', 'b Tripped'],
  },
  ...[
    { name: 'names that were never a Node open no breaker: their pods go', over: {}, seen: [], goes: true },
    {
      name: 'a name that was seen as a Node counts',
      over: {},
      seen: ['node-gone', 'node-gone-2'],
      goes: false,
    },
    {
      name: 'a name on which a kubelet started a pod counts',
      over: { started: true },
      seen: [],
      goes: false,
    },
  ].map(({ name, over, seen, goes }) => ({
    name,
    world: {
      pods: [
        pod('a', { ...gone, started: false, ...over }),
        pod('b', { ...gone, started: false, ...over, nodeName: 'node-gone-2' }),
      ],
      nodes: ['1', '2', '3', '4', '5', '6', '7'].map((n) => node(`node-${n}`)),
      seenNodes: new Set(seen),
    },
    policies: [orphaned(40_000, 20)],
    goes: goes ? ['a Orphaned mark', 'b Orphaned mark'] : [],
    stays: goes ? [] : ['a Tripped', 'b Tripped'],
  })),
  {
    name: 'pods that wait for their finalizers alone make no node missing for the breaker',
    world: {
      pods: [
        pod('a', gone),
        pod('held', { ...gone, phase: 'Failed', ...finalizerHeld, nodeName: 'node-gone-2' }),
      ],
      nodes: ['1', '2', '3', '4'].map((n) => node(`node-${n}`)),
      seenNodes: new Set(['node-gone-2']),
    },
    policies: [orphaned(40_000, 20)],
    goes: ['a Orphaned mark'],
    stays: ['held FinalizerHeld'],
  },
  {
    name: 'without any Node the breaker is open, whatever names pods refer to',
    world: { pods: [pod('a', { ...gone, started: false })], nodes: [] },
    policies: [orphaned(40_000, 20)],
    goes: [],
    stays: ['a Tripped'],
  },
  {
    name: 'at the percentage they go',
    world: { pods: [pod('a', gone)], nodes: ['1', '2', '3', '4'].map((n) => node(`node-${n}`)) },
    policies: [orphaned(40_000, 20)],
    goes: ['a Orphaned mark'],
  },
  {
    name: '100 percent never trips, even with no node left',
    world: { pods: [pod('a', gone)], nodes: [] },
    policies: [orphaned(40_000, 100)],
    goes: ['a Orphaned mark'],
  },
  {
    name: 'the orphan of a Job goes even uncounted',
    world: {
      pods: [pod('a', { ...gone, phase: 'Failed', finalizers: ['batch.kubernetes.io/job-tracking'] })],
    },
    policies: [orphaned()],
    goes: ['a Orphaned'],
  },
  {
    name: 'an orphan held by finalizers alone is not deleted again',
    world: { pods: [pod('a', { ...gone, phase: 'Failed', ...finalizerHeld })] },
    policies: [orphaned()],
    goes: [],
    stays: ['a FinalizerHeld'],
  },
  {
    name: 'an orphan that has not finished is marked and deleted, held or not',
    world: { pods: [pod('a', { ...gone, ...finalizerHeld })] },
    policies: [orphaned()],
    goes: ['a Orphaned mark'],
  },
  {
    name: 'an orphan stays where its policy does not ask, though another one does',
    world: { pods: [pod('a', { ...gone, labels: { app: 'x' } }), pod('b', gone)] },
    policies: [
      orphaned(),
      policy({ name: 'high', priority: 5, pods: { podSelector: labelled('app', 'x') } }),
    ],
    goes: ['b Orphaned mark'],
    stays: ['a NotTerminated'],
  },
  {
    name: 'what is out of service, or was never bound, stays where nobody asks',
    world: {
      pods: [
        pod('a', { phase: 'Running', ...terminating }),
        pod('b', { phase: 'Pending', ...terminating, nodeName: undefined }),
      ],
      nodes: [outOfServiceNode],
    },
    policies: [policy()],
    goes: [],
    stays: ['a NotTerminated', 'b NotTerminated'],
  },
  {
    name: 'out of service: terminating, node not ready and tainted',
    world: {
      pods: [pod('a', { phase: 'Running', ...terminating }), pod('b', { phase: 'Running' })],
      nodes: [outOfServiceNode],
    },
    policies: [policy({ pods: { outOfService: true } })],
    goes: ['a OutOfService mark'],
    stays: ['b NotTerminated'],
  },
  {
    name: 'out of service: a ready node keeps its pods, taint or not',
    world: {
      pods: [pod('a', { phase: 'Running', ...terminating })],
      nodes: [{ ...outOfServiceNode, ready: true }],
    },
    policies: [policy({ pods: { outOfService: true } })],
    goes: [],
  },
  {
    name: 'out of service: not ready without the taint keeps',
    world: {
      pods: [pod('a', { phase: 'Running', ...terminating })],
      nodes: [node('node-1', { ready: false })],
    },
    policies: [policy({ pods: { outOfService: true } })],
    goes: [],
  },
  {
    name: 'unscheduled: terminating and never bound',
    world: {
      pods: [
        pod('a', { phase: 'Pending', ...terminating, nodeName: undefined }),
        pod('b', { phase: 'Pending', nodeName: undefined }),
        pod('c', { phase: 'Pending', ...terminating }),
      ],
    },
    policies: [policy({ pods: { unscheduledTerminating: true } })],
    goes: ['a Unscheduled mark'],
    stays: ['b NotTerminated', 'c NotTerminated'],
  },
  {
    name: 'the breaker counts over all policies: many small ones are one cluster',
    world: {
      pods: [pod('a', { ...gone, labels: { app: 'x' } }), pod('b', { ...gone, nodeName: 'node-gone-2' })],
      nodes: ['1', '2', '3', '4'].map((n) => node(`node-${n}`)),
    },
    policies: [
      orphaned(40_000, 20),
      policy({
        name: 'high',
        priority: 5,
        pods: {
          podSelector: labelled('app', 'x'),
          orphaned: { quarantineMs: 0 },
          safety: { maxDeletesPerPass: 0, maxOrphanedNodesPercent: 20 },
        },
      }),
    ],
    goes: [],
    stays: ['a Tripped', 'b Tripped'],
  },
];

test.each(rows)('$name', checkRow);
