import { describe, expect, test } from 'vitest';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import { livePod } from '../../../fakes/evictions.ts';
import { EvictionBed, many } from './environment.ts';
import { asks, evictPolicy } from './builders.ts';

const blocked = { kind: 'blocked', message: 'The budget web needs 2.', retryAfterMs: undefined } as const;

describe('a budget that blocks', () => {
  test('is told once, tried again with longer pauses, and in the end allows', async () => {
    const bed = new EvictionBed(livePod('a'));
    bed.evictions.answers.set('a', blocked);
    for (let second = 0; second < 75; second += 5) {
      bed.ask(asks('a', { observedAtMs: bed.clock.now().getTime() }));
      await bed.pass();
      bed.clock.advance(5_000);
    }
    expect(bed.evictions.acts).toHaveLength(4);
    expect(bed.recorder.reasons).toEqual(['EvictionBlocked Pod/a']);
    expect(bed.recorder.events[0]?.note).toContain('The budget web needs 2.');
    expect(bed.messages('warn')).toEqual(['eviction is blocked']);
    expect(await bed.metric('dustpan_eviction_blocked_pods')).toBe(1);
    await bed.pass();
    expect(await bed.metric('dustpan_eviction_kept_pods', '{reason="BudgetBlocked"}')).toBe(1);
    expect(await bed.metric('dustpan_eviction_blocked_pods')).toBe(1);

    bed.evictions.answers.clear();
    bed.clock.advance(80_000);
    bed.ask(asks('a', { observedAtMs: bed.clock.now().getTime() }));
    await bed.pass();
    expect(bed.recorder.reasons).toEqual(['EvictionBlocked Pod/a', 'Evicted Pod/a']);
    expect(await bed.metric('dustpan_eviction_blocked_pods')).toBe(0);
  });

  test('is told anew when the node had stopped asking in between', async () => {
    const bed = new EvictionBed(livePod('a'));
    bed.evictions.answers.set('a', blocked);
    await bed.pass();
    bed.ask();
    await bed.pass();
    expect(await bed.metric('dustpan_eviction_blocked_pods')).toBe(0);
    bed.ask(asks('a'));
    await bed.pass();
    expect(bed.recorder.reasons).toEqual(['EvictionBlocked Pod/a', 'EvictionBlocked Pod/a']);
  });

  test('does not hold up other pods, and is no failure', async () => {
    const bed = new EvictionBed(livePod('a'), livePod('b'));
    bed.evictions.answers.set('a', blocked);
    await bed.pass();
    expect(bed.recorder.reasons.sort()).toEqual(['Evicted Pod/b', 'EvictionBlocked Pod/a']);
  });

  test('and another that covers the same pod: told likewise, counted as an error', async () => {
    const bed = new EvictionBed(livePod('a'));
    bed.evictions.answers.set('a', { kind: 'misconfigured', message: 'more than one budget' });
    await bed.pass();
    await bed.pass();
    expect(bed.evictions.acts).toEqual(['evict a']);
    expect(bed.recorder.reasons).toEqual(['EvictionBlocked Pod/a']);
    const labels = '{eviction_signal="emptydirfs.limit",reason="misconfigured"}';
    expect(await bed.metric('dustpan_eviction_errors_total', labels)).toBe(1);
  });
});

describe('a failure', () => {
  test('names the pod, holds up nobody, and waits', async () => {
    const bed = new EvictionBed(livePod('a'), livePod('b'));
    bed.evictions.answers.set('a', new Error('refused'));
    await expect(bed.pass()).rejects.toThrow('evicting pods: 1 failed, the first default/a');
    expect(bed.recorder.reasons).toEqual(['Evicted Pod/b']);
    await bed.pass();
    expect(bed.evictions.acts.filter((act) => act === 'evict a')).toHaveLength(1);
    bed.clock.advance(10_000);
    await expect(bed.pass()).rejects.toThrow();
    expect(bed.evictions.acts.filter((act) => act === 'evict a')).toHaveLength(2);
  });

  test('of every pod ends the pass early', async () => {
    const bed = many(40);
    for (const { name } of bed.evictions.pods.values()) bed.evictions.answers.set(name, new Error('refused'));
    await expect(bed.pass()).rejects.toMatchObject({ cause: { message: 'refused' } });
    expect(bed.evictions.acts.length).toBeLessThan(16);
    expect(bed.messages('info')).toEqual(['pass ended early']);
  });
});

