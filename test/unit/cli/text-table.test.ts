import { expect, test } from 'vitest';
import { columns, fitted, wrapped, type Column } from '../../../src/cli/text-table.ts';

interface Row {
  readonly count: number;
  readonly name: string;
  readonly note: string;
}
const layout: readonly Column<Row>[] = [
  { title: 'N', text: ({ count }) => String(count), right: true },
  { title: 'NOTE', text: ({ note }) => note },
  { title: 'NAME', text: ({ name }) => name, max: 60 },
];
const lines = (rows: readonly Row[], width = 80) =>
  columns(layout, rows, width).map((line) => line.trimEnd());

test('numbers stand at the right, and a column without content is left out', () => {
  expect(
    lines([
      { count: 1, name: 'a', note: '' },
      { count: 10, name: 'b', note: '' },
    ]),
  ).toEqual([' N  NAME', ' 1  a', '10  b']);
});

test('what is too wide gives way in its middle', () => {
  const [, line = ''] = lines([{ count: 1, name: 'x'.repeat(30) + 'end', note: 'why' }], 30);
  expect(line).toHaveLength(30);
  expect(line).toMatch(/…x+end$/);
});

test('what would move the cursor does not get through', () => {
  expect(lines([{ count: 1, name: 'a\u001b[2Jb\nc', note: 'n' }])[1]).toBe('1  n     a?[2Jb?c');
});

test('a text is cut in its middle, or left alone', () => {
  expect(fitted('abcdef', 6)).toBe('abcdef');
  expect(fitted('abcdefg', 5)).toBe('ab…fg');
});

test('a sentence is broken between words, and a long word stays whole', () => {
  expect(wrapped('aaa bbb ccc', 7, '  ')).toEqual(['aaa bbb', '  ccc']);
  expect(wrapped('aaaaaaaaaa b', 5, '')).toEqual(['aaaaaaaaaa', 'b']);
});
