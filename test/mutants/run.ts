// npm run mutants [-- UNIT…]: breaks each rule of each plan, one at a time and nowhere but in the memory of the test runner, and ends with 1
// when no test notices.
import { transform } from 'esbuild';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { mutantGroups } from './all.ts';
import type { Mutant, MutantGroup } from './group.ts';
import { MutantRunner } from './runner.ts';

interface Verdict {
  readonly mutant: Mutant;
  /** `killed`, or what is wrong: it survived, its text is not there, or it is no code. */
  readonly says: string;
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !mutantGroups.some(({ unit }) => unit === name));
if (unknown.length > 0) throw new Error(`no such unit: ${unknown.join()}`);
const groups = mutantGroups.filter(({ unit }) => wanted.length === 0 || wanted.includes(unit));

const runner = await MutantRunner.start();
let bad = 0;
for (const group of groups) bad += await runGroup(group);
await runner.close();
process.stdout.write(
  `${groups.reduce((sum, { mutants }) => sum + mutants.length, 0)} mutants, ${bad} not killed\n`,
);
process.exitCode = bad > 0 ? 1 : 0;

/** How many of the group are not killed. */
async function runGroup(group: MutantGroup): Promise<number> {
  if (!(await runner.passes(group.tests, undefined))) throw new Error(`${group.unit}: fails unbroken`);
  let notKilled = 0;
  for (const mutant of group.mutants) {
    const { says } = await judge(group, mutant);
    if (says !== 'killed') notKilled += 1;
    process.stdout.write(`${group.unit.padEnd(12)} ${says.padEnd(9)} ${mutant[0]}\n`);
  }
  return notKilled;
}

async function judge({ tests }: MutantGroup, mutant: Mutant): Promise<Verdict> {
  const [, file, from, to] = mutant;
  const path = resolve(file);
  const parts = readFileSync(path, 'utf8').split(from);
  if (parts.length !== 2) return { mutant, says: 'not found once' };
  const text = parts.join(to);
  const isCode = await transform(text, { loader: 'ts' }).then(
    () => true,
    () => false,
  );
  if (!isCode) return { mutant, says: 'no code' };
  return { mutant, says: (await runner.passes(tests, { path, text })) ? 'SURVIVED' : 'killed' };
}
