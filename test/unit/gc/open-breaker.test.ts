import { expect, test } from 'vitest';
import { openBreakersIn } from '../../../src/gc/open-breaker.ts';

const tripped = { type: 'Degraded', status: 'True', reason: 'Tripped' };
const pods = { missingNodes: 3 };

const conditions = (over: object): object => ({ conditions: [{ ...tripped, ...over }], pods });

test.each([
  { name: 'is open', status: { conditions: [{ type: 'Ready' }, tripped], pods }, expected: 3 },
  { name: 'is open, with an unknown number of nodes', status: { conditions: [tripped] }, expected: Infinity },
  {
    name: 'is open, with no number',
    status: { conditions: [tripped], pods: { missingNodes: '3' } },
    expected: Infinity,
  },
  { name: 'was open', status: conditions({ status: 'False' }), expected: undefined },
  { name: 'is not the trouble', status: conditions({ reason: 'DeletesFailed' }), expected: undefined },
  { name: 'is in another condition', status: conditions({ type: 'Ready' }), expected: undefined },
  { name: 'is closed, without conditions', status: { pods }, expected: undefined },
  { name: 'is closed, without a status', status: undefined, expected: undefined },
  {
    name: 'is closed, with conditions that are none',
    status: { conditions: [null, 1] },
    expected: undefined,
  },
])('the circuit breaker $name', ({ status, expected }) => {
  expect(openBreakersIn([{ name: 'default', status }]).get('default')).toBe(expected);
});
