import { expect, test } from 'vitest';
import { Progress } from '../../../../src/commands/plan/progress.ts';

function begun(): { said: string[]; progress: Progress; at: (ms: number) => void } {
  let nowMs = 0;
  const said: string[] = [];
  const progress = new Progress((text) => said.push(text), { monotonicMs: () => nowMs });
  return { said, progress, at: (ms) => (nowMs = ms) };
}

test('says nothing within the first second, and takes nothing away then', () => {
  const { said, progress, at } = begun();
  progress.step('a');
  at(999);
  progress.step('b');
  progress.phase('c');
  progress.end();
  expect(said).toEqual([]);
});

test('then says at most ten times a second how far it is, and takes the line away', () => {
  const { said, progress, at } = begun();
  for (const [ms, text] of [
    [1000, 'a'],
    [1050, 'b'],
    [1100, 'c'],
  ] as const) {
    at(ms);
    progress.step(text);
  }
  progress.end();
  expect(said).toEqual(['\r\u001b[Ka', '\r\u001b[Kc', '\r\u001b[K']);
});

test('what may take long is said at once', () => {
  const { said, progress, at } = begun();
  at(1000);
  progress.step('reading');
  progress.phase('planning');
  progress.step('printing');
  expect(said).toEqual(['\r\u001b[Kreading', '\r\u001b[Kplanning']);
});

test('without a terminal it says nothing', () => {
  const progress = new Progress(undefined, { monotonicMs: () => 0 });
  expect(() => {
    progress.step('a');
    progress.end();
  }).not.toThrow();
});
