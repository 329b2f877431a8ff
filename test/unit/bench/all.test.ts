import { expect, test } from 'vitest';
import { endedLines, minutes } from '../../bench/all-report.ts';
import { pairs, words } from '../../bench/bench-command.ts';

test('each benchmark has a line, with how it ended', () => {
  const ended = [
    { name: 'bench:podgc --pods 20000', code: 0, seconds: 187.4 },
    { name: 'bench:plan', code: 1, seconds: 3 },
  ];
  expect(endedLines(ended)).toEqual([
    'bench:podgc --pods 20000    3:07  ok',
    'bench:plan                  0:03  failed with 1',
  ]);
});

test.each([
  [59.6, '1:00'],
  [0, '0:00'],
  [3_599, '59:59'],
  [4_000, '66:40'],
])('%d seconds are %s', (seconds, expected) => {
  expect(minutes(seconds)).toBe(expected);
});

test('one option holds several arguments or variables', () => {
  expect(words(' --a=1  --b ')).toEqual(['--a=1', '--b']);
  expect(pairs('A=1 B=x')).toEqual({ A: '1', B: 'x' });
  expect(words('')).toEqual([]);
});
