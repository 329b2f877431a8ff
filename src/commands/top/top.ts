import { keepYoungSmall } from '../../runtime/serving/v8-heap.ts';
import { exitCode } from '../../process/exit.ts';
import { showLive } from '../cli/live.ts';
import type { System } from '../../process/system.ts';
import type { TopConfig } from './command.ts';
import { readTop } from './read.ts';
import { nameLines, topTable } from './table.ts';
import { topView } from './view.ts';

/** Shows the usage once, or after each change until SIGINT; resolves with the exit code. */
export async function runTop(config: TopConfig, system: System): Promise<number> {
  const { kube, watch, output, colours, question } = config;
  const isWide = output === 'wide';
  keepYoungSmall();
  await showLive(
    {
      read: (cluster, signal) => readTop(question, cluster, signal),
      viewOf: (facts, now) => topView(facts, question, now),
      linesOf: (view, screen) =>
        output === 'name' ? nameLines(view) : topTable(view, { ...screen, colours, isWide }),
    },
    { kube, watch, output: isWide || output === 'name' ? 'table' : output },
    system,
  );
  return exitCode.ok;
}
