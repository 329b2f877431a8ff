import { expect, test } from 'vitest';
import { nearest, nearestNames } from '../../../src/runtime/text/nearest.ts';

const commands = ['controller', 'agent', 'plan', 'status', 'version'];

test.each([
  { name: 'a missing letter', word: 'controler', expected: 'controller' },
  { name: 'neighbours swapped', word: 'paln', expected: 'plan' },
  { name: 'two mistakes in a long word', word: 'contrler', expected: 'controller' },
  { name: 'two mistakes in a short word', word: 'pxxn', expected: undefined },
  { name: 'distant letters swapped', word: 'nlap', expected: undefined },
  { name: 'nothing', word: '', expected: undefined },
])('nearest: $name', ({ word, expected }) => {
  expect(nearest(word, commands)).toBe(expected);
});

test('the nearest of several', () => {
  expect(nearest('--node', ['--nodes', '--node'])).toBe('--node');
});

test.each([
  ['node-1', ['node-11', 'node-1a', 'node-2', 'node-3', 'x'], '; did you mean node-11 or node-1a or node-2?'],
  ['worker', ['wroker', 'master'], '; did you mean wroker?'],
  ['worker', ['a', 'b'], ''],
])('names similar to %s in %j: %s', (name, known, end) => {
  expect(nearestNames(name, known)).toBe(end);
});
