import { expect, test } from 'vitest';
import { podsOfBoth } from '../../../src/api/node-confirmation.ts';

test('a pod that only the cache or only the server has counts; without a synced cache the pods are unknown', () => {
  expect(podsOfBoth([1], [2])).toEqual([1, 2]);
  expect(podsOfBoth(undefined, [2])).toBeUndefined();
});
