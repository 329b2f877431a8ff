import { describe, expect, test } from 'vitest';
import { claimed, isHeld, newLease, observe, type Lease } from '../../../../src/kube/lease/record.ts';

const place = { namespace: 'ns', name: 'dustpan' };
const held = (spec: Lease['spec'], resourceVersion = '1'): Lease => ({
  ...newLease(place),
  metadata: { ...place, resourceVersion },
  ...(spec && { spec: { holderIdentity: 'x', ...spec } }),
});

describe('a term', () => {
  test.each([
    { name: 'ends by its duration', spec: { leaseDurationSeconds: 20 }, endMs: 21_000 },
    { name: 'has our duration if it has none', spec: {}, endMs: 16_000 },
    { name: 'is over without a holder', spec: { holderIdentity: '', leaseDurationSeconds: 20 }, endMs: 0 },
  ])('$name', ({ spec, endMs }) => {
    const observation = { lease: held(spec), changedAtMs: 1_000 };
    expect([endMs - 1, endMs].map((nowMs) => isHeld(observation, 15_000, nowMs))).toEqual([endMs > 0, false]);
  });

  test('is not extended by a change of the metadata', () => {
    const known = { lease: held({ leaseTransitions: 1 }), changedAtMs: 1_000 };
    expect(observe(known, held({ leaseTransitions: 1 }, '2'), 5_000).changedAtMs).toBe(1_000);
    expect(observe(known, held({ leaseTransitions: 2 }, '2'), 5_000).changedAtMs).toBe(5_000);
  });
});

test('a claim is for whole seconds, not fewer than the term', () => {
  const claim = { identity: 'a', pod: undefined, leaseDurationMs: 15_001, now: new Date() };
  expect(claimed(newLease(place), claim).spec?.leaseDurationSeconds).toBe(16);
});
