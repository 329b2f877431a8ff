import { expect, test } from 'vitest';
import { deadCode } from '../../../scripts/dead/dead-code.ts';

/** What is found in files of which main.ts is started by its path. */
const found = (files: Readonly<Record<string, string>>, starter = 'node src/main.ts'): readonly string[] =>
  deadCode({
    files: new Map(Object.entries(files)),
    starters: [starter],
    isEntry: (path) => path.endsWith('.test.ts'),
  });

test.each([
  { name: 'a function', code: 'export function lone(): void {}', dead: ['lone'] },
  { name: 'an async function', code: 'export async function lone(): Promise<void> {}', dead: ['lone'] },
  { name: 'a class', code: 'export class Lone {}', dead: ['Lone'] },
  { name: 'an abstract class', code: 'export abstract class Lone {}', dead: ['Lone'] },
  { name: 'an interface', code: 'export interface Lone {}', dead: ['Lone'] },
  { name: 'a type', code: 'export type Lone = string;', dead: ['Lone'] },
  { name: 'constants', code: 'export const a = 1, { b, c: [d] } = e;', dead: ['a', 'b', 'd'] },
  { name: 'a list', code: 'const a = 1; export { a, b as c };', dead: ['a', 'c'] },
  { name: 'what is passed on', code: "export { a as b } from './main.ts';", dead: ['b'] },
  { name: 'what only its own file uses', code: 'export const a = 1; export const f = a;', dead: ['a', 'f'] },
  { name: 'not what is not exported', code: 'const a = 1; interface B {}', dead: [] },
])('dead: $name', ({ code, dead }) => {
  const files = { 'src/main.ts': "import './part.ts'; import type { taken } from 'elsewhere';" };
  expect(found({ ...files, 'src/part.ts': code })).toEqual(
    dead.map((name) => `src/part.ts: no other file takes ${name}`),
  );
});

test.each([
  { name: 'an import', code: "import { a } from './parts/part.ts';" },
  { name: 'an import under another name', code: "import { a as b } from './parts/part.ts';" },
  { name: 'an import of a type', code: "import type { a } from './parts/part.ts';" },
  { name: 'an import among types', code: "import { type a } from './parts/part.ts';" },
  { name: 'an import of all', code: "import * as all from './parts/part.ts';" },
  { name: 'a later import', code: "const { a } = await import('./parts/part.ts');" },
  { name: 'a later import under another name', code: "const { a: b } = await import('./parts/part.ts');" },
  { name: 'a later import in passing', code: "(await import('./parts/part.ts')).a();" },
  { name: 'a later import as a whole', code: "const all = await import('./parts/part.ts');" },
  { name: 'a type by its place', code: "type B = import('./parts/part.ts').a;" },
  { name: 'passing on', code: "export { a } from './parts/part.ts';" },
  { name: 'passing all on', code: "export * from './parts/part.ts';" },
  { name: 'a way round', code: "import { a } from '../src/parts/part.ts';" },
])('alive by $name', ({ code }) => {
  const files = { 'src/main.test.ts': code, 'src/parts/part.ts': 'export const a = 1;' };
  expect(found(files).filter((line) => line.startsWith('src/parts/part.ts'))).toEqual([]);
});

test('a default export is taken by its name', () => {
  const files = {
    'src/main.ts': "import part from './part.ts'; part();",
    'src/part.ts': 'export { a as default };',
  };
  expect(found(files)).toEqual([]);
});

test('a file that nothing loads', () => {
  const files = { 'src/main.ts': '', 'src/lone.ts': 'export const a = 1;', 'src/lone.test.ts': '' };
  expect(found(files)).toEqual(['src/lone.ts: nothing loads it']);
});

test('who starts a file takes what it names of it, by whole words', () => {
  const files = { 'src/main.ts': 'export const a = 1; export const ab = 2; export const b = 3;' };
  const starter = "const { ab } = await load('src/main.ts');";
  expect(found(files, starter)).toEqual([
    'src/main.ts: no other file takes a',
    'src/main.ts: no other file takes b',
  ]);
});
