// npm run mutants [-- UNIT[/RULE]… --quick --seed TEXT]: breaks each rule, one at a time and nowhere but in the memory of the test runner, lists the
// mutants that no test notices, and ends with 1 if there is one. --quick runs a part of them, always the same one unless --seed says otherwise,
// and takes for granted that the tests pass on unbroken code: npm test runs them, too.
import { transform } from 'esbuild';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chosenGroups } from './choice.ts';
import type { Mutant, MutantGroup } from './group.ts';
import { MutantRunner, type Broken } from './runner.ts';

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, seed: { type: 'string', default: '' } },
  allowPositionals: true,
});
const groups = chosenGroups({ names: positionals, seed: values.quick ? values.seed : undefined });
const startedMs = performance.now();
const notKilled: string[] = [];
// Long groups first, so that no processor is left alone with one at the end.
const queue = groups.toSorted((a, b) => b.mutants.length - a.mutants.length).values();
await Promise.all(Array.from({ length: availableParallelism() }, work));
const count = groups.reduce((sum, { mutants }) => sum + mutants.length, 0);
process.stdout.write(
  `\n${notKilled.join('')}${count} mutants, ${notKilled.length} not killed, ${secondsSince(startedMs)}\n`,
);
process.exitCode = notKilled.length > 0 ? 1 : 0;

async function work(): Promise<void> {
  const runner = await MutantRunner.start();
  for (const group of queue) notKilled.push(...(await runGroup(group, runner)));
  await runner.close();
}

/** Describes the mutants that are not killed. */
async function runGroup(group: MutantGroup, runner: MutantRunner): Promise<readonly string[]> {
  const limitMs = values.quick ? undefined : await limitOf(group, runner);
  const alive: string[] = [];
  for (const mutant of group.mutants) {
    const [rule, file, from, to] = mutant;
    const beganMs = performance.now();
    const verdict = await judge(mutant, (broken) => runner.failing(group.tests, broken, limitMs));
    process.stdout.write(`${group.unit.padEnd(12)} ${verdict.padEnd(9)} ${secondsSince(beganMs)} ${rule}\n`);
    if (verdict !== 'killed')
      alive.push(`${verdict}: ${group.unit}: ${rule}\n  ${file}\n  - ${from}\n  + ${to}\n`);
  }
  return alive;
}

/** How long the tests may take with a mutant. Throws if one fails without: it would kill them all. */
async function limitOf({ unit, tests }: MutantGroup, runner: MutantRunner): Promise<number> {
  const beganMs = performance.now();
  const failing = await runner.failing(tests, undefined);
  if (failing.length > 0) throw new Error(`${unit}: fails unbroken: ${failing.join()}`);
  return 5_000 + 3 * (performance.now() - beganMs);
}

/** `killed`, or what is wrong: it survived, its text is not there, or it is no code. */
async function judge(
  [, file, from, to]: Mutant,
  failing: (broken: Broken) => Promise<readonly string[]>,
): Promise<string> {
  const path = resolve(file);
  const parts = readFileSync(path, 'utf8').split(from);
  if (parts.length !== 2) return 'not found once';
  const text = parts.join(to);
  const isCode = await transform(text, { loader: 'ts' }).then(
    () => true,
    () => false,
  );
  if (!isCode) return 'no code';
  return (await failing({ path, text })).length === 0 ? 'SURVIVED' : 'killed';
}

function secondsSince(ms: number): string {
  return `${((performance.now() - ms) / 1000).toFixed(1).padStart(4)} s`;
}
