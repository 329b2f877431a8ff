import { describe, expect, test } from 'vitest';
import { livePod } from '../../../fakes/evictions.ts';
import { EvictionEnvironment, many } from './environment.ts';
import { byUid, evictionRequest, evictPolicy, namespace } from './builders.ts';

const blocked = { kind: 'blocked', message: 'The budget web needs 2.', retryAfterMs: undefined } as const;

const errors = (reason: string): string => `{eviction_signal="emptydirfs.limit",reason="${reason}"}`;

describe('a budget that blocks', () => {
  test('is reported once; the controller retries with longer pauses until it allows', async () => {
    const env = new EvictionEnvironment(livePod('a'));
    env.evictions.outcomes.set('a', blocked);
    for (let second = 0; second < 75; second += 5) {
      env.request(evictionRequest('a', { observedAtMs: env.clock.now().getTime() }));
      await env.pass();
      env.clock.advance(5_000);
    }
    expect(env.evictions.acts).toHaveLength(4);
    expect(env.recorder.reasons).toEqual(['EvictionBlocked Pod/a']);
    expect(env.recorder.events[0]?.note).toContain('The budget web needs 2.');
    expect(env.messages('warn')).toEqual(['eviction is blocked']);
    expect(await env.metric('dustpan_eviction_blocked_pods')).toBe(1);
    await env.pass();
    expect(await env.kept('BudgetBlocked')).toBe(1);

    env.request();
    await env.pass();
    expect(await env.metric('dustpan_eviction_blocked_pods')).toBe(0);
    const again = evictionRequest('a', { observedAtMs: env.clock.now().getTime() });
    await env.request(again).pass();
    env.evictions.outcomes.clear();
    env.clock.advance(10_000);
    await env.pass();
    expect(env.recorder.reasons.slice(1)).toEqual(['EvictionBlocked Pod/a', 'Evicted Pod/a']);
  });

  test.each([
    { retryAfterMs: 25_000, waitsMs: 25_000 },
    { retryAfterMs: 3_600_000, waitsMs: 300_000 },
  ])('for $retryAfterMs ms is tried again after $waitsMs ms', async ({ retryAfterMs, waitsMs }) => {
    const env = new EvictionEnvironment(livePod('a'));
    env.evictions.outcomes.set('a', { ...blocked, retryAfterMs });
    await env.pass();
    env.clock.advance(waitsMs - 1);
    await env.pass();
    expect(env.evictions.acts).toHaveLength(1);
    env.clock.advance(1);
    await env.pass();
    expect(env.evictions.acts).toHaveLength(2);
  });
});

test.each([
  { kind: 'misconfigured', message: 'more than one budget', kept: 'BudgetBlocked' },
  { kind: 'denied', message: 'admission webhook "w" denied the request', kept: 'EvictionForbidden' },
] as const)('a response $kind counts as an error and is reported once, in its own words', async (row) => {
  const { kind, message, kept } = row;
  const env = new EvictionEnvironment(livePod('a'));
  env.evictions.outcomes.set('a', { kind, message, retryAfterMs: undefined });
  await env.pass();
  expect(await env.metric('dustpan_eviction_errors_total', errors(kind))).toBe(1);
  await env.pass();
  expect(await env.kept(kept)).toBe(1);
  env.clock.advance(10_000);
  await env.pass();
  expect(env.evictions.acts).toEqual(['evict a', 'evict a']);
  expect(env.recorder.reasons).toEqual(['EvictionBlocked Pod/a']);
  expect(env.recorder.events[0]?.note.endsWith(`; the controller tries again. ${message}`)).toBe(true);
});

test('a failure names the pod, does not delay others, and is retried after a minute: it may have evicted', async () => {
  const env = new EvictionEnvironment(livePod('a'), livePod('b'));
  env.evictions.outcomes.set('a', new Error('refused'));
  await expect(env.pass()).rejects.toThrow('evicting pods: 1 failed, the first default/a');
  expect(env.recorder.reasons).toEqual(['Evicted Pod/b']);
  expect(await env.metric('dustpan_eviction_errors_total', errors('error'))).toBe(1);
  await env.pass();
  expect(env.evictions.acts.filter((act) => act === 'evict a')).toHaveLength(1);
  env.clock.advance(60_000);
  await expect(env.pass()).rejects.toThrow();
  expect(env.evictions.acts.filter((act) => act === 'evict a')).toHaveLength(2);
});

test('failures of every pod end the pass early', async () => {
  const env = many(40);
  for (const { name } of env.evictions.pods.values()) env.evictions.outcomes.set(name, new Error('refused'));
  await expect(env.pass()).rejects.toMatchObject({ cause: { message: 'refused' } });
  expect(env.evictions.acts.length).toBeLessThan(16);
});

const ignoring = evictPolicy({ respectPodDisruptionBudgets: false });

