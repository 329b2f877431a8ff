import { evictionSignals, type EvictionSignal, type StoragePod } from '../../../../src/api/local-storage.ts';
import { storageKeepReasons, type StorageKeepReason } from '../../../../src/api/reasons.ts';
import {
  container,
  limited,
  overPod,
  overVolume,
  scratch,
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
