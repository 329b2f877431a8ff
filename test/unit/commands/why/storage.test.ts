import { evictionSignals, type EvictionSignal, type StoragePod } from '../../../../src/api/local-storage.ts';
import { storageKeepReasons, type StorageKeepReason } from '../../../../src/api/reasons.ts';
import {
  container,
  init,
  limited,
  mib,
  overPod,
  overVolume,
  scratch,
  sidecar,
  storagePolicy,
} from '../../agent/localstorage/builders.ts';
import { nodesBy, type Facts } from '../facts.ts';
import { storing } from '../plan/node-facts.ts';
import { casesOf, explainedBy, ruleElsewhere, testReasons, type Cases, type NodeWide } from './catalogue.ts';

const over = storing(scratch, overVolume);
const overAs = (pod: Partial<StoragePod>): Facts => storing(scratch, overVolume, { over: pod });

const half = { main: { logs: 150 } };

const planned: Cases<EvictionSignal | Exclude<StorageKeepReason, NodeWide>> = {
  'emptydirfs.limit': {
    'over the limit': over,
    'over a part of the limit, where budgets are ignored': storing(
      scratch,
      { volumes: { tmp: 91 } },
      { rule: { respectPodDisruptionBudgets: false, evictAtPercent: 90 } },
    ),
    'a warning': storing(scratch, { volumes: { tmp: 85 } }, { rule: { warnAtPercent: [50, 80] } }),
  },
  'ephemeralpodfs.limit': {
    'over the limit': storing(limited, overPod),
    'over the limit of the sidecar alone': storing(
      { containers: [container('main'), container('sync', '100Mi')] },
      { total: 150, containers: { main: { layer: 140, logs: 0 } } },
    ),
    'over the sum of several': storing(
      { containers: [container('a', '60Mi'), container('b', '40Mi')], initContainers: [sidecar('c')] },
      { total: 150 },
    ),
    'over the limit of an init container': storing(
      { containers: [container('a', '60Mi')], initContainers: [init('migrate', '90Mi')] },
      { total: 150 },
    ),
    'over a default': storing(
      { containers: [container('a')] },
      { total: 150 },
      {
        rule: { defaultLimits: { emptyDirBytes: undefined, podBytes: 100 * mib, containerBytes: undefined } },
      },
    ),
  },
  'ephemeralcontainerfs.limit': {
    'over the limit': storing(
      { containers: [container('main', '100Mi'), container('side', '900Mi')] },
      { total: 150, containers: half },
    ),
  },
  UnderLimit: {
    'of a volume': storing(scratch, { volumes: { tmp: 10 } }),
  },
  NoLimit: {
    'none at all': storing({}, overPod),
  },
  CriticalPod: {
    'by its priority': overAs({ priority: 2_000_000_000 }),
    'as a mirror, not measured': storing(scratch, undefined, { over: { configHash: 'abc' } }),
  },
  DoNotDisrupt: {
    'below its limit': storing(
      scratch,
      { volumes: { tmp: 95 } },
      { rule: { evictAtPercent: 90 }, over: { doNotDisrupt: 'karpenter.sh/do-not-disrupt: "true"' } },
    ),
    'above a default': storing(
      {},
      { total: 150 },
      {
        rule: { defaultLimits: { emptyDirBytes: undefined, podBytes: 100 * mib, containerBytes: undefined } },
        over: { doNotDisrupt: 'cluster-autoscaler.kubernetes.io/safe-to-evict: "false"' },
      },
    ),
  },
  KeepMarked: {
    'the pod': overAs({ isOptedOut: true }),
    'its namespace': { ...over, namespaces: [], keptNamespaces: ['web'] },
  },
  NamespaceExcluded: {
    'by the policy': {
      ...over,
      ...nodesBy({ localStorageEviction: storagePolicy(), excludeNamespaces: new Set(['web']) }),
    },
  },
  Finished: { failed: overAs({ phase: 'Failed' }) },
  Terminating: { 'with a grace period': overAs({ deletionAtMs: 1 }) },
  UsageUnknown: {
    'of the pod': storing(scratch, undefined),
    'of the node': { ...over, part: { ...over.part, usage: undefined } },
  },
  RuleOff: { 'no rule for local storage': ruleElsewhere(over, { localStorageEviction: storagePolicy() }) },
};

testReasons(
  'storage',
  [...evictionSignals, ...storageKeepReasons, 'RuleOff'],
  casesOf(planned, (facts) => explainedBy('localstorage', facts, ({ kind }) => kind === 'Pod')),
);
