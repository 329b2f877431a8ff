import { diskSignals, type DiskSignal } from '../../../../src/api/node-pressure.ts';
import { pressureKeepReasons, type PressureKeepReason } from '../../../../src/api/reasons.ts';
import { now } from '../../../builders.ts';
import { image } from '../../../fakes/runtime.ts';
import { imageRule } from '../../agent/imagegc/builders.ts';
import { mib, usage } from '../../agent/localstorage/builders.ts';
import { pressurePolicy, thresholds } from '../../agent/nodepressure/builders.ts';
import { nodesBy, type Facts } from '../facts.ts';
import { crowded, diskReading, writes } from '../plan/node-facts.ts';
import { casesOf, explainedBy, ruleElsewhere, testReasons, type Cases, type NodeWide } from './catalogue.ts';

const by = (over: Parameters<typeof pressurePolicy>[0] = {}) =>
  nodesBy({ nodePressure: pressurePolicy(over) });
const one: Facts = { ...by(), ...crowded({ a: writes(90) }) };
const signalled = (signal: DiskSignal): Facts => ({
  ...by({ thresholds: thresholds({ [signal]: '15%' }) }),
  ...crowded({ a: writes(90) }, diskReading({ signal })),
});

/** The pod `a` writes many small files. */
function ofInodes(signal: DiskSignal): Facts {
  const given = signalled(signal);
  const logs = { bytes: 1, inodes: 7 * mib, atMs: now.getTime() };
  const containers = [{ name: 'main', layer: undefined, logs }];
  const pods = new Map([['uid-a', { total: undefined, volumes: new Map(), containers }]]);
  return { ...given, part: { ...given.part, usage: { ...usage({}), ...given.part?.usage, pods } } };
}

const fiveHundred = { 'nodefs.available': '500Gi' } as const;

/** Explained as for local storage: storage.test.ts. */
type Shared = 'KeepMarked' | 'Finished' | 'Terminating' | NodeWide;
type Own = Exclude<PressureKeepReason, Shared>;

/** About the pod `a` of a node that is short of disk. */
const planned: Cases<DiskSignal | Own> = {
  'nodefs.available': { 'the largest user': one },
  'nodefs.inodesFree': { 'many files': ofInodes('nodefs.inodesFree') },
  'imagefs.available': { 'the largest user': signalled('imagefs.available') },
  'imagefs.inodesFree': { 'many files': ofInodes('imagefs.inodesFree') },
  NoPressure: {
    'half is available': { ...one, ...crowded({ a: writes(90) }, diskReading({ available: 500 * mib })) },
  },
  EvictionOff: { 'by the policy': { ...one, ...by({ evictPods: false }) } },
  ThresholdBeyondDisk: {
    'more than the disk has': { ...one, ...by({ thresholds: thresholds(fiveHundred) }) },
  },
  Reclaiming: { 'in the grace period': { ...one, assumeElapsed: false } },
  ReclaimSuffices: {
    'by an image': {
      ...one,
      ...nodesBy({ nodePressure: pressurePolicy(), imageGC: imageRule({ minimumAgeMs: 0 }) }),
      part: { ...one.part, images: [image('unused', { sizeBytes: 60 * mib })] },
    },
  },
  ImagesUngoverned: {
    'no rule for images': { ...one, part: { ...one.part, images: [image('unused')] } },
    'images that are not selected': {
      ...one,
      ...nodesBy({ nodePressure: pressurePolicy(), imageGC: imageRule({ only: ['ci/*'] }) }),
      part: { ...one.part, images: [image('unused')] },
    },
  },
  PodEnding: {
    'another pod': {
      ...one,
      ...crowded({ a: writes(90), z: { over: { deletionAtMs: now.getTime() + 30_000 } } }),
    },
  },
  NoUsage: {
    'nothing at all': { ...one, ...crowded({ a: writes(0) }) },
  },
  DoNotDisrupt: {
    'by an annotation': {
      ...one,
      ...crowded({
        a: { ...writes(90), over: { doNotDisrupt: 'karpenter.sh/do-not-disrupt: "true"' } },
      }),
    },
  },
  RankedLater: {
    'the last of five': {
      ...one,
      ...crowded({ a: writes(20), b: writes(30), c: writes(40), d: writes(50), e: writes(60) }),
    },
  },
  CriticalPod: {
    'by its priority': {
      ...one,
      ...crowded({ a: { ...writes(90), over: { priority: 2_000_000_000 } } }),
    },
  },
  NamespaceExcluded: {
    'by the policy': {
      ...one,
      ...nodesBy({ nodePressure: pressurePolicy(), excludeNamespaces: new Set(['web']) }),
    },
  },
  UsageUnknown: {
    'not measured': { ...one, ...crowded({ a: {} }) },
    'a part is not measured': { ...one, ...crowded({ a: { used: { containers: { main: { logs: 0 } } } } }) },
  },
  RuleOff: { 'no rule for node pressure': ruleElsewhere(one, { nodePressure: pressurePolicy() }) },
};

testReasons(
  'pressure',
  [...diskSignals, ...pressureKeepReasons.filter((one) => one in planned), 'RuleOff'],
  casesOf(planned, (facts) =>
    explainedBy('nodepressure', facts, (object) => object.kind === 'Pod' && object.name === 'a'),
  ),
);
