import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtMain } from '../../cluster/servers/command.ts';
import { benchOptions, megabytes, printResult, progress, thousands } from '../bench.ts';
import { medianRun } from './command.ts';
import { plannedAt, somePod, writeSnapshot, type PodForm } from './snapshot.ts';

const { pods, rounds } = benchOptions({
  pods: 100_000,
  /** How often each command runs; the table shows the median. */
  rounds: 3,
});

/** Of both forms `plan`; of the large one more, and jq, which only reads it. */
const forms: Readonly<Record<PodForm, { readonly name: string; readonly commands: readonly string[] }>> = {
  kubectl: {
    name: '`kubectl get pods -A -o json`',
    commands: ['plan', 'plan --kept -o json', `why pod ${somePod(pods)}`],
  },
  snapshot: { name: '`dustpan snapshot`', commands: ['plan'] },
};

const scratch = mkdtempSync(join(tmpdir(), 'dustpan-bench-plan-'));
try {
  await printResult(async () => ({
    title: `plan, ${thousands(pods)} pods`,
    conditions: [`median of ${rounds} runs from start to exit, with Node's own flags`],
    columns: ['', 'command', 'time', 'memory, peak'],
    rows: [...(await measure('kubectl')), ...(await measure('snapshot'))],
  }));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function measure(form: PodForm): Promise<string[][]> {
  const directory = join(scratch, form);
  progress(`writing ${pods} pods as ${form}`);
  const megabytesOfPods = (await writeSnapshot(directory, form, pods)) / 1e6;
  const what = `pods by ${forms[form].name}, ${megabytesOfPods.toFixed(0)} MB`;
  const flags = [`--snapshot=${directory}`, `--now=${plannedAt}`];
  const rows: string[][] = [];
  for (const command of forms[form].commands)
    rows.push([
      what,
      ...(await repeated(command, [process.execPath, builtMain, ...command.split(' '), ...flags])),
    ]);
  if (form === 'kubectl')
    rows.push([what, ...(await repeated('jq .kind', ['jq', '.kind', join(directory, 'pods.json')]))]);
  rmSync(directory, { recursive: true });
  return rows;
}

async function repeated(name: string, command: readonly string[]): Promise<string[]> {
  const { seconds, peakMiB } = await medianRun(name, command, rounds);
  return [`\`${name}\``, `${seconds.toFixed(1)} s`, `${megabytes(peakMiB).toFixed(0)} MB`];
}
