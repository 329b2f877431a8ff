import { expect, test } from 'vitest';
import { podsOfBoth } from '../../../src/api/node-confirmation.ts';

test('what only one of cache and server knows counts; what the cache does not know is not known', () => {
  expect(podsOfBoth([1], [2])).toEqual([1, 2]);
  expect(podsOfBoth(undefined, [2])).toBeUndefined();
});
