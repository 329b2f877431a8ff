import { expect, test } from 'vitest';
import * as reasons from '../../../src/api/reasons.ts';

/** Each unit's table beside this file has a row for every word of its lists, and no other. */
const reached = {
  pods: ['podDeleteReasons', 'podKeepReasons'],
  images: ['imageRemoveReasons', 'imageKeepReasons', 'nodeKeepReasons'],
  containers: ['containerRemoveReasons', 'containerKeepReasons', 'nodeKeepReasons'],
  eviction: ['evictionKeepReasons'],
} as const;
/** The words of local storage are there before its plan is: its table is written with that. */
const pending = ['storageKeepReasons'] as const;

test('every list of reasons is reached by a table, or is known to wait for one', () => {
  const known = new Set([...Object.values(reached).flat(), ...pending]);
  expect(Object.keys(reasons).sort()).toEqual([...known].sort());
});
