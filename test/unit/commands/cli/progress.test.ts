import { expect, test } from 'vitest';
import { Progress } from '../../../../src/commands/cli/progress.ts';

function begun({ isTerminal = true } = {}) {
  let nowMs = 0;
  const written: string[] = [];
  const progress = new Progress(
    { write: (text) => void written.push(text), isTerminal },
    { monotonicMs: () => nowMs },
  );
  return { written, progress, at: (ms: number) => (nowMs = ms) };
}

test('writes nothing within the first second, and then erases nothing', () => {
  const { written, progress, at } = begun();
  progress.step('a');
  at(999);
  progress.step('b');
  progress.phase('c');
  progress.end();
  expect(written).toEqual([]);
});

test('shows a step at most ten times a second, and erases the line at the end', () => {
  const { written, progress, at } = begun();
  for (const [ms, text] of [
    [1000, 'a'],
    [1050, 'b'],
    [1100, 'c'],
  ] as const) {
    at(ms);
    progress.step(text);
  }
  progress.end();
  expect(written).toEqual(['\r\u001b[Ka', '\r\u001b[Kc', '\r\u001b[K']);
});

test('shows a new phase at once', () => {
  const { written, progress, at } = begun();
  at(1000);
  progress.step('reading');
  progress.phase('planning');
  progress.step('printing');
  expect(written).toEqual(['\r\u001b[Kreading', '\r\u001b[Kplanning']);
});

test('writes one line per second and for each phase to a file, and erases nothing', () => {
  const { written, progress, at } = begun({ isTerminal: false });
  for (const ms of [1000, 1500, 1999, 2000]) {
    at(ms);
    progress.step(`at ${ms}`);
  }
  progress.phase('planning');
  progress.end();
  expect(written).toEqual(['at 1000\n', 'at 2000\n', 'planning\n']);
});

test('shows nothing without an output', () => {
  const progress = new Progress(undefined, { monotonicMs: () => 0 });
  expect(() => {
    progress.step('a');
    progress.end();
  }).not.toThrow();
});
