import { expect, test } from 'vitest';
import type { NodePressureFacts } from '../../../src/agent/nodepressure/facts.ts';
import { planNodePressure } from '../../../src/agent/nodepressure/plan.ts';
import type { NodeGovernance } from '../../../src/api/policy/node-governance.ts';
import { nodeKeepReasons, pressureKeepReasons, type PressureKeepReason } from '../../../src/api/reasons.ts';
import { explain } from '../../../src/gc/reasons/entry.ts';
import { pressureReasons, pressureWarnings } from '../../../src/gc/reasons/pressure.ts';
import { now } from '../../builders.ts';
import { container, mib, storagePod, usage } from '../agent/localstorage/builders.ts';
import {
  crossed,
  governedBy,
  planOf,
  pressurePolicy,
  reclaimed,
  reclaims,
} from '../agent/nodepressure/builders.ts';
import { invalidPolicy } from './reasons.fixture.ts';

const gib = 1024 * mib;
const low = crossed({
  reading: { signal: 'nodefs.available', available: gib, capacity: 10 * gib, measuredAtMs: now.getTime() },
  ours: { value: 1.5 * gib, text: '15%', secondsLeft: 0 },
});
const pod = storagePod('big', { containers: [container('main', undefined, '100Mi')] });
const used = usage({ big: { containers: { main: { layer: 500, logs: 100 } } } });
const shortage =
  'The node is low on disk space for local storage (nodefs.available): 1.00 GiB are available, and the threshold is 15% (1.50 GiB).';
const share = 'The pod uses 600 MiB and requests 100 MiB; its priority is 0.';

interface Row {
  readonly facts?: Partial<NodePressureFacts>;
  readonly rule?: Parameters<typeof pressurePolicy>[0];
  readonly governance?: NodeGovernance;
  readonly detail: string;
  readonly field?: string;
}

const many = Array.from({ length: 5 }, (_, i) => storagePod(`p${i}`));
const sizes = Object.fromEntries(
  many.map(({ name }, i) => [name, { containers: { main: { logs: 5 - i } } }]),
);
const nodeKept = (reason: 'NoPolicy' | 'InvalidPolicy' | 'NodeUnknown'): NodeGovernance => ({
  ...{ kind: 'keep', reason, policy: reason === 'InvalidPolicy' ? invalidPolicy : undefined },
});

const excluding = (namespace: string): NodeGovernance => {
  const governed = governedBy(pressurePolicy());
  return { ...governed, nodes: { ...governed.nodes, excludeNamespaces: [namespace] } };
};

const rows: Readonly<Record<PressureKeepReason, Row>> = {
  NoPressure: { facts: { signals: [] }, detail: 'No disk of the node is below its threshold.' },
  EvictionOff: {
    rule: { evictPods: false },
    detail: `${shortage} The policy evicts no pods for node pressure.`,
    field: 'nodes.nodePressure.evictPods=false',
  },
  ThresholdBeyondDisk: {
    facts: { signals: [{ ...low, wanted: low.reading.capacity }] },
    detail: `${shortage} The whole disk has 10.0 GiB, so the threshold can never be met, and dustpan removes and evicts nothing for it.`,
    field: 'nodes.nodePressure.thresholds["nodefs.available"]=15%',
  },
  Reclaiming: {
    facts: { reclaimed: new Map() },
    detail: `${shortage} The agent removes images and containers first; pods are evicted only if that does not free enough within 1m.`,
    field: 'nodes.nodePressure.gracePeriod=1m',
  },
  ReclaimSuffices: {
    facts: { reclaimed: reclaims({ 'nodefs.available': now.getTime() }, 'Enough') },
    detail: `${shortage} Removing unused images and dead containers frees enough, so no pod is evicted.`,
  },
  PodEnding: {
    facts: { pods: [pod, storagePod('ending', {}, { deletionAtMs: now.getTime() })] },
    detail: `${shortage} Another pod on the node is terminating, which may free enough.`,
  },
  NoUsage: {
    facts: { usage: usage({ big: {} }) },
    detail: `${shortage} The pod does not use this resource.`,
  },
  RankedLater: {
    facts: { pods: [...many.slice(4), ...many.slice(0, 4)], usage: usage(sizes) },
    detail: `${shortage} The pod uses 1.00 MiB; its priority is 0. It is number 5 in the kubelet's order of eviction.`,
    field: 'nodes.nodePressure.thresholds["nodefs.available"]=15%',
  },
  CriticalPod: {
    facts: { pods: [storagePod('big', {}, { priority: 2_000_000_000 })] },
    detail: 'The pod is critical, because its priority is 2000000000.',
  },
  KeepMarked: {
    facts: { pods: [storagePod('big', {}, { isOptedOut: true })] },
    detail: 'The label gc.dustpan.dev/keep is on the pod.',
    field: 'metadata.labels["gc.dustpan.dev/keep"]',
  },
  NamespaceExcluded: {
    governance: excluding('web'),
    detail: 'The policy of the node excludes the namespace of the pod.',
    field: 'nodes.excludeNamespaces or pods.excludeNamespaces has web',
  },
  Finished: {
    facts: { pods: [storagePod('big', {}, { phase: 'Succeeded' })] },
    detail: 'The pod has finished (Succeeded), so there is nothing to evict.',
  },
  Terminating: {
    facts: { pods: [storagePod('big', {}, { deletionAtMs: Date.UTC(2030, 0) })] },
    detail: 'The pod is already terminating; its grace period ends at 2030-01-01T00:00:00Z.',
  },
  UsageUnknown: { facts: { usage: undefined }, detail: 'The usage of the pods on this node is unknown.' },
  NoPolicy: { governance: nodeKept('NoPolicy'), detail: 'No GCPolicy selects the node.' },
  InvalidPolicy: {
    governance: nodeKept('InvalidPolicy'),
    detail: expect.stringContaining('this node') as string,
    field: expect.anything() as string,
  },
  NodeUnknown: {
    governance: nodeKept('NodeUnknown'),
    detail: 'The agent does not know the node or the policies.',
  },
  RuleOff: {
    governance: governedBy(undefined),
    detail: 'The policy of the node has no rule for node pressure.',
    field: 'nodes.nodePressure is not set',
  },
};

