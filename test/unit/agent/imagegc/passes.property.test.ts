import fc from 'fast-check';
import { expect, test } from 'vitest';
import { governNode } from '../../../../src/api/policy/node-governance.ts';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import { planUnits } from '../../../../src/evaluation/plan/units.ts';
import type { NodePart } from '../../../../src/snapshot/plan-facts.ts';
import { node as nodeFacts, nodesRules, policy } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { imageRule, nameOf, nodePod } from './builders.ts';
import { spec } from '../localstorage/builders.ts';
import { expectSaid } from '../report/said.ts';
import { Node } from './environment.ts';

const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'] as const;
const hourMs = 3_600_000;
const maximumAgeMs = 72 * hourMs;
/** The environment advances its clock by this before each pass. */
const periodMs = 300_000;

const some = fc.subarray([...names], { maxLength: 4 });
/** One pass: what uses images since the pass before, and what the agent cannot read. */
const step = fc.record({
  used: some,
  bound: fc.subarray([...names], { maxLength: 2 }),
  pulled: some,
  afterMs: fc.constantFrom(0, 0, 0, 20 * 60_000, hourMs / 2, 48 * hourMs),
  otherBytes: fc.constantFrom(0, 0, 1_000),
  failing: fc.constantFrom(
    ...([undefined, undefined, undefined, 'listContainers', 'listImages', 'disk', 'pods', 'live'] as const),
  ),
  isRestarted: fc.constantFrom(false, false, false, true),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** An agent and what is true of its node: who used which image last. */
class World {
  readonly node = new Node();
  readonly #policy: Policy;
  readonly #lastUsedMs = new Map<string, number>();

  constructor(rule: Parameters<typeof imageRule>[0]) {
    this.#policy = policy({ pods: undefined, nodes: nodesRules({ imageGC: imageRule(rule) }) });
    this.node.governance = governNode([this.#policy], nodeFacts('node-1'));
    this.node.fill();
    this.node.runtime.add(image('agent', { sizeBytes: 0 }));
  }

  /** Applies the step, and removes nothing. */
  apply({ used, bound, pulled, afterMs, otherBytes, failing, isRestarted }: Step): void {
    const { node } = this;
    node.clock.advance(afterMs);
    this.#remember(node.clock.now().getTime() + periodMs);
    const there = new Set(node.runtime.images.map(nameOf));
    for (const name of pulled.filter((one) => !there.has(one)))
      node.runtime.add(image(name, { sizeBytes: 500 }));
    const listed = new Set(node.runtime.images.map(nameOf));
    node.runtime.containers = ['agent', ...used]
      .filter((one) => listed.has(one))
      .map((name) => container(`c-${name}`, { imageId: `sha256:${name}` }));
    const pods = bound.map((name) => nodePod(`p-${name}`, [name]));
    node.live = { pods };
    node.pods = failing === 'pods' ? undefined : pods;
    node.otherBytes = otherBytes;
    node.diskError = failing === 'disk' ? new Error('no statistics') : undefined;
    node.liveError = failing === 'live' ? new Error('no API server') : undefined;
    if (failing === 'listContainers' || failing === 'listImages') node.runtime.fail(failing);
    if (isRestarted) node.restart();
    this.#remember(node.clock.now().getTime() + periodMs);
  }

  /** What `dustpan plan` would remove in this pass, by id. */
  planned(): ReadonlySet<string> {
    const { node } = this;
    const { images, containers } = node.runtime;
    const now = new Date(node.clock.now().getTime() + periodMs);
    const reading = node.state.reading;
    const part: NodePart = {
      name: 'node-1',
      pods: node.live.pods?.map((pod) => ({
        ...pod,
        ...{ resourceVersion: '1', priority: 0, doNotDisrupt: undefined, storage: spec() },
        workload: { kind: 'Pod', name: pod.name },
      })),
      images,
      containers,
      sandboxes: [],
      sandboxImage: undefined,
      mounted: [],
      disk: node.disk,
      state: reading.kind === 'read' ? reading.state : { images: new Map(), removed: [] },
      usage: undefined,
      logs: undefined,
      checkpoints: undefined,
    };
    const facts = {
      nodes: new Map([['uid-node-1', nodeFacts('node-1')]]),
      namespaces: new Map(),
      pods: new Map(),
      jobs: new Map(),
      replicaSets: new Map(),
    };
    const { decisions } = planUnits(
      { ...facts, policies: [this.#policy], parts: [part], reports: [], notes: [] },
      { now, kept: false, assumeElapsed: true },
    );
    return new Set(
      decisions.flatMap(({ verdict, object }) =>
        verdict === 'Remove' && object.kind === 'Image' ? [object.id ?? ''] : [],
      ),
    );
  }

  /** How long nothing has used the image; Infinity = since it is on the node nothing has. */
  unusedMs(id: string): number {
    const at = this.#lastUsedMs.get(id);
    return at === undefined ? Infinity : this.node.clock.now().getTime() - at;
  }

  #remember(atMs: number): void {
    for (const { imageId } of this.node.runtime.containers) this.#lastUsedMs.set(imageId, atMs);
  }
}

test('whatever cannot be read, a pass removes only what `plan` lists, and nothing by its age that was in use; what it does not know is in condition, metric and status', async () => {
  let removed = 0;
  await fc.assert(
    fc.asyncProperty(
      // An agent that starts while a list fails counts minutes that a plan does not.
      fc.record({ minimumAgeMs: fc.constant(0), maximumAgeMs: fc.constantFrom(undefined, maximumAgeMs) }),
      fc.noBias(fc.array(step, { minLength: 1, maxLength: 8 })),
      async (rule, steps) => {
        const world = new World(rule);
        const { node } = world;
        let unlistedMs = 0;
        for (const one of steps) {
          world.apply(one);
          const listed = world.planned();
          const there = new Set(node.runtime.images.map(({ id }) => id));
          const { requests } = node;
          const report = await node.pass();
          const { result } = report;
          for (const { id } of node.runtime.images) there.delete(id);
          removed += there.size;
          // After a long gap the agent's images are younger than those of the state file that a plan reads.
          unlistedMs += one.afterMs + periodMs;
          if (unlistedMs <= hourMs) expect([...there].filter((id) => !listed.has(id))).toEqual([]);
          if (result !== 'Failed') unlistedMs = 0;
          if (one.failing !== undefined) expect([...there]).toEqual([]);
          const byAge = node.lastRemoved.filter(({ reason, id }) => reason === 'Age' && there.has(id));
          for (const { id } of byAge)
            expect(world.unusedMs(id)).toBeGreaterThanOrEqual(maximumAgeMs - hourMs);
          if (one.failing === 'listContainers' || one.failing === 'listImages') expect(result).toBe('Failed');
          // The API server is asked only about an image that is due.
          const isUnknown = one.failing === 'live' ? node.requests > requests : one.failing !== undefined;
          await expectSaid(isUnknown ? 'imagegc' : undefined, report, node.clock, {
            governance: node.governance,
            images: node.inventories.at(-1),
          });
        }
      },
    ),
    // Each is up to eight passes.
    { numRuns: 200 },
  );
  expect(removed).toBeGreaterThan(100);
});
