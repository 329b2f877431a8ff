import { describe, expect, test } from 'vitest';
import { hasTest, isRun, textOf } from './named-tests.ts';

const [, ofProject = '', ofChart = ''] = textOf('docs/claims.md').split(/^## .*$/m);

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

describe.each([
  { page: 'README.md', claims: claimsOf(ofProject), least: 40 },
  { page: 'helm/dustpan/README.md', claims: claimsOf(ofChart), least: 10 },
])('the claims of $page', ({ page, claims, least }) => {
  const text = plain(textOf(page));

  test('are listed once each', () => {
    expect(claims.length).toBeGreaterThanOrEqual(least);
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
