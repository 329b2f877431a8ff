import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EvictionRequest } from '../../../../src/api/local-storage.ts';
import type { EvictionKeepReason } from '../../../../src/api/reasons.ts';
import { livePod } from '../../../fakes/evictions.ts';
import { owner } from '../../../builders.ts';
import { worlds } from '../../../worlds.ts';
import { EvictionEnvironment } from './environment.ts';
import { evictionRequest, keepLabel, pressurePolicy, pressureRequest } from './builders.ts';

/** A cluster whose leader has led for longer than the first pause; node-1 is under pressure and requests these pods. */
async function pressed(...pods: Parameters<typeof livePod>[]): Promise<EvictionEnvironment> {
  const env = new EvictionEnvironment(...pods.map(([name, over]) => livePod(name, over)));
  env.policies.ranked = [pressurePolicy()];
  env.request();
  await env.pass();
  env.clock.advance(60_000);
  return env.request(...pods.map(([name]) => measured(env, name)));
}

/** A request that was measured now. */
const measured = (env: EvictionEnvironment, name: string): EvictionRequest =>
  pressureRequest(name, { observedAtMs: env.clock.now().getTime() });

/** Lets time pass, and the agent measure again. */
function later(env: EvictionEnvironment, ms: number, ...names: readonly string[]): void {
  env.clock.advance(ms);
  env.request(...names.map((name) => measured(env, name)));
}

const isGone = (env: EvictionEnvironment, name: string): boolean => env.pods.items.delete(`uid-${name}`);

describe('an eviction for node pressure', () => {
  test('uses the Eviction API; Events, a metric and a log line report it', async () => {
    const env = await pressed(['a', { controller: owner('StatefulSet', 'web'), priority: undefined }]);
    await env.pass();
    expect(env.evictions.requests).toEqual(['get a', 'evict a']);
    expect(env.recorder.reasons).toEqual(['Evicted Pod/a', 'Evicted StatefulSet/web']);
    expect(env.recorder.events[0]?.note).toMatch(/; its priority is 0\.$/);
    expect(await env.metric('dustpan_evictions_total', '{eviction_signal="nodefs.available"}')).toBe(1);
  });

  test('is the first in the order of the report; the next waits for a minute and a new measurement', async () => {
    const env = await pressed(['b'], ['a'], ['c']);
    await env.pass();
    expect(env.evictions.acts).toEqual(['evict b']);
    expect(await env.kept('PacingLimit')).toBe(2);
    isGone(env, 'b');
    later(env, 59_999, 'a', 'c');
    await env.pass();
    expect(env.evictions.acts).toHaveLength(1);
    env.clock.advance(1);
    await env.pass();
    expect(env.evictions.acts).toEqual(['evict b', 'evict a']);
    isGone(env, 'a');
    // The agent does not report any more: its last measurement is from before the eviction.
    env.clock.advance(120_000);
    await env.pass();
    expect(env.evictions.acts).toHaveLength(2);
    later(env, 0, 'c');
    await env.pass();
    expect(env.evictions.acts).toEqual(['evict b', 'evict a', 'evict c']);
  });

  test('waits for a measurement after an eviction for a limit, which frees disk space too', async () => {
    const env = await pressed(['a'], ['b']);
    const atMs = env.clock.now().getTime();
    env.request(evictionRequest('a', { observedAtMs: atMs }), measured(env, 'b'));
    await env.pass();
    expect(env.evictions.acts).toEqual(['evict a']);
    isGone(env, 'a');
    env.clock.advance(60_000);
    await env.pass();
    expect(env.evictions.acts).toEqual(['evict a']);
    later(env, 0, 'b');
    await env.pass();
    expect(env.evictions.acts).toEqual(['evict a', 'evict b']);
  });

  test.each([
    { name: 'gone', end: (env: EvictionEnvironment) => isGone(env, 'a') },
    { name: 'finished', end: (env: EvictionEnvironment) => env.updatePod('uid-a', { phase: 'Failed' }) },
  ])('waits for the next report if a pod of this one is $name: it may have freed enough', async ({ end }) => {
    const env = await pressed(['a'], ['b']);
    end(env);
    await env.pass();
    expect(env.evictions.acts).toEqual([]);
    expect(await env.kept('PacingLimit')).toBe(1);
    later(env, 0, 'b');
    await env.pass();
    expect(env.evictions.acts).toEqual(['evict b']);
  });
});

test('the next pod is tried if a budget blocks the first; its Event names the shortage', async () => {
  const env = await pressed(['a'], ['b']);
  const message = 'The budget web needs 2.';
  env.evictions.outcomes.set('a', { kind: 'blocked', message, retryAfterMs: undefined });
  await env.pass();
  later(env, 9_999, 'a', 'b');
  await env.pass();
  expect(env.evictions.acts).toEqual(['evict a', 'evict b']);
  expect(env.recorder.reasons).toEqual(['EvictionBlocked Pod/a', 'Evicted Pod/b']);
  expect(env.recorder.events[0]?.note).toMatch(/nodefs\.available.* The budget web needs 2\.$/);
});

