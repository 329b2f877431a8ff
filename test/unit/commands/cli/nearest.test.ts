import { expect, test } from 'vitest';
import { nearestNames } from '../../../../src/commands/cli/nearest.ts';

test.each([
  {
    name: 'node-1',
    known: ['node-11', 'node-1a', 'node-2', 'node-3', 'x'],
    end: '; did you mean node-11 or node-1a or node-2?',
  },
  { name: 'worker', known: ['wroker', 'master'], end: '; did you mean wroker?' },
  { name: 'worker', known: ['a', 'b'], end: '' },
])('names similar to $name: $end', ({ name, known, end }) => {
  expect(nearestNames(name, known)).toBe(end);
});
