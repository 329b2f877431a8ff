import { expect, test } from 'vitest';
import { columns, fitted, longSpanText, wrapped, type Column } from '../../../../src/commands/cli/table.ts';

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

test('numbers are right-aligned, and a column without content is left out', () => {
  const row = (count: number, name: string) => ({ count, name, note: '' });
  expect(lines([row(1, 'a'), row(10, 'b')])).toEqual([' N  NAME', ' 1  a', '10  b']);
});

test('a cell that is too wide is cut in its middle', () => {
  const [, line = ''] = lines([{ count: 1, name: 'x'.repeat(30) + 'end', note: 'why' }], 30);
  expect(line).toHaveLength(30);
  expect(line).toMatch(/…x+end$/);
});

const nginx = 'docker.io/library/nginx:1.25.3-alpine 0a1b2c3d4e5f';
const monorepo = 'ci/build-and-test-the-whole-monorepo-28371920-x7k2p';
const checkout = 'registry.example.com/platform/checkout-service:2024.11.07-rc.3 0a1b2c3d4e5f';

test('what is left of a text that does not fit', async () => {
  const texts = (
    [
      ['a text that fits', 'abcdef', 6],
      ['one word keeps both ends', 'abcdefg', 5],
      ['an image keeps its name, its tag and its id', nginx, 46],
      ['with less room, also most of the registry', nginx, 40],
      ['a tag is not cut', checkout, 44],
      ['a digest keeps both ends', `quay.io/a@sha256:${'0123456789abcdef'.repeat(4)}`, 40],
      ['a pod keeps its namespace and its random part', monorepo, 40],
      ['a node keeps both ends', 'ip-10-0-111-222.eu-west-1.compute.internal', 30],
      ['a path keeps its file', '/var/log/pods/web_api_0f9c2f9e/app/0.log', 30],
    ] as const
  ).map(([name, text, size]) => `${name}: ${fitted(text, size)}\n`);
  await expect(texts.join('')).toMatchFileSnapshot('./__snapshots__/fitted.txt');
});

test('any text fits any size, and keeps its start and its end', () => {
  const short = ['', 'a', '/', 'a/b/c/d/e', '-----------', 'a b c d e f g h i j', 'n:1:2:3:4:5:6'];
  for (const text of [...short, 'x'.repeat(99)])
    for (let size = 2; size < 30; size += 1) {
      const cut = fitted(text, size);
      expect(cut.length).toBeLessThanOrEqual(size);
      const [head = '', tail = ''] = cut.split('…');
      expect(cut.includes('…') ? text.startsWith(head) && text.endsWith(tail) : cut === text).toBe(true);
    }
});

test('a sentence is broken between words, a long word is not broken', () => {
  expect(wrapped('aaa bbb ccc', 7, '  ')).toEqual(['aaa bbb', '  ccc']);
  expect(wrapped('aaaaaaaaaa b', 5, '')).toEqual(['aaaaaaaaaa', 'b']);
});

const minuteMs = 60_000;
test.each([
  [1, '1m'],
  [minuteMs, '1m'],
  [2 * minuteMs - 1, '2m'],
  [119 * minuteMs, '119m'],
  [120 * minuteMs, '2h'],
  [47 * 60 * minuteMs, '47h'],
  [48 * 60 * minuteMs, '2d'],
  [365 * 24 * 60 * minuteMs, '365d'],
  [366 * 24 * 60 * minuteMs, '>1y'],
])('the time until %d ms later is %s', (ms, text) => {
  expect(longSpanText(ms)).toBe(text);
});
