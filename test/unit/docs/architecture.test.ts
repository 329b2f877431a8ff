import { join } from 'node:path';
import { expect, test } from 'vitest';
import { textOf } from './pages.ts';

/** The functions and classes that the map of the code names, each with the file whose link follows it. */
const named = [
  ...textOf('docs/architecture.md').matchAll(/((?:`\w+`(?:, )?)+) in \[[^\]]*\]\(([^)]+)\)/g),
].flatMap(([, names = '', link = '']) =>
  [...names.matchAll(/\w+/g)].map(([name]) => ({ name, file: join('docs', link) })),
);

test('the map of the code names the functions that decide, verify and remove', () => {
  expect(named.length).toBeGreaterThan(25);
});

test.each(named)('$name is in $file', ({ name, file }) => {
  expect(textOf(file)).toMatch(new RegExp(`\\b(?:function|class|const) ${name}\\b`));
});
