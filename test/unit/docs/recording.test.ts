import { expect, test } from 'vitest';
import { drawing, steps } from '../../../scripts/recording/drawing.ts';
import { textOf } from './named-tests.ts';

test.each([
  { name: 'one paragraph', lines: ['a', 'b'], expected: [2] },
  { name: 'an empty line ends a paragraph', lines: ['a', '', 'b'], expected: [2, 3] },
  { name: 'a paragraph of 70 lines needs three screens', lines: Array(70).fill('a'), expected: [23, 47, 70] },
])('scrolls: $name', ({ lines, expected }) => {
  expect(steps(lines).steps.map(({ shown }) => shown)).toEqual(expected);
});

test('a longer paragraph is shown for longer', () => {
  expect(steps(['a', '', ...Array<string>(9).fill('a'), '', 'b']).steps.map(({ at }) => at)).toEqual([
    0, 1.2, 3.2,
  ]);
});

test.each([
  { name: 'plain', line: 'a <b> & c', expected: '>a &lt;b&gt; &amp; c</text>' },
  {
    name: 'bold, then plain',
    line: '\u001b[1ma\u001b[0m: b',
    expected: '><tspan class="b">a</tspan>: b</text>',
  },
  { name: 'as wide as its cells', line: '\u001b[32mabc\u001b[0m', expected: 'textLength="24"' },
])('draws a line: $name', ({ line, expected }) => {
  expect(drawing('true', `${line}\n`)).toContain(expected);
});

test('the recording in README is small, and stops by itself', () => {
  const picture = textOf('docs/images/demo.svg');
  expect(textOf('README.md')).toContain('docs/images/demo.svg');
  expect(picture.length).toBeLessThan(150_000);
  expect(picture).toMatch(/animation: scroll [\d.]+s step-end \d }/);
});
