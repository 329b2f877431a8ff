import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pages, root, textOf } from './pages.ts';

/** The text without blocks and inline code. */
const prose = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '').replace(/`[^`\n]*`/g, '');

/** The anchor of a heading, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');

const anchorsIn = (path: string): readonly string[] =>
  [
    ...textOf(path)
      .replace(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/^#+ (.*)$/gm),
  ].map(([, heading = '']) => anchorOf(heading));

/** The links and pictures of a page that are files of the repository: `path` below its root, and the anchor, or ''. */
const linksOf = (page: string): readonly { readonly path: string; readonly anchor: string }[] =>
  [...prose(textOf(page)).matchAll(/\]\(([^)\s]+)\)|\bsrc(?:set)?="([^"]+)"/g)]
    .map(([, target, picture = '']) => target ?? picture)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', anchor = ''] = target.split('#');
      return { path: file === '' ? page : normalize(join(dirname(page), file)), anchor };
    });

test('most pages have links', () => {
  expect(pages.flatMap(linksOf).length).toBeGreaterThan(100);
});

describe.each(pages)('%s', (page) => {
  test('links to files and headings that exist', () => {
    const broken = linksOf(page).filter(
      ({ path, anchor }) =>
        !existsSync(new URL(path, root)) || (anchor !== '' && !anchorsIn(path).includes(anchor)),
    );
    expect(broken).toEqual([]);
  });
});
