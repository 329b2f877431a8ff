import { expect, test } from 'vitest';
import * as reasons from '../../../../src/api/reasons.ts';

/** The tests beside this file have a case for every reason of these lists. */
const reached = {
  pods: ['podDeleteReasons', 'podKeepReasons'],
  images: ['imageRemoveReasons', 'imageKeepReasons', 'nodeKeepReasons'],
  containers: ['containerRemoveReasons', 'containerWarnReasons', 'containerKeepReasons', 'nodeKeepReasons'],
  evictions: ['evictionKeepReasons'],
  storage: ['storageKeepReasons', 'nodeKeepReasons'],
  pressure: ['pressureKeepReasons', 'nodeKeepReasons'],
} as const;

test('every list of reasons has a test', () => {
  const known = new Set<string>(Object.values(reached).flat());
  expect(Object.keys(reasons).sort()).toEqual([...known].sort());
});