test.each([
  {
    name: 'to evict, with a policy that respects budgets',
    policy: evictPolicy(),
    isAllowed: false,
    requests: ['get a', 'evict a'],
    right: 'create pods/eviction. User "x" cannot',
  },
  {
    name: 'to evict, with a policy that ignores budgets: nothing is deleted instead',
    policy: ignoring,
    isAllowed: false,
    requests: ['get a', 'may evict in default'],
    right: 'create pods/eviction.',
  },
  {
    name: 'to delete',
    policy: ignoring,
    isAllowed: true,
    requests: ['get a', 'may evict in default', 'delete a'],
    right: 'delete pods. User "x" cannot',
  },
])('a missing right $name, is reported once, and the pod is kept', async (row) => {
  const env = new EvictionEnvironment(livePod('a'));
  env.policies.ranked = [row.policy];
  env.evictions.isAllowed = row.isAllowed;
  env.evictions.outcomes.set('a', { kind: 'forbidden', message: 'User "x" cannot' });
  await env.pass();
  expect(env.evictions.requests).toEqual(row.requests);
  await env.pass();
  expect(await env.kept('EvictionForbidden')).toBe(1);
  env.clock.advance(10_000);
  await env.pass();
  expect(env.evictions.requests).toEqual([...row.requests, ...row.requests]);
  expect(await env.metric('dustpan_eviction_errors_total', errors('forbidden'))).toBe(2);
  expect(env.recorder.reasons).toEqual(['EvictionBlocked Pod/a']);
  expect(env.recorder.events[0]?.note).toContain(`it needs ${row.right}`);
});

test('a missing right is reported although the try before failed for another reason', async () => {
  const env = new EvictionEnvironment(livePod('a'));
  env.evictions.outcomes.set('a', new Error('refused'));
  await expect(env.pass()).rejects.toThrow();
  env.evictions.outcomes.set('a', { kind: 'forbidden', message: 'User "x" cannot' });
  env.clock.advance(60_000);
  await env.pass();
  expect(env.recorder.reasons).toEqual(['EvictionBlocked Pod/a']);
});

test('policies that cannot be read prevent evictions, and the pass fails', async () => {
  const env = new EvictionEnvironment(livePod('a'));
  env.evictions.policies = () => Promise.reject(new Error('down'));
  await expect(env.pass()).rejects.toMatchObject({
    message: 'confirming policies',
    cause: { message: 'down' },
  });
  expect(env.evictions.requests).toEqual([]);
});

test.each([
  { name: 'the labels of the cache', labels: { a: 'b' }, acts: ['evict a'] },
  { name: 'other labels', labels: { a: 'c' }, acts: [] },
])('reads the namespace live: with $name, $acts', async ({ labels, acts }) => {
  const env = new EvictionEnvironment(livePod('a'));
  env.namespaces.items = byUid(namespace('other'), namespace('default', { a: 'b' }));
  Object.assign(env.evictions, { namespace: () => Promise.resolve(namespace('default', labels)) });
  await env.pass();
  expect(env.evictions.acts).toEqual(acts);
  expect(await env.skipped('NamespaceUnknown')).toBe(1 - acts.length);
});

test.each([
  { retryAfterMs: 20_000, waitsMs: 20_000 },
  { retryAfterMs: 3_600_000, waitsMs: 300_000 },
])('after a throttled request it sends none for $waitsMs ms, then evicts every pod', async (row) => {
  const env = many(20);
  for (const { name } of env.evictions.pods.values())
    env.evictions.outcomes.set(name, { kind: 'throttled', retryAfterMs: row.retryAfterMs });
  await env.pass();
  expect(env.evictions.acts).toHaveLength(1);
  expect(await env.metric('dustpan_eviction_errors_total', errors('throttled'))).toBe(1);
  const sent = env.evictions.requests.length;
  env.evictions.outcomes.clear();
  env.clock.advance(row.waitsMs - 1);
  await env.pass();
  expect(env.evictions.requests).toHaveLength(sent);
  env.clock.advance(1);
  await env.pass();
  expect(env.recorder.reasons).toHaveLength(20);
});

test('the right to evict is checked in the namespace of each pod', async () => {
  const env = new EvictionEnvironment(livePod('a'), livePod('other/b'));
  env.namespaces.items = byUid(namespace('default'), namespace('other'));
  env.policies.ranked = [ignoring];
  await env.pass();
  const checked = env.evictions.requests.filter((request) => request.startsWith('may evict'));
  expect(checked).toEqual(['may evict in default', 'may evict in other']);
});

test.each([
  { kind: 'gone', reason: 'PodGone' },
  { kind: 'changed', reason: 'PodMoved' },
  { kind: 'terminating', reason: 'Terminating' },
] as const)('reports no eviction if the response is $kind', async ({ kind, reason }) => {
  const env = new EvictionEnvironment(livePod('a'));
  env.evictions.outcomes.set('a', { kind });
  await env.pass();
  expect(env.recorder.events).toEqual([]);
  expect(await env.metric('dustpan_evictions_total', '{eviction_signal="emptydirfs.limit"}')).toBe(0);
  expect(await env.skipped(reason)).toBe(1);
});
