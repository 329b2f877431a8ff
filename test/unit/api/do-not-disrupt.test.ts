import { expect, test } from 'vitest';
import { doNotDisruptOf } from '../../../src/api/do-not-disrupt.ts';

const autoscaler = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
const karpenter = 'karpenter.sh/do-not-disrupt';
const before = 'karpenter.sh/do-not-evict';
const descheduler = 'descheduler.alpha.kubernetes.io/prefer-no-eviction';

test.each<[key: string, value: unknown, refuses: boolean]>([
  [autoscaler, 'false', true],
  [autoscaler, 'on-completion', true],
  [autoscaler, 'true', false],
  [autoscaler, '', false],
  [karpenter, 'true', true],
  [karpenter, '4h', true],
  [karpenter, 'false', false],
  [before, 'true', true],
  [before, 'false', false],
  [descheduler, '', true],
  [descheduler, 'false', true],
  [karpenter, 1, false],
  ['example.com/do-not-disrupt', 'true', false],
])('%s: %j refuses evictions: %s', (key, value, refuses) => {
  expect(doNotDisruptOf({ other: 'true', [key]: value })).toBe(
    refuses ? `${key}: ${JSON.stringify(value)}` : undefined,
  );
});
