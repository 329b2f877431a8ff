import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { NodePressureManager } from '../../../src/agent/nodepressure/manager.ts';
import { nodePressureMetrics, nodePressureReasons } from '../../../src/agent/nodepressure/metrics.ts';
import { governNode } from '../../../src/api/policy/node-governance.ts';
import { hasPressureRule, hasStorageRule } from '../../../src/api/policy/matching.ts';
import type { InvalidPolicy, NodesPolicy, Policy } from '../../../src/api/policy/policy.ts';
import { planUnits } from '../../../src/commands/plan/units.ts';
import type { Unit } from '../../../src/gc/decision.ts';
import { startMetrics, unitMetrics } from '../../../src/gc/metrics.ts';
import type { NodeFacts, PodFacts } from '../../../src/kube/cache/objects.ts';
import type { NodePart } from '../../../src/snapshot/plan-facts.ts';
import { defaultsOf, labelled, node as nodeOf, now, pod, policy, terminatedRule } from '../../builders.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { silentLogger } from '../../fakes/logger.ts';
import { container, image, sandbox } from '../../fakes/runtime.ts';
import { boundPod, broken, byUid, factsOf, keepMark, nodesPolicy } from '../commands/facts.ts';
import { environmentOf } from '../controllers/podgc/environment.ts';
import { dead, down, log, orphan, rule } from './containergc/builders.ts';
import { Node as ContainerNode } from './containergc/environment.ts';
import { nodePod } from './imagegc/builders.ts';
import { Node as ImageNode } from './imagegc/environment.ts';
import { storagePod, storagePolicy, usage } from './localstorage/builders.ts';
import { Node as StorageNode } from './localstorage/environment.ts';
import { pressurePolicy, reading, thresholds } from './nodepressure/builders.ts';

// Each unit of the agent runs a pass beside the plan of the same objects: dustpan_kept_objects counts what `plan --kept` lists.

interface World {
  readonly policies: readonly (Policy | InvalidPolicy)[] | undefined;
  readonly node: NodeFacts;
}

/** A policy of every node with all rules of the node, which a case may remove. */
const all: Partial<NodesPolicy> = {
  imageGC: defaultsOf('imageGC'),
  containerGC: rule(),
  orphans: { podCgroups: 'Report', podDirectories: 'Report' },
  localStorageEviction: storagePolicy(),
  nodePressure: pressurePolicy(),
};
const dryRun = (rules: Partial<NodesPolicy>): Policy => ({ ...nodesPolicy(rules), mode: 'DryRun' });
const elsewhere = dryRun({ ...all, nodeSelector: labelled('pool', 'other') });

const worlds: Readonly<Record<string, World>> = {
  'without a policy': { policies: [], node: nodeOf('node-1') },
  'with a policy for other nodes': { policies: [elsewhere], node: nodeOf('node-1') },
  'with a policy for pods': { policies: [policy({ mode: 'DryRun' })], node: nodeOf('node-1') },
  'with a policy without rules': { policies: [dryRun({})], node: nodeOf('node-1') },
  'with a rule for images alone': { policies: [dryRun({ imageGC: all.imageGC })], node: nodeOf('node-1') },
  'with a rule for orphans alone': { policies: [dryRun({ orphans: all.orphans })], node: nodeOf('node-1') },
  'with all rules': { policies: [dryRun(all)], node: nodeOf('node-1') },
  'with an invalid policy': { policies: [broken], node: nodeOf('node-1') },
  'with the keep label on the node': {
    policies: [dryRun(all)],
    node: nodeOf('node-1', { labels: keepMark }),
  },
  'before the policies are known': { policies: undefined, node: nodeOf('node-1') },
};

type Counts = Readonly<Record<string, number>>;

