import type { RaisedWarning } from '../../src/agent/containergc/large-logs.ts';
import type { NodeWarning } from '../../src/agent/nodepressure/facts.ts';
import type { StorageWarning } from '../../src/api/local-storage.ts';
import { isInvalid, type InvalidPolicy, type Policy } from '../../src/api/policy/policy.ts';
import { parsePolicy } from '../../src/api/policy/policy-spec.ts';
import type { OwnedPod } from '../../src/controllers/eviction/events.ts';
import type { PodEviction } from '../../src/controllers/eviction/facts.ts';
import type { OverduePod } from '../../src/controllers/eviction/overdue.ts';
import type { SlowedOwner } from '../../src/controllers/eviction/slowed.ts';
import { limitOfBytes } from '../../src/gc/reasons/storage-words.ts';
import type { OwnerRef, PodFacts } from '../../src/kube/cache/objects.ts';

/** Sample arguments of the functions that create Events. */
const node = { name: 'node-1', uid: 'd0f3' } as const;
export const nodeObject = { apiVersion: 'v1', kind: 'Node', ...node } as const;
export const lease = {
  ...{ namespace: 'dustpan-system', name: 'dustpan-controller', uid: '5a1c' },
  holder: 'dustpan-controller-7c9f_1b2c',
} as const;

const parsed = (spec: object): Policy | InvalidPolicy =>
  parsePolicy({ metadata: { name: 'default', uid: '9e77', generation: 1 }, spec }).policy;

const policy = valid(parsed({ mode: 'Enforce', pods: { terminated: {}, orphaned: {} } }));
export const unreadable = invalid(parsed({ pods: { terminated: { threshold: 'many' } } }));

export const trippedBreaker = { policy, missingNodes: 30, percent: 60 };

export const heldDeletion = { policy, selected: 400, governed: 600, until: new Date('2026-01-15T12:05:00Z') };

export const heldImages = { due: 40, unused: 60, until: heldDeletion.until };

const job: OwnerRef = { apiVersion: 'batch/v1', kind: 'Job', name: 'nightly', uid: '77aa' };

export const deletions = ['a1', 'b2', 'c3', 'd4', 'e5', 'f6', 'g7'].map((suffix) => ({
  target: { pod: podOf(`nightly-${suffix}`, { controller: job }) },
  reason: 'Terminated' as const,
  policy,
}));

export const sweep = { policy, pods: 20_000 };

export const podHeld = podOf('report-x1', { deletionAtMs: 0, finalizers: ['example.com/backup'] });

const mebibyte = 1024 ** 2;

export const storageWarning: StorageWarning = {
  pod: { namespace: 'shop', name: 'cart-0', uid: '4be1' },
  excess: {
    ...{ signal: 'emptydirfs.limit', subject: 'cache', isDefault: false, evictAtPercent: 100 },
    ...{ usedBytes: 85 * mebibyte, limit: { bytes: 100 * mebibyte, text: '100Mi' } },
  },
  ...{ percent: 80, growthBytesPerMinute: 2 * mebibyte, secondsLeft: 450, sinceMs: 0 },
};

/** A node whose disk fills: the policy's threshold comes first, then the kubelet's. */
export const pressureAhead: NodeWarning = {
  ...{ unit: 'nodepressure', verdict: 'Warn', target: { kind: 'Node', name: node.name } },
  ...{ reason: 'nodefs.available', policy, eligibleAt: undefined, bytes: undefined },
  evidence: {
    ...{ signal: 'nodefs.available', available: 20_480 * mebibyte, capacity: 102_400 * mebibyte },
    ours: { value: 15_360 * mebibyte, text: '15%', secondsLeft: 1_500 },
    kubelets: { value: 10_240 * mebibyte, text: '10%', secondsLeft: 3_000 },
    growthPerMinute: 205 * mebibyte,
    consumers: [
      { kind: 'pod', name: 'shop/cart-0', amount: 30_720 * mebibyte },
      { kind: 'image', name: 'registry.example.com/ml/train:7', amount: 12_288 * mebibyte },
      { kind: 'log', name: '/var/log/pods/shop_cart-0_4be1', amount: 900 * mebibyte },
    ],
  },
};

const logPod = { namespace: 'shop', name: 'cart-0', uid: '4be1' } as const;

export const largeLog: RaisedWarning = {
  warning: {
    ...{ unit: 'containergc', verdict: 'Warn', reason: 'LogTooLarge', policy },
    ...{ eligibleAt: undefined, bytes: 1536 * mebibyte },
    target: { kind: 'Container', id: '3f2a', name: 'app', pod: logPod },
    evidence: {
      ...{ pod: logPod, container: 'app', bytes: 1536 * mebibyte, warnBytes: 1024 * mebibyte },
      path: '/var/log/pods/shop_cart-0_4be1/app/0.log',
    },
  },
  growthBytesPerMinute: 12 * mebibyte,
};

const evicting = valid(parsed({ mode: 'Enforce', nodes: { localStorageEviction: {} } }));

