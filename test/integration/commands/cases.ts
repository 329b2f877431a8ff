import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The names of the cases below a folder. */
export const foldersOf = (place: string): readonly string[] =>
  readdirSync(place, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

/** The arguments of `dustpan plan` that the README of a case has, with the paths of its files. */
export function planArguments(folder: string): readonly string[] {
  const command = /dustpan plan ([^`\n]*) -o json/.exec(readFileSync(join(folder, 'README.md'), 'utf8'))?.[1];
  if (command === undefined) throw new Error(`no command in the README of ${folder}`);
  const isFile = (word: string): boolean => ['policy.json', 'policy.yaml', 'snapshot'].includes(word);
  return command.split(' ').map((word) => (isFile(word) ? join(folder, word) : word));
}

export const expectedOf = (folder: string): unknown =>
  JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as unknown;
