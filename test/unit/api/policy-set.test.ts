import { expect, test } from 'vitest';
import { PolicySet } from '../../../src/api/policy/policy-set.ts';

const stored = (
  name: string,
  over: { spec?: object; generation?: number; status?: object; annotations?: object } = {},
) => ({
  metadata: { name, uid: `uid-${name}`, generation: over.generation ?? 1, annotations: over.annotations },
  spec: over.spec ?? { pods: {} },
  ...(over.status && { status: over.status }),
});

const [a, b] = [stored('a'), stored('b', { spec: { priority: 1 } })];

test.each<{ readonly name: string; readonly next: readonly object[]; readonly changed: boolean }>([
  { name: 'the same', next: [a, b], changed: false },
  { name: 'the same in another order', next: [b, a], changed: false },
  { name: 'another status alone', next: [stored('a', { status: { conditions: [] } }), b], changed: false },
  {
    ...{ name: 'the end of a hold', changed: true },
    next: [stored('a', { annotations: { 'gc.dustpan.dev/skip-hold': '0123456789ab' } }), b],
  },
  {
    ...{ name: 'another annotation', changed: false },
    next: [stored('a', { annotations: { team: 'shop' } }), b],
  },
  {
    name: 'a policy that has become invalid',
    next: [stored('a', { spec: { mode: 'Off' } }), b],
    changed: true,
  },
  { name: 'a policy less', next: [a], changed: true },
  { name: 'a policy more', next: [a, b, stored('c')], changed: true },
  {
    name: 'another spec under the same generation',
    next: [stored('a', { spec: { pods: { outOfService: {} } } }), b],
    changed: true,
  },
  { name: 'another generation of the same spec', next: [stored('a', { generation: 2 }), b], changed: true },
])('$name: changed $changed', ({ next, changed }) => {
  const set = new PolicySet();
  expect(set.update([a, b])).toBe(true);
  const { ranked, fingerprint } = set;
  expect(set.update(next as Parameters<PolicySet['update']>[0])).toBe(changed);
  expect(set.ranked === ranked).toBe(!changed);
  expect(set.fingerprint === fingerprint).toBe(!changed);
});

test('ranks the policies and returns their stored statuses', () => {
  const set = new PolicySet();
  set.update([stored('a', { status: { any: 'thing' } }), b]);
  expect(set.ranked.map(({ name }) => name)).toEqual(['b', 'a']);
  expect(set.storedStatus('uid-a')).toEqual({ any: 'thing' });
  expect(set.storedStatus('uid-b')).toBeUndefined();
  expect(set.statuses).toEqual([
    { name: 'b', status: undefined },
    { name: 'a', status: { any: 'thing' } },
  ]);
  set.update([a, b]);
  expect(set.storedStatus('uid-a')).toBeUndefined();
});

test('an empty list is a change only the first time', () => {
  const set = new PolicySet();
  expect([set.update([]), set.update([])]).toEqual([true, false]);
});
