import { systemClock as clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { Wake } from '../runtime/wake.ts';
import type { KubeConfigSource } from './config.ts';
import { connect, type Connected } from './connect.ts';
import { exitCode, problemLine } from './exit.ts';
import { formatted, type OutputFormat } from './output.ts';
import { StatusScreen } from './status-screen.ts';
import { readOnce, StatusWatch, type StatusObjects } from './status-sources.ts';
import { statusTable } from './status-table.ts';
import { statusView } from './status-view.ts';
import { stopSignal } from './stop-signal.ts';
import type { System } from './system.ts';

interface StatusConfig {
  readonly kube: KubeConfigSource;
  readonly watch: boolean;
  readonly output: OutputFormat;
  readonly isColourAllowed: boolean;
}

/** Shows the status once, or until SIGINT; resolves with the exit code. */
export async function runStatus(config: StatusConfig, system: System): Promise<number> {
  const signal = stopSignal(() => undefined);
  const cluster = await connect({ kube: config.kube, kubeApiQps: 0, kubeApiBurst: 1 }, () => undefined);
  try {
    const objects = await readOnce({ transport: cluster.transport, clock }, signal);
    if (config.watch) await keepShowing(objects, { config, system, cluster }, signal);
    else await show(objects, config, system);
    return exitCode.ok;
  } catch (err) {
    if (signal.aborted) return exitCode.ok;
    throw err;
  } finally {
    cluster.close();
  }
}

async function show(objects: StatusObjects, config: StatusConfig, system: System): Promise<void> {
  const { policies, reports, notes } = objects;
  for (const note of notes) system.stderr(problemLine(`warning: ${note}`));
  const now = clock.now();
  const view = statusView(policies, reports, now);
  const colours = process.stdout.isTTY && config.isColourAllowed;
  const table = (): string => `${statusTable(view, { now, colours, width: terminalWidth() }).join('\n')}\n`;
  system.stdout(await formatted(config.output, view, table));
}

interface Stage {
  readonly config: StatusConfig;
  readonly system: System;
  readonly cluster: Connected;
}

/** Ages grow even while nothing changes. */
const redrawMs = 1_000;

async function keepShowing(
  first: StatusObjects,
  { config, system, cluster }: Stage,
  signal: AbortSignal,
): Promise<void> {
  const wake = new Wake();
  const watch = new StatusWatch({
    ...{ transport: cluster.transport, clock, log: silent },
    withReports: first.reports !== undefined,
    onChange: () => {
      wake.trigger();
    },
  });
  const watching = watch.run(signal);
  const terminal = process.stdout.isTTY && config.output === 'table' ? process.stdout : undefined;
  const screen = new StatusScreen({ ...config, terminal, write: system.stdout });
  while (!signal.aborted) {
    wake.reset();
    const { notes: before } = first;
    const { notes, ...objects } = watch.objects ?? first;
    await screen.draw({ ...objects, notes: [...new Set([...before, ...notes])] }, clock.now());
    await wake.sleep(redrawMs, clock, signal);
  }
  await watching;
}

const leastWidth = 40;
const usualWidth = 80;

const terminalWidth = (): number =>
  process.stdout.isTTY ? Math.max(leastWidth, process.stdout.columns) : usualWidth;

/** What is wrong stands on the screen. */
const silent: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  named: () => silent,
};
