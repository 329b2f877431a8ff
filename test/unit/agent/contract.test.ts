import type { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { governNode } from '../../../src/api/policy/node-governance.ts';
import { hasPressureRule, hasStorageRule } from '../../../src/api/policy/matching.ts';
import type { InvalidPolicy, NodesPolicy, Policy } from '../../../src/api/policy/policy.ts';
import { findLeftovers } from '../../../src/agent/leftovers/find.ts';
import { RuntimeError } from '../../../src/cri/runtime.ts';
import { planUnits } from '../../../src/evaluation/plan/units.ts';
import type { Unit, NodeUnit } from '../../../src/gc/decision.ts';
import type { NodePassReport } from '../../../src/gc/pass.ts';
import type { NodeFacts } from '../../../src/kube/cache/objects.ts';
import type { NodePart } from '../../../src/snapshot/plan-facts.ts';
import { labelled, node as nodeOf, now, policy } from '../../builders.ts';
import type { FakeClock } from '../../fakes/clock.ts';
import { changeAt, container, image, sandbox } from '../../fakes/runtime.ts';
import { boundPod, broken, factsOf, keepMark, nodesPolicy } from '../commands/facts.ts';
import { dead, down, log, orphan, rule } from './containergc/builders.ts';
import { Node as ContainerNode } from './containergc/environment.ts';
import { imageRule, nodePod } from './imagegc/builders.ts';
import { Node as ImageNode } from './imagegc/environment.ts';
import { Node as LeftoversNode, oneLease, removing } from './leftovers/environment.ts';
import { scratch, storagePod, storagePolicy, usage } from './localstorage/builders.ts';
import { Node as StorageNode } from './localstorage/environment.ts';
import { pressurePolicy, reading } from './nodepressure/builders.ts';
import { Node as PressureNode } from './nodepressure/environment.ts';

// The contract of every unit of the agent: what `plan --kept` lists of the same objects is what the metrics count, and what the report of the pass shows.

interface World {
  readonly policies: readonly (Policy | InvalidPolicy)[] | undefined;
  readonly node?: NodeFacts;
}

/** A policy of every node with all rules of the node, which a case may remove. */
const all: Partial<NodesPolicy> = {
  imageGC: imageRule({ minimumAgeMs: 0 }),
  containerGC: rule(),
  orphans: { podCgroups: 'Report', podDirectories: 'Report' },
  leftovers: removing,
  localStorageEviction: storagePolicy(),
  nodePressure: pressurePolicy(),
};
const dryRun = (rules: Partial<NodesPolicy>): Policy => ({ ...nodesPolicy(rules), mode: 'DryRun' });
const enforced: World = { policies: [nodesPolicy(all)] };

const worlds: Readonly<Record<string, World>> = {
  'without a policy': { policies: [] },
  'with a policy for other nodes': {
    policies: [dryRun({ ...all, nodeSelector: labelled('pool', 'other') })],
  },
  'with a policy for pods': { policies: [policy({ mode: 'DryRun' })] },
  'with a policy without rules': { policies: [dryRun({})] },
  'with a rule for images alone': { policies: [dryRun({ imageGC: all.imageGC })] },
  'with a rule for orphans alone': { policies: [dryRun({ orphans: all.orphans })] },
  'with all rules in mode DryRun': { policies: [dryRun(all)] },
  'with all rules in mode Enforce': enforced,
  'with an invalid policy': { policies: [broken] },
  'with the keep label on the node': {
    policies: [nodesPolicy(all)],
    node: nodeOf('node-1', { labels: keepMark }),
  },
  'before the policies are known': { policies: undefined },
};

const governanceOf = ({ policies, node = nodeOf('node-1') }: World) => governNode(policies, node);

/** One unit on a node in a world. */
interface Subject {
  readonly node: { readonly registry: Registry; readonly clock: FakeClock };
  readonly reports: readonly NodePassReport[];
  /** Of the last report. */
  readonly inventory: () => object | undefined;
  /** What a plan of the node sees. */
  readonly part: Partial<NodePart>;
  readonly pass: (signal?: AbortSignal) => Promise<unknown>;
  /** From now on the node cannot be observed. */
  readonly blind: () => unknown;
  /** undefined = the unit needs no pods. */
  readonly losePods?: () => unknown;
  /** undefined = the unit removes nothing. */
  readonly remover?: {
    readonly node: ImageNode | ContainerNode;
    readonly call: 'removeImage' | 'removeContainer';
    /** Its first removal. */
    readonly first: string;
  };
}

/** For the units that judge pods. */
const pods = [
  storagePod('big', scratch),
  storagePod('small'),
  storagePod('done', {}, { phase: 'Succeeded' }),
];
const podsInPlan = pods.map((one) => ({ ...boundPod(one.name), ...one }));
const used = { big: { total: 150, volumes: { tmp: 130 } } };

const units: Readonly<Record<NodeUnit, (world: World) => Subject>> = {
  imagegc: (world) => {
    const node = new ImageNode();
    node.governance = governanceOf(world);
    node.runtime.add(image('used'), image('a'), image('b'), image('c'), container('used'));
    node.pods = [nodePod('starting', ['docker.io/library/a:latest'])];
    node.otherBytes = 3_000;
    const { runtime, reports, inventories, disk } = node;
    const { images, containers } = runtime;
    return {
      node,
      reports,
      inventory: () => inventories.at(-1),
      part: { images, containers, pods: [boundPod('starting', ['docker.io/library/a:latest'])], disk },
      pass: (signal) => node.pass(signal),
      blind: () => runtime.fail('listImages'),
      losePods: () => (node.pods = undefined),
      remover: { node, call: 'removeImage', first: 'sha256:b' },
    };
  },
  containergc: (world) => {
    const node = new ContainerNode();
    node.governance = governanceOf(world);
    node.pods = [boundPod('pod')];
    const old = [dead('old', 9), dead('older', 10), dead('oldest', 11)];
    node.runtime.add(container('runs'), ...old, sandbox('pod'), down('gone', 5));
    const entries = [log('default_gone_uid-gone/main/0.log')];
    const { roots } = node.logs.add(...entries);
    node.orphans.directories.push(orphan());
    const { runtime, reports, inventories } = node;
    const { containers, sandboxes } = runtime;
    const logs = { roots, entries, directories: [], complete: true };
    const orphans = { podDirectories: [orphan()], logDirectories: undefined, podCgroups: [] };
    return {
      node,
      reports,
      inventory: () => inventories.at(-1),
      part: { containers, sandboxes, logs, orphans, pods: [boundPod('pod')] },
      pass: (signal) => node.pass(signal),
      blind: () => runtime.fail('listContainers'),
      losePods: () => (node.pods = undefined),
      remover: { node, call: 'removeContainer', first: 'oldest' },
    };
  },
  localstorage: (world) => {
    const node = new StorageNode({ isUsed: () => hasStorageRule(world.policies) });
    node.governance = governanceOf(world);
    node.pods = pods;
    return {
      node,
      reports: node.passes,
      inventory: () => node.inventory,
      part: { pods: podsInPlan, usage: usage(used) },
      pass: (signal) => node.pass(used, signal),
      blind: () => (node.isDown = true),
      losePods: () => (node.pods = undefined),
    };
  },
  leftovers: (world) => {
    const node = new LeftoversNode();
    node.governance = governanceOf(world);
    const { reports, manager } = node;
    const store = new Map([['k8s.io', oneLease]]);
    const { leftovers } = findLeftovers(store, { owners: new Set(), now: node.clock.now() });
    return {
      node,
      reports,
      inventory: () =>
        manager.inventory === undefined || 'unknown' in manager.inventory ? undefined : manager.inventory,
      part: { leftovers },
      pass: (signal) => node.pass(signal),
      blind: () => (node.error = new Error('ECONNREFUSED')),
    };
  },
  nodepressure: (world) => {
    const node = new PressureNode();
    node.governance = governanceOf(world);
    node.isUsed = hasPressureRule(world.policies);
    node.pods = pods;
    node.used = used;
    const { available } = node;
    return {
      node,
      reports: node.passes,
      inventory: () => node.inventory,
      part: { pods: podsInPlan, usage: usage(used, { signals: [reading({ available })] }) },
      pass: (signal) => node.pass(1, signal),
      blind: () => (node.isDown = true),
      losePods: () => (node.pods = undefined),
    };
  },
};

type Counts = Readonly<Record<string, number>>;

/** The decisions of a unit in the plan: kept ones by reason, due ones by reason and mode. */
function planned(unit: Unit, { policies, node = nodeOf('node-1') }: World, part: Partial<NodePart>): Counts {
  const facts = factsOf({ policies: policies ?? [], nodes: [node], namespaces: ['default', 'web'], part });
  const plan = planUnits({ ...facts, policies }, { now, kept: true, assumeElapsed: false });
  const modes = new Map(policies?.map((one) => [one.name, 'mode' in one ? one.mode : '']));
  const names = plan.decisions
    .filter((one) => one.unit === unit && one.verdict !== 'Warn')
    .map(({ verdict, reason, policy: by }) =>
      verdict === 'Keep' ? reason : `${reason} ${modes.get(by ?? '') ?? ''}`,
    );
  return Object.fromEntries(
    [...Map.groupBy(names, (name) => name)].map(([name, { length }]) => [name, length]),
  );
}

/** The series of a metric of the unit that are not 0, by the labels. */
async function series(unit: Unit, registry: Registry, metric: string): Promise<Counts> {
  const { values = [] } = (await registry.getSingleMetric(`dustpan_${metric}`)?.get()) ?? {};
  const ofUnit = values.filter(({ labels, value }) => labels['unit'] === unit && value > 0);
  return Object.fromEntries(
    ofUnit.map(({ labels, value }) => [[labels['reason'], labels['mode'] ?? []].flat().join(' '), value]),
  );
}

const shown = async (unit: Unit, registry: Registry): Promise<Counts> => ({
  ...(await series(unit, registry, 'kept_objects')),
  ...(await series(unit, registry, 'due_objects')),
});

const sum = (counts: Counts): number => Object.values(counts).reduce((total, one) => total + one, 0);

function atRemoval({ remover }: Subject, change: () => void): void {
  if (remover !== undefined) changeAt(remover.node.runtime, remover.call, 1, change);
}

describe.each(Object.entries(units))('%s', (name, subjectIn) => {
  const unit = name as NodeUnit;
  const removed = async ({ node }: Subject): Promise<number> =>
    sum(await series(unit, node.registry, 'removed_objects_total'));

  test.each(Object.entries(worlds))('%s shows its plan, and reports what it removed', async (_, world) => {
    const subject = subjectIn(world);
    await subject.pass();
    expect(await shown(unit, subject.node.registry)).toEqual(planned(unit, world, subject.part));
    const report = subject.reports.at(-1);
    expect(report?.removed ?? 0).toBe(await removed(subject));
    expect((await removed(subject)) > 0).toBe(world === enforced && subject.remover !== undefined);
    expect(report?.errors ?? 0).toBe(0);
    const isUnknown = report?.result === 'Unknown';
    // It removes nothing in its first pass.
    const isRemover = subject.remover !== undefined || unit === 'leftovers';
    expect(isUnknown).toBe(world.policies === undefined && isRemover);
    expect(subject.inventory() === undefined).toBe(report === undefined);
  });

  test('shows nothing as known after a failed observation, and reports the failure', async () => {
    const { node, pass, blind, reports, inventory } = subjectIn(enforced);
    await pass();
    blind();
    // The last usage of the pods is used for two minutes.
    node.clock.advance(2 * 60_000);
    await Promise.allSettled([pass()]);
    const unmeasured = unit === 'localstorage' ? { Finished: 1, UsageUnknown: 1, NoLimit: 1 } : {};
    expect(await shown(unit, node.registry)).toEqual(unmeasured);
    expect(reports.at(-1)).toMatchObject({
      result: 'Failed',
      removed: 0,
      message: expect.stringMatching(/ECONNREFUSED|refused by the test/) as string,
    });
    expect(inventory()).toBeUndefined();
  });

  test('reports that the pods are unknown', async () => {
    const { pass, losePods, reports } = subjectIn(enforced);
    if (losePods === undefined) return;
    losePods();
    await pass();
    expect(reports.at(-1)?.result).toBe('Unknown');
    expect(reports.at(-1)?.message).toMatch(/pods/i);
  });

  test('shows every object after a jump of the clock', async () => {
    const { node, part, pass, reports } = subjectIn(enforced);
    await pass();
    node.clock.stepWall(3_600_000);
    await pass();
    const left = sum(planned(unit, enforced, part)) - (reports[0]?.removed ?? 0);
    expect(sum(await shown(unit, node.registry))).toBe(left);
  });

  test('reports at a shutdown what it has removed by then', async () => {
    const subject = subjectIn(enforced);
    const stop = new AbortController();
    atRemoval(subject, () => stop.abort());
    await Promise.allSettled([subject.pass(stop.signal)]);
    const count = subject.remover === undefined ? 0 : 1;
    expect(await removed(subject)).toBe(count);
    expect(subject.reports.map((report) => report.removed)).toEqual([count]);
    // The node is not Degraded until the next agent reports.
    expect(['Idle', 'Succeeded']).toContain(subject.reports[0]?.result);
  });
});

const inDryRun = governanceOf({ policies: [dryRun(all)] });
const kept = governanceOf({ policies: [nodesPolicy(all)], node: nodeOf('node-1', { labels: keepMark }) });
const changed = 'policies have changed';
const unreadable = 'policies, node and pods cannot be confirmed live: reading pods';

describe.each(['imagegc', 'containergc'] as const)('%s', (unit) => {
  const removing = () => {
    const subject = units[unit](enforced);
    const { remover } = subject;
    if (remover === undefined) throw new Error('the unit removes nothing');
    return { ...subject, ...remover };
  };

  test.each([
    {
      name: 'the policy is now a dry run',
      live: { governance: inDryRun },
      result: 'Short',
      message: changed,
    },
    { name: 'the node has the keep label', live: { governance: kept }, result: 'Short', message: changed },
    { name: 'the API server does not respond', live: undefined, result: 'Unknown', message: unreadable },
  ])('removes nothing while the caches are stale and $name', async ({ live, result, message }) => {
    const { node, pass, reports } = removing();
    if (live !== undefined) node.live = live;
    else if (node instanceof ImageNode) node.liveError = new Error('reading pods');
    else node.live = new Error('reading pods');
    await pass();
    expect(node.runtime.changes).toEqual([]);
    expect(reports).toMatchObject([{ result, removed: 0, errors: 0, message }]);
  });

  test.each<[name: string, change: (node: ImageNode | ContainerNode) => unknown, message: string]>([
    ['the policy is a dry run', (node) => (node.governance = inDryRun), changed],
    ['the policy is deleted', (node) => (node.governance = governanceOf({ policies: [] })), changed],
    ['the clock jumps', ({ clock }) => clock.stepWall(-3_600_000), 'the clock has jumped'],
  ])('ends the pass when %s, and reports the removals', async (_, change, message) => {
    const subject = removing();
    atRemoval(subject, () => change(subject.node));
    await subject.pass();
    expect(subject.reports).toMatchObject([{ result: 'Short', removed: 1, errors: 0, message }]);
  });

  test('lists and removes nothing while the runtime is not ready, and reports its reason', async () => {
    const { node, pass, reports } = removing();
    node.runtime.notReady = 'Starting: recovering';
    await Promise.allSettled([pass()]);
    expect(node.runtime.calls).toEqual(['checkReady']);
    const message = expect.stringMatching(/Status: not ready: Starting: recovering$/) as string;
    expect(reports).toMatchObject([{ result: 'Failed', removed: 0, message }]);
  });

  test('records a removal that the runtime completes after its deadline', async () => {
    const { node, pass, reports, call, first } = removing();
    const error = new RuntimeError('removing: deadline', 'deadline');
    node.runtime.fail(call, { target: first, error });
    await Promise.allSettled([pass()]);
    expect(node.lastRemoved.map(({ id }) => id)).not.toContain(first);
    node.runtime.drop(first);
    node.governance = inDryRun;
    await pass();
    expect(reports.at(-1)?.removed).toBe(1);
    expect(node.lastRemoved).toContainEqual(expect.objectContaining({ id: first, policy: 'nodes' }));
    const removed = await series(unit, node.registry, 'removed_objects_total');
    expect(sum(removed)).toBe(reports.reduce((total, report) => total + report.removed, 0));
    expect(node.log.lines.filter(({ message }) => message.startsWith('removed '))).toHaveLength(sum(removed));
    await pass();
    expect(reports.at(-1)?.removed).toBe(0);
  });
});
