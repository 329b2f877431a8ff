// npm run dead: fails on files that no file loads and on exports that no other file imports.
import { readdirSync, readFileSync } from 'node:fs';
import { deadCode } from './dead/dead-code.ts';

const under = (folder: string, form: RegExp): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path}`)
    .filter((path) => form.test(path) && !path.includes('node_modules/'));
const read = (path: string): string => readFileSync(path, 'utf8');

// Generated code may export more than is used.
const isGenerated = (path: string): boolean => /(^|\/)gen\/|\.gen\.ts$/.test(path);
const written = [
  ...under('src', /\.ts$/),
  ...under('test', /\.ts$/),
  ...under('scripts', /\.m?[jt]s$/),
].filter((path) => !isGenerated(path) && !path.endsWith('.d.mts'));

const found = deadCode({
  files: new Map([...written, 'vitest.config.ts'].map((path) => [path, read(path)])),
  starters: [
    'package.json',
    'test/mutants/stryker.config.json',
    'scripts/build.mjs',
    'scripts/generate.mjs',
  ].map(read),
  isEntry: (path) => /\.test\.ts$|^vitest\.config\.ts$/.test(path),
});
for (const line of found) process.stderr.write(`${line}\n`);
process.exitCode = found.length > 0 ? 1 : 0;