/** The kept objects of a unit in the plan, by reason. */
function planned(unit: Unit, { policies, node }: World, part: Partial<NodePart>): Counts {
  const facts = factsOf({ policies: policies ?? [], nodes: [node], part });
  const plan = planUnits({ ...facts, policies }, { now, kept: true, assumeElapsed: false });
  const counts: Record<string, number> = {};
  for (const { verdict, reason } of plan.decisions.filter((one) => one.unit === unit))
    if (verdict === 'Keep') counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

async function shown(unit: Unit, registry: Registry): Promise<Counts> {
  const { values = [] } = (await registry.getSingleMetric('dustpan_kept_objects')?.get()) ?? {};
  const ofUnit = values.filter(({ labels, value }) => labels['unit'] === unit && value > 0);
  return Object.fromEntries(ofUnit.map(({ labels, value }) => [String(labels['reason']), value]));
}

const governanceOf = ({ policies, node }: World) => governNode(policies, node);
/** Pods of the node, for the units that judge pods. */
const pods = [storagePod('big'), storagePod('small'), storagePod('done', {}, { phase: 'Succeeded' })];
const podsInPlan = pods.map((one) => ({ ...boundPod(one.name), ...one }));
const signals = [reading({ signal: 'nodefs.available' })];

/** Runs one pass of a unit in this world. Returns what the metrics count, and the part of the node that the pass saw. */
type Pass = (world: World) => Promise<readonly [Registry, Partial<NodePart>]>;

const units: Readonly<Partial<Record<Unit, Pass>>> = {
  imagegc: async (world) => {
    const node = new ImageNode();
    node.governance = governanceOf(world);
    node.runtime.add(image('used'), image('a'), image('b'), container('used'));
    node.pods = [nodePod('starting', ['docker.io/library/a:latest'])];
    await node.pass();
    const { images, containers } = node.runtime;
    const bound = [boundPod('starting', ['docker.io/library/a:latest'])];
    return [node.registry, { images, containers, pods: bound, disk: node.disk }];
  },
  containergc: async (world) => {
    const node = new ContainerNode();
    node.governance = governanceOf(world);
    node.pods = [boundPod('pod')];
    node.runtime.add(container('runs'), dead('old', 9), dead('older', 10), sandbox('pod'), down('gone', 5));
    node.logs.add(log('default_gone_uid-gone/main/0.log'));
    node.orphans.directories.push(orphan());
    await node.pass();
    const { containers, sandboxes } = node.runtime;
    const logs = await node.logs.list();
    const places = { podDirectories: [orphan()], logDirectories: undefined, podCgroups: [] };
    return [node.registry, { containers, sandboxes, logs, orphans: places, pods: [boundPod('pod')] }];
  },
  localstorage: async (world) => {
    const node = new StorageNode({ isUsed: () => hasStorageRule(world.policies) });
    node.governance = governanceOf(world);
    node.pods = pods;
    await node.pass({ big: { total: 10 } });
    return [node.registry, { pods: podsInPlan, usage: usage({ big: { total: 10 } }) }];
  },
  nodepressure: async (world) => {
    const [registry, clock] = [new Registry(), new FakeClock()];
    const metrics = unitMetrics(registry);
    startMetrics(metrics, 'nodepressure', nodePressureReasons);
    const manager = new NodePressureManager({
      ...{ clock, metrics, log: silentLogger, own: nodePressureMetrics(registry) },
      governance: () => governanceOf(world),
      isUsed: () => hasPressureRule(world.policies),
      pods: () => pods,
      source: {
        usage: () => Promise.resolve(usage({}, { signals })),
        thresholds: () => Promise.resolve(thresholds({})),
      },
      disk: () => Promise.reject(new Error('not read')),
      consumers: () => [],
      node: () => undefined,
      relieve: () => Promise.resolve('Exhausted'),
      recorder: { record: () => undefined },
      onPass: () => undefined,
    });
    await manager.collect(new AbortController().signal);
    return [registry, { pods: podsInPlan, usage: usage({}, { signals }) }];
  },
};

describe.each(Object.entries(units))('kept objects of %s', (unit, pass) => {
  test.each(Object.entries(worlds))('%s', async (_, world) => {
    const [registry, part] = await pass(world);
    expect(await shown(unit as Unit, registry)).toEqual(planned(unit as Unit, world, part));
  });
});

test('kept objects of podgc', async () => {
  const found: readonly PodFacts[] = [pod('done'), pod('runs', { phase: 'Running' }), pod('other/kept')];
  for (const governing of [policy(), policy({ pods: { terminated: terminatedRule() } }), dryRun(all)]) {
    const { pass, registry, namespaces } = environmentOf(found, governing);
    namespaces.set('uid-other', { uid: 'uid-other', name: 'other', resourceVersion: '1', labels: keepMark });
    await pass();
    const facts = factsOf({
      policies: [governing],
      pods: found,
      keptNamespaces: ['other'],
      namespaces: ['default'],
    });
    const plan = planUnits(
      { ...facts, nodes: byUid([nodeOf('node-1')]) },
      { now, kept: true, assumeElapsed: false },
    );
    const kept = plan.decisions.filter(({ verdict }) => verdict === 'Keep');
    const counts = await shown('podgc', registry);
    expect(Object.values(counts).reduce((sum, one) => sum + one, 0)).toBe(kept.length);
    for (const [reason, count] of Object.entries(counts))
      expect(kept.filter((one) => one.reason === reason)).toHaveLength(count);
  }
});
