import { describe, expect, test } from 'vitest';
import { hasTest, isRun, textOf } from './named-tests.ts';

interface Claim {
  readonly words: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
}

const claimsOf = (section: string): readonly Claim[] =>
  section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (---|Claim)/.test(line))
    .map((line) => {
      const [words = '', proof = ''] = line.slice(2).split(' | ');
      return { words, tests: testsIn(proof.replace(/ \|$/, '')) };
    });

const testsIn = (proof: string): Claim['tests'] =>
  proof.split('<br>').map((entry) => {
    const [, file = '', title = ''] = /^`([^`]+)`: (.+)$/.exec(entry) ?? [];
    return { file, title };
  });

/** Without emphasis, in one line. */
const plain = (markdown: string): string => markdown.replaceAll('**', '').replace(/\s+/g, ' ');

/** The sections of docs/claims.md, one for each page. */
const sections = textOf('docs/claims.md')
  .split(/^## /m)
  .slice(1)
  .map((section) => ({ page: section.slice(0, section.indexOf('\n')), claims: claimsOf(section) }));

test('cover the pages that promise something', () => {
  expect(sections.map(({ page }) => page)).toEqual([
    'README.md',
    'docs/concepts.md',
    'docs/getting-started.md',
    'docs/from-a-checkout.md',
    'docs/observability.md',
    'helm/dustpan/README.md',
  ]);
});

describe.each(sections)('the claims of $page', ({ page, claims }) => {
  const text = plain(textOf(page));

  test('are listed once each', () => {
    expect(claims.length).toBeGreaterThan(2);
    expect(new Set(claims.map(({ words }) => words)).size).toBe(claims.length);
  });

  test.each(claims)('are on the page: $words', ({ words }) => {
    expect(text).toContain(plain(words));
  });

  test.each(claims.flatMap(({ words, tests }) => tests.map((one) => ({ words, ...one }))))(
    '$words: $file has the test “$title”',
    ({ file, title }) => {
      expect(isRun(file)).toBe(true);
      expect(hasTest(textOf(file), title)).toBe(true);
    },
  );
});
