import { describe, expect, test } from 'vitest';
import { textOf } from './named-tests.ts';

const pages = [
  { english: 'README.md', chinese: 'README.zh-CN.md' },
  ...['getting-started', 'concepts', 'troubleshooting'].map((name) => ({
    english: `docs/${name}.md`,
    chinese: `docs/zh-cn/${name}.md`,
  })),
];

/** The blocks of code, without comments: those are translated. */
const blocksOf = (text: string): readonly string[] =>
  [...text.matchAll(/^```[\s\S]*?^```$/gm)].map(([block]) => block.replace(/ *# .*$|# kind[:：].*$/gm, ''));
const withoutBlocks = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '');
/** What is not translated. */
const codeIn = (text: string): readonly string[] =>
  [...withoutBlocks(text).matchAll(/`[^`\n]+`/g)].map(([code]) => code).toSorted();
const headingsOf = (text: string): readonly string[] =>
  [...withoutBlocks(text).matchAll(/^(#+) (.*)$/gm)].map(([, level = '', heading = '']) =>
    // An alert or a condition keeps its name, to which addresses lead.
    /^[A-Z]\w+$/.test(heading.split(' ')[0] ?? '') && level === '###'
      ? `${level} ${heading.split(' ')[0]}`
      : level,
  );
const rowsOf = (text: string): number => text.split('\n').filter((line) => line.startsWith('|')).length;

describe.each(pages)('$chinese says what $english says', ({ english, chinese }) => {
  const [first, second] = [textOf(english), textOf(chinese)];

  test('the same headings', () => {
    expect(headingsOf(second)).toEqual(headingsOf(first));
  });

  test('the same commands and outputs', () => {
    expect(blocksOf(second)).toEqual(blocksOf(first));
  });

  test('the same names, fields and commands in the text', () => {
    expect(codeIn(second)).toEqual(codeIn(first));
  });

  test('tables of the same length, and a link to each other', () => {
    expect(rowsOf(second)).toBe(rowsOf(first));
    const up = chinese.startsWith('docs/') ? '../' : '';
    expect(second).toContain(`[English](${up}${english.replace('docs/', '')})`);
    expect(first).toContain(`[简体中文](${chinese.replace(up === '' ? '' : 'docs/', '')})`);
  });
});
