import { expect, test } from 'vitest';
import { pages, textOf } from './named-tests.ts';

const width = 120;
/** Generated pages, and pages in a language without spaces. */
const others = /^docs\/(reference|zh-cn)\/|^helm\/|zh-CN/;

/** Inline code and links stay in one line. */
const words = /(?:`[^`]*`|\[(?:[^\]`]|`[^`]*`)*\]\([^)]*\)|\S)+/g;

/** Lines of prose that are too long and could be wrapped: no blocks, tables, headings or HTML. */
const tooLong = (text: string): readonly string[] =>
  text
    .replace(/^ *```[\s\S]*?^ *```$/gm, '')
    .split('\n')
    .filter((line) => line.length > width && !/^\s*[|#<]/.test(line))
    .filter((line) => (line.replace(/^\s*(?:[-*]|\d+\.) /, '').match(words) ?? []).length > 1);

test.each(pages.filter((page) => !others.test(page)))('%s has lines of at most 120 characters', (page) => {
  expect(tooLong(textOf(page))).toEqual([]);
});

const long = 'word '.repeat(width / 5);

test.each([
  { name: 'a line of 120 characters', text: `${long.slice(0, -1)}.`, expected: 0 },
  { name: 'a longer line', text: `${long}word`, expected: 1 },
  { name: 'a row of a table', text: `| ${long}word |`, expected: 0 },
  { name: 'a block', text: `\`\`\`\n${long}word\n\`\`\``, expected: 0 },
  { name: 'one long piece of code in a list', text: `- \`${long}word\``, expected: 0 },
])('too long: $name, $expected', ({ text, expected }) => {
  expect(tooLong(text)).toHaveLength(expected);
});