export const evictionPod: OwnedPod = {
  ...{ namespace: 'shop', name: 'cart-0', uid: '4be1', priority: 0 },
  controller: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'cart', uid: '2c9d' },
};

export const evictionOverdue: OverduePod = {
  pod: podOf('cart-0', { uid: '4be1', phase: 'Running', finalizers: ['example.com/backup'] }),
  ...{ graceSeconds: 30, elapsedMs: 46_000 },
};

export const slowedOwner: SlowedOwner = {
  ...{ owner: '2c9d', waiting: 17, replicas: 20 },
  pod: podOf('cart-0', { uid: '4be1', phase: 'Running', controller: evictionPod.controller }),
  pace: {
    ...{ count: 2, lastMs: 0, sinceMs: 0, strikes: 1, isStruck: true },
    reportedStrikes: undefined,
  },
};

const excess = { signal: 'emptydirfs.limit', subject: 'cache', usedBytes: 130 * mebibyte } as const;

export const eviction: PodEviction = {
  ...{ unit: 'localstorage', verdict: 'Evict', reason: excess.signal, policy: evicting },
  target: {
    ...{
      kind: 'Pod',
      namespace: 'shop',
      name: 'cart-0',
      uid: '4be1',
      node: node.name,
      rule: ruleOf(evicting),
      ...{ owner: '2c9d', createdAtMs: 0 },
    },
    request: {
      pod: { namespace: 'shop', name: 'cart-0', uid: '4be1' },
      ...{ signal: excess.signal, subject: excess.subject },
      ...{ observedBytes: excess.usedBytes, limitBytes: 100 * mebibyte, shortage: undefined },
      ...{ observedAtMs: 0, gracePeriodSeconds: undefined },
    },
  },
  ...{ eligibleAt: undefined, bytes: undefined },
  evidence: {
    namespace: 'shop',
    cause: { ...excess, limit: limitOfBytes(100 * mebibyte) },
    ...{ measuredAtMs: 0, evictAtPercent: 100, respectsBudgets: true },
  },
};

const shortage = { available: 1200 * mebibyte, threshold: 1536 * mebibyte };

export const sampleShortage = {
  signal: 'nodefs.available',
  available: shortage.available,
  threshold: { value: shortage.threshold, text: '15%' },
} as const;

export const pressureEviction: PodEviction = {
  ...{ unit: 'nodepressure', verdict: 'Evict', reason: 'nodefs.available', policy: evicting },
  target: {
    ...eviction.target,
    request: {
      ...{ pod: { namespace: 'shop', name: 'cart-0', uid: '4be1' }, signal: 'nodefs.available', shortage },
      ...{ subject: undefined, observedBytes: 900 * mebibyte, limitBytes: 100 * mebibyte },
      ...{ observedAtMs: 0, gracePeriodSeconds: undefined },
    },
  },
  ...{ eligibleAt: undefined, bytes: undefined },
  evidence: {
    namespace: 'shop',
    cause: {
      shortage: sampleShortage,
      ...{ used: 900 * mebibyte, request: 100 * mebibyte, priority: undefined },
    },
    ...{ measuredAtMs: 0, evictAtPercent: undefined, respectsBudgets: true },
  },
};

function ruleOf({ nodes }: Policy): PodEviction['target']['rule'] {
  if (nodes?.localStorageEviction === undefined) throw new Error('the sample policy evicts nothing');
  return nodes.localStorageEviction;
}

const leftover = '/var/lib/kubelet/pods/5c1f0a52-3c39-4a86-9f0e-0d2f4f9d6f11';
export const orphanedResources = {
  orphans: {
    podDirectories: {
      ...{ count: 3, bytes: 12_582_912, isReadOnly: false },
      largest: [
        { path: leftover, podUid: '', sinceMs: 0, bytes: 12_582_912, reason: 'Mounted' },
        {
          path: leftover.replace('5c1f', '77aa'),
          podUid: '',
          sinceMs: 0,
          bytes: 0,
          reason: 'OrphanedDirectory',
        },
      ],
    },
    logDirectories: undefined,
    podCgroups: undefined,
  },
  snapshots: { count: 2 },
};

function podOf(name: string, over: Partial<PodFacts>): PodFacts {
  return {
    ...{ uid: name, name, namespace: 'shop', resourceVersion: '1', generation: 1 },
    ...{ createdAtMs: 0, labels: {}, ttlAnnotation: undefined },
    ...{ deletionAtMs: undefined, deletionGracePeriodSeconds: undefined, controller: undefined },
    ...{ finalizers: [], nodeName: node.name, phase: 'Succeeded', reason: '', message: '' },
    ...{ finishedAtMs: 0, nodeExisted: true },
    ...over,
  };
}

function valid(one: Policy | InvalidPolicy): Policy {
  if (isInvalid(one)) throw new Error(`the sample policy: ${one.problems.join('; ')}`);
  return one;
}

function invalid(one: Policy | InvalidPolicy): InvalidPolicy {
  if (!isInvalid(one)) throw new Error('the sample of an invalid policy is valid');
  return one;
}
