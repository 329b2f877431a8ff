import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptOptions } from '../../../scripts/arguments.ts';
import { repositoryRoot } from '../../cluster/repository.ts';
import { printResult, progress, thousands } from '../bench.ts';
import { medianRun } from './command.ts';
import { plannedAt, somePod, writeSnapshot, type PodForm } from './snapshot.ts';

const { values: options } = scriptOptions({
  options: {
    pods: { type: 'string', default: '100000' },
    /** How often each command runs; the table shows the median. */
    rounds: { type: 'string', default: '3' },
  },
});
const [pods, rounds] = [Number(options.pods), Number(options.rounds)];

const forms: Readonly<Record<PodForm, string>> = {
  kubectl: '`kubectl get pods -A -o json`',
  snapshot: '`dustpan snapshot`',
};

const commands: Readonly<Record<PodForm, readonly (readonly string[])[]>> = {
  kubectl: [
    ['plan'],
    ['plan', '--kept', '-o', 'json'],
    ['plan', '--kept', '-o', 'yaml'],
    ['why', 'pod', somePod(pods)],
  ],
  snapshot: [['plan'], ['plan', '--kept', '-o', 'json']],
};

const scratch = mkdtempSync(join(tmpdir(), 'dustpan-bench-plan-'));
try {
  await printResult(async () => ({
    title: `plan, ${thousands(pods)} pods`,
    conditions: [`median of ${rounds} runs from start to exit, with Node's own flags`],
    columns: ['', 'command', 'time', 'CPU', 'memory, peak', 'output'],
    rows: [...(await measure('kubectl')), ...(await measure('snapshot'))],
  }));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** All commands on one snapshot; on the large form also jq, which only reads it. */
async function measure(form: PodForm): Promise<string[][]> {
  const directory = join(scratch, form);
  progress(`writing ${pods} pods as ${form}`);
  const megabytes = (await writeSnapshot(directory, form, pods)) / 1e6;
  const what = `pods by ${forms[form]}, ${megabytes.toFixed(0)} MB`;
  const rows: string[][] = [];
  for (const command of commands[form]) {
    const main = join(repositoryRoot(), 'dist/main.js');
    const flags = [`--snapshot=${directory}`, `--now=${plannedAt}`];
    rows.push([what, ...(await repeated(command.join(' '), [process.execPath, main, ...command, ...flags]))]);
  }
  if (form === 'kubectl')
    rows.push([what, ...(await repeated('jq .kind', ['jq', '.kind', join(directory, 'pods.json')]))]);
  rmSync(directory, { recursive: true });
  return rows;
}

async function repeated(name: string, command: readonly string[]): Promise<string[]> {
  const { seconds, cpuSeconds, peakMiB, outputBytes } = await medianRun(name, command, { rounds, scratch });
  return [
    ...[`\`${name}\``, `${seconds.toFixed(1)} s`, `${cpuSeconds.toFixed(1)} s`],
    ...[`${(peakMiB * 1.048576).toFixed(0)} MB`, `${(outputBytes / 1e6).toFixed(1)} MB`],
  ];
}
