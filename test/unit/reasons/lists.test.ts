import { expect, test } from 'vitest';
import * as reasons from '../../../src/api/reasons.ts';

/** The tables beside this file have a row for every reason of these lists. */
const reached = {
  pods: ['podDeleteReasons', 'podKeepReasons'],
  images: ['imageRemoveReasons', 'imageKeepReasons', 'nodeKeepReasons'],
  containers: ['containerRemoveReasons', 'containerWarnReasons', 'containerKeepReasons', 'nodeKeepReasons'],
  eviction: ['evictionKeepReasons'],
  storage: ['storageKeepReasons', 'nodeKeepReasons'],
  pressure: ['pressureKeepReasons', 'nodeKeepReasons'],
} as const;

test('every list of reasons has a table', () => {
  const known = new Set<string>(Object.values(reached).flat());
  expect(Object.keys(reasons).sort()).toEqual([...known].sort());
});
