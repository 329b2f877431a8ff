import { rmSync, mkdtempSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptOptions } from '../../scripts/arguments.ts';
import { repositoryRoot } from '../cluster/repository.ts';
import { commandLine, say } from './bench-command.ts';
import type { PodForm } from './plan-pods.ts';
import { parsedWhole, planSection, type Measured, type PlanBenchResult } from './plan-report.ts';
import { runMeasured, type Run } from './plan-run.ts';
import { plannedAt, somePod, writeWorld } from './plan-world.ts';
import { writeSection } from './report.ts';

const { values: options } = scriptOptions({
  options: {
    pods: { type: 'string', default: '100000' },
    /** How often each command runs; the middle one counts. */
    rounds: { type: 'string', default: '3' },
    /** The command that is measured: the one that was built, unless another checkout's is to be compared. */
    main: { type: 'string', default: join(repositoryRoot(), 'dist/main.js') },
    /** Puts the result into docs/benchmarks.md. */
    write: { type: 'boolean', default: false },
    /** Where the JSON goes. */
    json: { type: 'string', default: '' },
  },
});
const [loadBefore = 0] = loadavg();
const pods = Number(options.pods);
const rounds = Number(options.rounds);

interface Case {
  readonly form: PodForm;
  readonly command: readonly string[];
}

/** As kubectl writes it is the largest and the usual one: all outputs of that; of the others, that they can be read. */
const cases: readonly Case[] = [
  { form: 'kubectl', command: ['plan'] },
  { form: 'kubectl', command: ['plan', '-o', 'json'] },
  { form: 'kubectl', command: ['plan', '--kept', '-o', 'json'] },
  { form: 'kubectl', command: ['plan', '-o', 'yaml'] },
  { form: 'kubectl', command: ['plan', '--kept', '-o', 'yaml'] },
  { form: 'kubectl', command: ['why', 'pod', somePod(pods)] },
  { form: 'snapshot', command: ['plan'] },
  { form: 'snapshot', command: ['plan', '--kept', '-o', 'json'] },
];

const scratch = mkdtempSync(join(tmpdir(), 'dustpan-bench-plan-'));
try {
  const result = await bench();
  const text = planSection(result);
  process.stdout.write(`${text}\n`);
  if (options.json !== '') writeFileSync(options.json, `${JSON.stringify(result, undefined, 2)}\n`);
  if (options.write) writeSection(text);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function bench(): Promise<PlanBenchResult> {
  const measured: Measured[] = [];
  const sizes = new Map<PodForm, number>();
  const peers: Measured[] = [];
  for (const form of ['kubectl', 'snapshot'] as const) {
    const directory = join(scratch, form);
    say(`writing ${pods} pods as ${form} does`);
    sizes.set(form, await writeWorld(directory, form, pods));
    for (const one of cases.filter((each) => each.form === form))
      measured.push(await measure(one, directory));
    if (form === 'kubectl') peers.push(...(await measurePeers(join(directory, 'pods.json'))));
    rmSync(directory, { recursive: true });
  }
  return { command: commandLine('bench:plan'), loadBefore, pods, rounds, sizes, measured, peers };
}

async function measure({ form, command }: Case, directory: string): Promise<Measured> {
  const args = [process.execPath, options.main, ...command, `--snapshot=${directory}`, `--now=${plannedAt}`];
  return {
    form,
    command: command.join(' '),
    runs: await repeated(command.join(' '), () => runMeasured(args, scratch)),
  };
}

/** What else could be asked of the same file. */
async function measurePeers(file: string): Promise<Measured[]> {
  const peers = [
    { command: 'node -e JSON.parse(…)', args: [process.execPath, '-e', parsedWhole, file] },
    { command: 'jq .kind', args: ['jq', '.kind', file] },
  ];
  const all: Measured[] = [];
  for (const { command, args } of peers)
    all.push({ form: 'kubectl', command, runs: await repeated(command, () => runMeasured(args, scratch)) });
  return all;
}

async function repeated(what: string, run: () => Promise<Run>): Promise<Run[]> {
  const runs: Run[] = [];
  for (let i = 0; i < rounds; i++) {
    const one = await run();
    say(
      `${what}: ${one.wallSeconds.toFixed(1)} s, CPU ${one.cpuSeconds.toFixed(1)} s, ${one.peakMb.toFixed(0)} MB${one.failure === undefined ? '' : `, ${one.failure}`}`,
    );
    runs.push(one);
    // It would fail again.
    if (one.failure !== undefined) break;
  }
  return runs;
}
