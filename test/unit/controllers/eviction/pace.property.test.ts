import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { EvictionOutcome } from '../../../../src/kube/actions/eviction.ts';
import { node } from '../../../builders.ts';
import { pressurePolicy, pressureRequest } from './builders.ts';
import { ReplacingCluster } from './replacing-cluster.ts';

const owners = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
const minuteMs = 60_000;

/** Half an hour of a cluster: owners whose replacements exceed again, and webhooks that deny the evictions of some pods. */
const world = fc.record({
  replicas: fc.tuple(...owners.map(() => fc.constantFrom(1, 1, 2, 9, 10, 20, 35))),
  again: fc.subarray([...owners]),
  denied: fc.array(fc.tuple(fc.nat({ max: 40 }), fc.constantFrom(429, 403)), { maxLength: 12 }),
  maxEvictionsPerMinute: fc.integer({ min: 1, max: 12 }),
  newLeaderAfter: fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined }),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

const denials: Readonly<Record<number, EvictionOutcome>> = {
  403: { kind: 'forbidden', message: 'admission webhook "w" denied the request' },
  429: { kind: 'denied', message: 'admission webhook "w" denied the request', retryAfterMs: 1_000 },
};

function clusterOf({ replicas, denied, maxEvictionsPerMinute }: World): ReplacingCluster {
  const counts = Object.fromEntries(owners.map((name, i) => [name, replicas[i] ?? 0]));
  const env = new ReplacingCluster(counts, { maxEvictionsPerMinute });
  const names = [...env.pods.items.values()].map(({ name }) => name);
  for (const [at, status] of denied) {
    const [name, outcome] = [names[at], denials[status]];
    if (name !== undefined && outcome !== undefined) env.evictions.outcomes.set(name, outcome);
  }
  return env;
}

interface Evicted {
  readonly name: string;
  readonly atMs: number;
}
const ownerOf = ({ name }: Evicted): string => name.slice(0, 1);
const mostInAMinute = (evicted: readonly Evicted[]): number =>
  Math.max(
    0,
    ...evicted.map(
      ({ atMs: from }) => evicted.filter(({ atMs }) => atMs >= from && atMs < from + minuteMs).length,
    ),
  );

test('no owner loses more than a tenth of its pods, or one, in any minute, and the cluster no more than the policy allows', async () => {
  let evictions = 0;
  await fc.assert(
    fc.asyncProperty(world, async (one) => {
      const env = clusterOf(one);
      const step = { exceedsAgain: (owner: string) => one.again.includes(owner as 'a') };
      const evicted: Evicted[] = [];
      for (let minute = 0; minute < 30; minute += 1) {
        if (minute === one.newLeaderAfter) env.lead();
        const lost = await env.run(1, step);
        evicted.push(...lost.map(({ name, atMs }) => ({ name, atMs: atMs + minute * minuteMs })));
      }
      evictions += evicted.length;
      expect(mostInAMinute(evicted)).toBeLessThanOrEqual(one.maxEvictionsPerMinute);
      for (const [owner, lost] of Map.groupBy(evicted, ownerOf)) {
        const replicas = one.replicas[owners.indexOf(owner as 'a')] ?? 0;
        expect(mostInAMinute(lost)).toBeLessThanOrEqual(Math.max(1, Math.floor(replicas / 10)));
        // 0, 1, 3, 7 and 15 min; a new leader begins anew.
        const most = one.newLeaderAfter === undefined ? 5 : 9;
        if (replicas === 1) expect(lost.length).toBeLessThanOrEqual(most);
      }
    }),
    { numRuns: 12 },
  );
  expect(evictions).toBeGreaterThan(50);
});

test('a pod that no webhook denies is evicted in the end, however many are denied', async () => {
  await fc.assert(
    fc.asyncProperty(world, async (one) => {
      const env = clusterOf(one);
      const denied = new Set(env.evictions.outcomes.keys());
      const all = [...env.pods.items.values()].map(({ name }) => name).filter((name) => !denied.has(name));
      const evicted = await env.run(Math.ceil(all.length / one.maxEvictionsPerMinute) + 45, {
        exceedsAgain: () => false,
      });
      expect(new Set(evicted.map(({ name }) => name))).toEqual(new Set(all));
    }),
    { numRuns: 6 },
  );
});

test('a node whose evicted pods return loses three pods, whatever their owners', async () => {
  await fc.assert(
    fc.asyncProperty(fc.subarray([...owners], { minLength: 1 }), fc.boolean(), async (names, isOneNode) => {
      const nodeOf = (owner: string): string => (isOneNode ? 'node-1' : `node-${owner}`);
      const env = new ReplacingCluster(Object.fromEntries(names.map((name) => [name, 1])), {}, nodeOf);
      for (const name of names) env.nodes.items.set(`uid-${nodeOf(name)}`, node(nodeOf(name)));
      env.policies.ranked = [pressurePolicy()];
      const evicted = await env.run(120, { request: pressureRequest });
      expect(evicted).toHaveLength(isOneNode ? 3 : 3 * names.length);
    }),
    { numRuns: 5 },
  );
});
