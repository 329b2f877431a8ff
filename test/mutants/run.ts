// npm run mutants [-- UNIT…]: breaks each rule of each plan, one at a time and nowhere but in the memory of the test runner, and ends with 1
// when no test notices.
import { transform } from 'esbuild';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { mutantGroups } from './all.ts';
import type { Mutant, MutantGroup } from './group.ts';
import { MutantRunner } from './runner.ts';

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !mutantGroups.some(({ unit }) => unit === name));
if (unknown.length > 0) throw new Error(`no such unit: ${unknown.join()}`);
const groups = mutantGroups.filter(({ unit }) => wanted.length === 0 || wanted.includes(unit));

const runner = await MutantRunner.start();
const bad: string[] = [];
for (const group of groups) bad.push(...(await runGroup(group)));
await runner.close();
const count = groups.reduce((sum, { mutants }) => sum + mutants.length, 0);
process.stdout.write(`\n${bad.join('')}${count} mutants, ${bad.length} not killed\n`);
process.exitCode = bad.length > 0 ? 1 : 0;

/** The lines of those that are not killed. */
async function runGroup(group: MutantGroup): Promise<readonly string[]> {
  const unbroken = await runner.failing(group.tests, undefined);
  if (unbroken.length > 0) throw new Error(`${group.unit}: fails unbroken: ${unbroken.join()}`);
  const notKilled: string[] = [];
  for (const mutant of group.mutants) {
    const says = await judge(group, mutant);
    const line = `${group.unit.padEnd(12)} ${says.padEnd(9)} ${mutant[0]}\n`;
    process.stdout.write(line);
    if (says !== 'killed') notKilled.push(line);
  }
  return notKilled;
}

/** `killed`, or what is wrong: it survived, its text is not there, or it is no code. */
async function judge({ tests }: MutantGroup, [, file, from, to]: Mutant): Promise<string> {
  const path = resolve(file);
  const parts = readFileSync(path, 'utf8').split(from);
  if (parts.length !== 2) return 'not found once';
  const text = parts.join(to);
  const isCode = await transform(text, { loader: 'ts' }).then(
    () => true,
    () => false,
  );
  if (!isCode) return 'no code';
  return (await runner.failing(tests, { path, text })).length === 0 ? 'SURVIVED' : 'killed';
}
