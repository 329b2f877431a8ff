import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { scriptOptions } from '../../scripts/arguments.ts';
import { repositoryRoot } from '../cluster/repository.ts';
import { endedLines, minutes, type Ended } from './all-report.ts';
import { say } from './bench-command.ts';

/** Each builds dustpan by itself; those on the real servers want the machine for themselves, so one comes after the other. */
const benches: readonly (readonly [script: string, ...args: string[]])[] = [
  ['bench:podgc', '--pods', '20000'],
  ['bench:podgc', '--pods', '100000'],
  ['bench:agent', '--minutes', '6'],
  ['bench:plan'],
  ['bench:agents'],
  ['bench:curve'],
  ['bench:churn'],
];

const { values: options } = scriptOptions({
  options: {
    /** Puts every result into docs/benchmarks.md. */
    write: { type: 'boolean', default: false },
    /** Only these, such as plan,churn. */
    only: { type: 'string', default: '' },
  },
});
const passedOn = options.write ? ['--write'] : [];
const wanted = options.only === '' ? undefined : options.only.split(',').map((name) => `bench:${name}`);
const unknown = wanted?.filter((name) => benches.every(([script]) => script !== name)) ?? [];
if (unknown.length > 0) throw new Error(`there is no ${unknown.join(', ')}`);
const chosen = benches.filter(([script]) => wanted?.includes(script) ?? true);

const startedAt = performance.now();
const ended: Ended[] = [];
for (const [i, [script, ...args]] of chosen.entries()) {
  const name = [script, ...args].join(' ');
  say(`${i + 1} of ${chosen.length}: ${name}, ${minutes(elapsed(startedAt))} after the start`);
  const benchStartedAt = performance.now();
  const code = await run([script, '--', ...args, ...passedOn]);
  ended.push({ name, code, seconds: elapsed(benchStartedAt) });
}
say(`all, ${minutes(elapsed(startedAt))}`);
for (const line of endedLines(ended)) say(line);
if (ended.some(({ code }) => code !== 0)) process.exitCode = 1;

/** Its exit code; 1 when a signal ended it. */
async function run(command: readonly string[]): Promise<number> {
  const child = spawn('npm', ['run', ...command], { cwd: repositoryRoot(), stdio: 'inherit' });
  await once(child, 'exit');
  return child.exitCode ?? 1;
}

function elapsed(sinceMs: number): number {
  return (performance.now() - sinceMs) / 1_000;
}
