import fc from 'fast-check';
import { expect, test } from 'vitest';
import { planUnits } from '../../../../src/evaluation/plan/units.ts';
import type { NodePart } from '../../../../src/snapshot/plan-facts.ts';
import { governNode } from '../../../../src/api/policy/node-governance.ts';
import { emptyState } from '../../../../src/node/disk/state-format.ts';
import { node as nodeFacts, nodesRules, policy } from '../../../builders.ts';
import { storagePod } from '../localstorage/builders.ts';
import { expectSaid } from '../report/said.ts';
import { pressurePolicy } from './builders.ts';
import { Node } from './environment.ts';
import { maxAges } from '../../../../src/agent/localstorage/pods.ts';

const names = ['a', 'b', 'c'] as const;
const minuteMs = 60_000;

const used = fc.record({
  logs: fc.constantFrom(0, 70, 300),
  /** Minutes since the kubelet measured the pod; undefined = it has not. */
  age: fc.constantFrom(0, 0, 0, 1, 4, 6, 50, undefined),
});
const step = fc.record({
  passes: fc.constantFrom(1, 7),
  available: fc.constantFrom(140, 100, 500),
  /** Minutes since the kubelet measured the disk. */
  age: fc.constantFrom(0, 0, 0, 1, 3),
  isDown: fc.constantFrom(false, false, false, true),
  pods: fc.record({ a: used, b: used, c: used }),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const governing = policy({ pods: undefined, nodes: nodesRules({ nodePressure: pressurePolicy() }) });

function nodeOf(): Node {
  const node = new Node();
  node.governance = governNode([governing], nodeFacts('a'));
  node.pods = names.map((name) => storagePod(name));
  return node;
}

function apply(node: Node, { available, age, isDown, pods }: Step): void {
  const nowMs = node.clock.now().getTime();
  node.available = available;
  node.ageMs = age * minuteMs;
  node.isDown = isDown;
  node.used = Object.fromEntries(
    names.flatMap((name) => {
      const { logs, age: measured } = pods[name];
      return measured === undefined
        ? []
        : [[name, { containers: { main: { logs } }, atMs: nowMs - measured * minuteMs }]];
    }),
  );
}

/** The pods that `dustpan plan` would evict for node pressure, now or after others. */
async function plannedOn(node: Node): Promise<readonly string[]> {
  const part: NodePart = {
    name: 'a',
    pods: (node.pods ?? []).map((pod) => ({ ...pod, resourceVersion: '1' })),
    images: [],
    containers: [],
    sandboxes: [],
    sandboxImage: undefined,
    mounted: [],
    disk: undefined,
    state: emptyState,
    usage: await node.usage(),
    logs: undefined,
    checkpoints: undefined,
  };
  const namespaces = new Map([
    ['uid-web', { uid: 'uid-web', name: 'web', resourceVersion: '1', labels: {} }],
  ]);
  const nothing = { pods: new Map(), namespaces, jobs: new Map(), replicaSets: new Map() };
  const { decisions } = planUnits(
    {
      ...nothing,
      policies: [governing],
      nodes: new Map([['uid-a', nodeFacts('a')]]),
      parts: [part],
      reports: [],
      notes: [],
    },
    { now: node.clock.now(), kept: true, assumeElapsed: true },
  );
  return decisions.flatMap(({ unit, verdict, reason, object }) =>
    unit === 'nodepressure' && (verdict === 'Evict' || reason === 'PacingLimit') && object.kind === 'Pod'
      ? [object.name]
      : [],
  );
}

const isUnknown = ({ isDown, age }: Step): boolean => isDown || age * minuteMs > maxAges.signalMs;

/** What the pass of a step did not know; undefined = nothing that it needed. */
async function unknownIn(node: Node, step: Step): Promise<string | undefined> {
  if (isUnknown(step)) return step.isDown ? 'ECONNREFUSED' : 'nodefs.available';
  const kept = await node.registry.getSingleMetric('dustpan_kept_objects')?.get();
  const unmeasured = kept?.values.find(({ labels: { reason } }) => reason === 'UsageUnknown')?.value ?? 0;
  return unmeasured > 0 && node.requests.length === 0 ? 'the usage of' : undefined;
}

test('whatever is measured late or not at all, a pass requests only what `plan` lists, by current measurements, and what it does not know is no success, and in condition, metric and status', async () => {
  let requested = 0;
  await fc.assert(
    fc.asyncProperty(fc.noBias(fc.array(step, { minLength: 1, maxLength: 5 })), async (steps) => {
      const node = nodeOf();
      for (const one of steps) {
        apply(node, one);
        await node.pass(one.passes).catch(() => undefined);
        const requests = node.inventory?.requests ?? [];
        await expectSaid(await unknownIn(node, one), node.last, node.clock, {
          governance: node.governance,
          pressure: node.inventory,
        });
        if (isUnknown(one)) {
          expect(requests).toEqual([]);
          expect(['Failed', 'Unknown']).toContain(node.last?.result);
          continue;
        }
        requested += requests.length;
        const listed = await plannedOn(node);
        const nowMs = node.clock.now().getTime();
        for (const { pod, observedAtMs } of requests) {
          expect(listed).toContain(pod.name);
          const atMs = node.used[pod.name]?.atMs ?? Number.NaN;
          expect(nowMs - atMs).toBeLessThanOrEqual(maxAges.usageMs);
          expect(observedAtMs).toBeLessThanOrEqual(atMs);
        }
      }
    }),
    // Each is up to 35 passes.
    { numRuns: 150 },
  );
  expect(requested).toBeGreaterThan(20);
});
