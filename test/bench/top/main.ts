import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptOptions } from '../../../scripts/arguments.ts';
import { repositoryRoot } from '../../cluster/repository.ts';
import { startSandbox } from '../../sandbox/server.ts';
import { median, printResult, progress, row, thousands, withBudget } from '../bench.ts';
import { runMeasured } from '../plan/command.ts';
import { usageReport } from './reports.ts';

const { values: options } = scriptOptions({
  options: {
    nodes: { type: 'string', default: '1000' },
    /** How often each command runs; the table shows the median. */
    rounds: { type: 'string', default: '5' },
  },
});
const [nodes, rounds] = [Number(options.nodes), Number(options.rounds)];
const budget = { seconds: 1, mib: 150 };
const isJudged = nodes === 1_000;

const scratch = mkdtempSync(join(tmpdir(), 'dustpan-bench-top-'));
const api = await startSandbox();
try {
  progress(`writing ${nodes} reports`);
  const now = new Date();
  let bytes = 0;
  for (let number = 0; number < nodes; number += 1) {
    const report = usageReport(number, now);
    bytes += JSON.stringify(report).length;
    api.store.apply(report);
  }
  await printResult(async () => ({
    title: `top, ${thousands(nodes)} reports of ${Math.round(bytes / nodes / 1_000)} KB`,
    conditions: [
      `median of ${rounds} runs from start to exit, with Node's own flags`,
      'the API server is the sandbox on the same machine',
    ],
    columns: withBudget,
    rows: await measured(),
  }));
} finally {
  await api.stop();
  rmSync(scratch, { recursive: true, force: true });
}

async function measured(): Promise<string[][]> {
  const rows: string[][] = [];
  for (const command of [
    ['nodes'],
    ['namespaces'],
    ['pods', '-A'],
    ['images'],
    ['nodes', '--node=node-0007'],
  ]) {
    const name = `\`top ${command.join(' ')}\``;
    progress(name);
    const main = join(repositoryRoot(), 'dist/main.js');
    const runs = [];
    for (let i = 0; i < rounds; i += 1)
      runs.push(
        await runMeasured(
          [process.execPath, main, 'top', ...command, `--kubeconfig=${api.kubeconfigFile}`],
          scratch,
        ),
      );
    const seconds = median(runs.map((run) => run.seconds));
    const cpuSeconds = median(runs.map((run) => run.cpuSeconds));
    const peakMiB = median(runs.map((run) => run.peakMiB));
    rows.push(
      row(`${name}, time`, {
        dustpan: `${seconds.toFixed(2)} s, CPU ${cpuSeconds.toFixed(2)} s`,
        budget: { text: `${budget.seconds} s`, isMet: isJudged ? seconds < budget.seconds : undefined },
      }),
      row(`${name}, memory, peak`, {
        dustpan: `${peakMiB.toFixed(0)} MiB`,
        budget: { text: `${budget.mib} MiB`, isMet: isJudged ? peakMiB < budget.mib : undefined },
      }),
    );
  }
  return rows;
}
