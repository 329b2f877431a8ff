import { expect, test } from 'vitest';
import { Progress } from '../../../src/cli/plan-progress.ts';

function progressAt(times: readonly number[]): { said: string[]; progress: Progress } {
  const left = [...times];
  const said: string[] = [];
  const clock = { monotonicMs: () => left.shift() ?? 0 };
  return { said, progress: new Progress((text) => said.push(text), clock) };
}

test('says nothing within the first second, and takes nothing away then', () => {
  const { said, progress } = progressAt([0, 500, 999]);
  progress.step('a');
  progress.step('b');
  progress.end();
  expect(said).toEqual([]);
});

test('then says at most ten times a second how far it is, and takes the line away', () => {
  const { said, progress } = progressAt([0, 1000, 1050, 1100]);
  for (const text of ['a', 'b', 'c']) progress.step(text);
  progress.end();
  expect(said).toEqual(['\r\u001b[Ka', '\r\u001b[Kc', '\r\u001b[K']);
});

test('without a terminal it says nothing', () => {
  const progress = new Progress(undefined, { monotonicMs: () => 0 });
  expect(() => {
    progress.step('a');
    progress.end();
  }).not.toThrow();
});
