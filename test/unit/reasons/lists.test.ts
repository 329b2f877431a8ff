import { expect, test } from 'vitest';
import * as reasons from '../../../src/api/reasons.ts';

/** Each unit's table beside this file has a row for every word of its lists, and no other. */
const reached = {
  pods: ['podDeleteReasons', 'podKeepReasons'],
  images: ['imageRemoveReasons', 'imageKeepReasons', 'nodeKeepReasons'],
  containers: ['containerRemoveReasons', 'containerKeepReasons', 'nodeKeepReasons'],
  eviction: ['evictionKeepReasons'],
  storage: ['storageKeepReasons', 'nodeKeepReasons'],
} as const;

test('every list of reasons is reached by a table', () => {
  const known = new Set<string>(Object.values(reached).flat());
  expect(Object.keys(reasons).sort()).toEqual([...known].sort());
});