describe('keeps the pod if, while it is read,', () => {
  const ofLimit = (env: EvictionEnvironment): EvictionRequest =>
    evictionRequest('a', { observedAtMs: env.clock.now().getTime() });
  const enough = { shortage: { available: 2, threshold: 2 } };
  type Requests = (env: EvictionEnvironment) => readonly EvictionRequest[];
  const usual: Requests = (env) => [measured(env, 'a'), measured(env, 'b')];

  test.each<readonly [string, before: Requests, after: Requests, EvictionKeepReason]>([
    ['more becomes available', usual, () => [pressureRequest('a', enough)], 'PolicyChanged'],
    ['the request becomes one for a limit', usual, (env) => [ofLimit(env)], 'RequestStale'],
    ['it was one for a limit', (env) => [ofLimit(env)], (env) => [measured(env, 'a')], 'RequestStale'],
    ['another pod of the node is before it', usual, (env) => usual(env).toReversed(), 'PacingLimit'],
  ])('%s', async (_, before, after, reason) => {
    const env = await pressed(['a'], ['b']);
    env.request(...before(env));
    env.evictions.onRequest = () => env.request(...after(env));
    await env.pass();
    expect(env.evictions.acts).toEqual([]);
    expect(await env.skipped(reason)).toBe(1);
  });
});

const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const nodeOf = (name: string): 'node-1' | 'node-2' => (name < 'd' ? 'node-1' : 'node-2');
const request = fc.record({
  name: fc.constantFrom(...names),
  isComplete: fc.integer({ min: 0, max: 4 }).map((one) => one > 0),
});
const step = fc.record({
  pauseMs: fc.constantFrom(0, 1, 5_000, 20_000, 40_000, 59_999, 60_000, 90_000),
  requests: fc.record({
    'node-1': fc.array(request, { maxLength: 4 }),
    'node-2': fc.array(request, { maxLength: 4 }),
  }),
  outcome: fc.constantFrom('evicts', 'evicts', 'blocks', 'fails'),
  isNewLeader: fc.integer({ min: 0, max: 6 }).map((one) => one === 0),
  kept: fc.constantFrom('a', 'd', undefined),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const nodes = ['node-1', 'node-2'] as const;

function prepare(env: EvictionEnvironment, { pauseMs, requests, outcome, isNewLeader, kept }: Step): void {
  env.clock.advance(pauseMs);
  if (isNewLeader) env.lead();
  for (const node of nodes) {
    const list = requests[node].map(({ name, isComplete }) => ({
      ...measured(env, name),
      ...(!isComplete && { shortage: undefined }),
    }));
    env.requestFrom(node, ...list);
  }
  for (const name of names) env.updatePod(`uid-${name}`, { labels: name === kept ? keepLabel : {} });
  env.evictions.outcomes.clear();
  if (outcome === 'fails') env.evictions.outcomes.set('b', new Error('no response'));
  if (outcome === 'blocks')
    env.evictions.outcomes.set('b', { kind: 'blocked', message: '', retryAfterMs: undefined });
}

/** The pods that may have been evicted in this pass. */
async function evictedIn(env: EvictionEnvironment, { requests, outcome, kept }: Step): Promise<string[]> {
  const before = env.evictions.acts.length;
  await env.pass().catch(() => undefined);
  const gone = env.evictions.acts.slice(before).map((act) => act.replace('evict ', ''));
  for (const name of gone) {
    const own = requests[nodeOf(name)];
    expect(own.some((one) => one.name === name && one.isComplete)).toBe(true);
    expect(name).not.toBe(kept);
  }
  return gone.filter((name) => !(name === 'b' && outcome === 'blocks'));
}

test('whatever nodes request, each loses one pod a minute at most, its own, and only with a shortage', async () => {
  let evictions = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      const env = new EvictionEnvironment(...names.map((name) => livePod(name, { nodeName: nodeOf(name) })));
      for (const name of names) env.updatePod(`uid-${name}`, { nodeName: nodeOf(name) });
      env.policies.ranked = [pressurePolicy()];
      const last = new Map<string, number>();
      for (const one of steps) {
        prepare(env, one);
        const atMs = env.clock.monotonicMs();
        for (const name of await evictedIn(env, one)) {
          expect(atMs - (last.get(nodeOf(name)) ?? -Infinity)).toBeGreaterThanOrEqual(60_000);
          last.set(nodeOf(name), atMs);
          evictions += 1;
        }
      }
    }),
    worlds,
  );
  expect(evictions).toBeGreaterThan(100);
});