test.each(Object.entries(rows))('%s', (reason, { facts, rule, governance, detail, field }) => {
  const all = {
    ...{ node: 'a', signals: [low], pods: [pod], usage: used, reclaimed, consumers: [] },
    ...facts,
  };
  const plan = planNodePressure(all, { governance: governance ?? governedBy(pressurePolicy(rule)), now });
  const [kept] = plan.kept;
  expect(kept?.reason).toBe(reason);
  expect(kept && explain(pressureReasons, kept)).toEqual({ detail, field });
});

test('a pod that uses next to nothing has both amounts', () => {
  const signals = [{ ...low, wanted: 8 * gib }];
  const tiny = usage({ big: { containers: { main: { layer: 1, logs: 0 } } } });
  const [kept] = planOf({ signals, pods: [pod], usage: tiny }).kept;
  expect(kept && explain(pressureReasons, kept).detail).toBe(
    `${shortage} The pod uses 1.00 MiB, and 8.00 GiB more are needed: its eviction would free next to nothing.`,
  );
});

test("an eviction has the node's shortage and the pod's usage", () => {
  const [eviction] = planOf({ signals: [low], pods: [pod], usage: used }).evictions;
  expect(eviction && explain(pressureReasons, eviction)).toEqual({
    detail: `${shortage} ${share} A disruption budget may delay the eviction.`,
    field: 'nodes.nodePressure.thresholds["nodefs.available"]=15%',
  });
});

test('a warning has the time until each threshold is crossed, and the largest consumers', () => {
  const ahead = {
    ...low,
    ours: { value: 1.5 * gib, text: '15%', secondsLeft: 0 },
    kubelets: { value: gib / 2, text: '5%', secondsLeft: 725 },
    growthPerMinute: 40 * mib,
  };
  const [warning] = planOf({ signals: [ahead], pods: [pod], usage: used }).warnings;
  expect(warning && explain(pressureWarnings, warning)).toEqual({
    detail:
      'The node is low on disk space for local storage (nodefs.available): 1.00 GiB of 10.0 GiB are available; usage grows by 40.0 MiB per minute. ' +
      "The policy's threshold, 15% (1.50 GiB), is crossed. The kubelet's threshold, 5% (512 MiB), will be crossed in about 12m. " +
      'Largest consumers: pod web/big 600 MiB.',
    field: 'nodes.nodePressure.thresholds["nodefs.available"]=15%',
  });
});

test('every reason has a row', () => {
  expect(Object.keys(rows).sort()).toEqual(
    [...pressureKeepReasons, ...nodeKeepReasons].filter((one, i, all) => all.indexOf(one) === i).sort(),
  );
});