describe('a missing right', () => {
  const labels = '{eviction_signal="emptydirfs.limit",reason="forbidden"}';
  const ignoring = evictPolicy({ respectPodDisruptionBudgets: false });
  const ended = ['get a', 'may evict in default', 'delete a'];

  test.each<{ name: string; policy: Policy; isAllowed: boolean; requests: readonly string[]; right: string }>(
    [
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
        requests: ended,
        right: 'delete pods. User "x" cannot',
      },
    ],
  )('$name, is named once, and the pod is kept', async ({ policy, isAllowed, requests, right }) => {
    const bed = new EvictionBed(livePod('a'));
    bed.policies.ranked = [policy];
    bed.evictions.isAllowed = isAllowed;
    bed.evictions.answers.set('a', { kind: 'forbidden', message: 'User "x" cannot' });
    await bed.pass();
    expect(bed.evictions.requests).toEqual(requests);
    await bed.pass();
    expect(await bed.metric('dustpan_eviction_kept_pods', '{reason="EvictionForbidden"}')).toBe(1);
    expect(await bed.metric('dustpan_eviction_blocked_pods')).toBe(0);

    bed.clock.advance(10_000);
    await bed.pass();
    expect(bed.evictions.requests).toEqual([...requests, ...requests]);
    expect(await bed.metric('dustpan_eviction_errors_total', labels)).toBe(2);
    expect(bed.recorder.reasons).toEqual(['EvictionBlocked Pod/a']);
    expect(bed.recorder.events[0]?.note).toContain(`the right needed is: ${right}`);
    expect(bed.messages('warn')).toEqual(['eviction is blocked']);
  });

  test('is named although the try before failed for another reason', async () => {
    const bed = new EvictionBed(livePod('a'));
    bed.evictions.answers.set('a', new Error('refused'));
    await expect(bed.pass()).rejects.toThrow();
    bed.evictions.answers.set('a', { kind: 'forbidden', message: 'User "x" cannot' });
    bed.clock.advance(10_000);
    await bed.pass();
    expect(bed.recorder.reasons).toEqual(['EvictionBlocked Pod/a']);
  });

  test('that is granted meanwhile lets the eviction succeed', async () => {
    const bed = new EvictionBed(livePod('a'));
    bed.policies.ranked = [ignoring];
    bed.evictions.isAllowed = false;
    await bed.pass();
    bed.evictions.isAllowed = true;
    bed.clock.advance(10_000);
    await bed.pass();
    expect(bed.evictions.requests).toEqual(['get a', 'may evict in default', ...ended]);
    expect(bed.recorder.reasons).toEqual(['EvictionBlocked Pod/a', 'Evicted Pod/a']);
  });
});

test.each([
  { name: 'before the pod is read', requests: [] },
  { name: 'once it was read', requests: ['get a'] },
])('policies that cannot be read $name evict nobody, and the pass has failed', async ({ requests }) => {
  const bed = new EvictionBed(livePod('a'));
  const fail = (): void => {
    bed.policies.confirm = () => Promise.reject(new Error('down'));
  };
  bed.evictions.onRequest = () => {
    bed.clock.advance(5_000);
    fail();
  };
  if (requests.length === 0) fail();
  await expect(bed.pass()).rejects.toMatchObject({
    message: 'confirming policies',
    cause: { message: 'down' },
  });
  expect(bed.evictions.requests).toEqual(requests);
  expect(bed.recorder.events).toEqual([]);
});

test('a pod that gets the keep label while the policies are read slowly is not evicted', async () => {
  const bed = new EvictionBed(livePod('a'));
  let isPodRead = false;
  bed.evictions.onRequest = () => {
    isPodRead = true;
    bed.clock.advance(4_999);
  };
  bed.policies.confirm = () => {
    if (isPodRead) bed.evictions.put(livePod('a', { labels: { 'gc.dustpan.dev/keep': 'true' } }));
    bed.clock.advance(1);
    return Promise.resolve({ same: true, clockSkewMs: 0 });
  };
  await bed.pass();
  expect(bed.evictions.requests).toEqual(['get a', 'get a']);
  expect(await bed.metric('dustpan_eviction_skipped_pods_total', '{reason="KeepMarked"}')).toBe(1);
});

test('a server on which every check takes too long evicts nobody, and that is a failure', async () => {
  const bed = new EvictionBed(livePod('a'));
  bed.evictions.onRequest = () => {
    bed.clock.advance(5_000);
  };
  await expect(bed.pass()).rejects.toThrow('re-checking live before a removal takes longer than 5 s');
  expect(bed.evictions.acts).toEqual([]);
});

test('a server that asks for patience gets it, and no pod is given up', async () => {
  const bed = many(20);
  for (const { name } of bed.evictions.pods.values())
    bed.evictions.answers.set(name, { kind: 'throttled', retryAfterMs: 20_000 });
  await bed.pass();
  expect(bed.evictions.acts.length).toBeLessThanOrEqual(4);
  const asked = bed.evictions.requests.length;
  bed.evictions.answers.clear();
  bed.clock.advance(19_999);
  await bed.pass();
  expect(bed.evictions.requests).toHaveLength(asked);
  bed.clock.advance(1);
  await bed.pass();
  expect(bed.recorder.reasons).toHaveLength(20);
});

test.each([
  { kind: 'gone', reason: 'PodGone' },
  { kind: 'changed', reason: 'PodMoved' },
  { kind: 'terminating', reason: 'Terminating' },
] as const)('an eviction that comes too late ($kind) is none', async ({ kind, reason }) => {
  const bed = new EvictionBed(livePod('a'));
  bed.evictions.answers.set('a', { kind });
  await bed.pass();
  expect(bed.recorder.events).toEqual([]);
  expect(await bed.metric('dustpan_evictions_total', '{eviction_signal="emptydirfs.limit"}')).toBe(0);
  expect(await bed.metric('dustpan_eviction_skipped_pods_total', `{reason="${reason}"}`)).toBe(1);
});
