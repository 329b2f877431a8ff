import { expect, test } from 'vitest';
import { Progress } from '../../../../src/process/progress.ts';
import { hostile, raw } from '../../../hostile.ts';

/** What is written: steps and phases at these times, and then the end. */
function written(
  isTerminal: boolean,
  ...shown: readonly (readonly ['step' | 'phase', ms: number, text: string])[]
) {
  let nowMs = 0;
  const texts: string[] = [];
  const output = { write: (text: string) => void texts.push(text), isTerminal };
  const progress = new Progress(output, { monotonicMs: () => nowMs });
  for (const [kind, ms, text] of shown) {
    nowMs = ms;
    progress[kind](text);
  }
  progress.end();
  return texts;
}

test('nothing is written within the first second, and then nothing is erased', () => {
  expect(written(true, ['step', 0, 'a'], ['step', 999, 'b'], ['phase', 999, 'c'])).toEqual([]);
});

test('a terminal shows a step at most ten times a second, and a phase at once, in a line that is erased', () => {
  const steps = [
    ['step', 1000, 'a'],
    ['step', 1050, 'b'],
    ['step', 1100, 'c'],
    ['phase', 1101, 'd'],
  ] as const;
  expect(written(true, ...steps)).toEqual(['\r\u001b[Ka', '\r\u001b[Kc', '\r\u001b[Kd', '\r\u001b[K']);
});

test('a file has a line for each second and each phase, and no control character', () => {
  const lines = written(false, ['step', 1000, 'a'], ['step', 1999, 'b'], ['phase', 1999, `c ${hostile}`]);
  expect(lines).toEqual(['a\n', expect.stringMatching(/^c .*\n$/)]);
  expect(lines.join('').replaceAll('\n', '')).not.toMatch(raw);
});
