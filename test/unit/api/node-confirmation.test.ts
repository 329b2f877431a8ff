import { expect, test } from 'vitest';
import { LiveCheck, podsOfBoth, type NodeConfirmation } from '../../../src/api/node-confirmation.ts';
import { governNode } from '../../../src/api/node-governance.ts';
import { node, policy } from '../../builders.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { silentLogger } from '../../fakes/logger.ts';
import { evictPolicy } from '../controllers/eviction.world.ts';

const signal = new AbortController().signal;
const governing = evictPolicy();

test('after a no nothing is asked any more in the pass', async () => {
  let asked = 0;
  const confirm = (): Promise<NodeConfirmation> => {
    asked += 1;
    return Promise.resolve({ governance: governNode([policy()], node('n')), pods: [], clockSkewMs: 0 });
  };
  const check = new LiveCheck({ confirm, policy: governing, clock: new FakeClock(), log: silentLogger });
  expect(await check.ask(signal)).toBeUndefined();
  expect(check.halted).toBe('policies have changed');
  expect(await check.ask(signal)).toBeUndefined();
  expect(asked).toBe(1);
});

test('what only one of cache and server knows counts; what the cache does not know is not known', () => {
  expect(podsOfBoth([1], [2])).toEqual([1, 2]);
  expect(podsOfBoth(undefined, [2])).toBeUndefined();
});
