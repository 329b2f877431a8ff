import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url);
const folders = ['.ci', '.github', 'crds', 'docs', 'examples', 'helm', 'plugins', 'scripts', 'src', 'test'];

const inside = (folder: string): string[] =>
  readdirSync(new URL(`${folder}/`, root), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map(({ parentPath, name }) => `${parentPath}/${name}`);
const atTop = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name !== 'package-lock.json')
  .map(({ parentPath, name }) => `${parentPath}/${name}`);

/** In parts, or this file would have some. */
const marks = ['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'];
const looseEnd = new RegExp(`\\b(?:${marks.join('|')})\\b`);

test('no file leaves a loose end', () => {
  const files = [...folders.flatMap(inside), ...atTop];
  expect(files.length).toBeGreaterThan(800);
  expect(files.filter((path) => looseEnd.test(readFileSync(path, 'utf8')))).toEqual([]);
});

test.each(marks)('%s is a loose end', (mark) => {
  expect(`// ${mark}: mend this`).toMatch(looseEnd);
});
