import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import { usingCluster, type Connected } from '../../process/connect.ts';
import type { PersonConnection } from '../../process/connection.ts';
import { problemLine } from '../../process/exit.ts';
import { formatted, isTemplate, type OutputFormat } from '../../process/output.ts';
import { stopSignal, type System } from '../../process/system.ts';
import { proseWidth } from '../../process/table.ts';

/** A result that a command reads from the cluster and prints: once, or again after each change. */
interface Live<S, V extends object> {
  readonly read: (cluster: Connected, signal: AbortSignal) => Promise<S>;
  /** The value of -o json. It has no ages: a change of ages alone is not printed without a terminal. */
  readonly viewOf: (state: S, now: Date) => V;
  readonly linesOf: (view: V, screen: Screen) => readonly string[];
}

export interface Screen {
  readonly now: Date;
  /** Characters of a line of the terminal; undefined = not a terminal. */
  readonly width: number | undefined;
  /** Lines of the terminal; undefined = not a terminal, or unknown. */
  readonly height?: number | undefined;
}

interface LiveConfig {
  readonly kube: PersonConnection;
  readonly watch: boolean;
  readonly output: OutputFormat;
  readonly headers: boolean;
}

/** Prints the result, with `watch` again after each change until SIGINT. Resolves with the last one; undefined = stopped before the first. */
export async function showLive<S, V extends object>(
  live: Live<S, V>,
  config: LiveConfig,
  system: System,
): Promise<V | undefined> {
  const signal = stopSignal(() => undefined);
  const print = printerOf(live, config, system);
  let view: V | undefined;
  try {
    await usingCluster(config.kube, async (cluster) => {
      view = await print(await live.read(cluster, signal));
      // In a large cluster a read takes seconds: the pauses keep the load of the API server low.
      for (let pauseMs = pollMs; config.watch && !signal.aborted;) {
        await clock.sleep(pauseMs, signal);
        const startMs = clock.monotonicMs();
        const next = await live.read(cluster, signal).catch((err: unknown) => {
          signal.throwIfAborted();
          system.stderr(problemLine(`warning: the values may be stale: ${errorLine(err)}`));
        });
        if (next) view = await print(next);
        pauseMs = Math.max(pollMs, 10 * (clock.monotonicMs() - startMs));
      }
    });
  } catch (err) {
    if (!signal.aborted) throw err;
  }
  return view;
}

/** The default of procps' `watch`. */
const pollMs = 2_000;

/** Clears the screen and moves the cursor to its upper left corner. */
const clearScreen = '\u001b[2J\u001b[H';
const separators = { table: '\n', json: '', yaml: '---\n', template: '\n' };

/** Prints each result that differs from the last one: in place on a terminal, else below it. */
function printerOf<S, V extends object>(
  { viewOf, linesOf }: Live<S, V>,
  { output, watch, headers }: LiveConfig,
  { stdout, stderr }: System,
): (state: S) => Promise<V> {
  let shown = '';
  return async (state) => {
    const { isTTY, rows } = process.stdout;
    const isInPlace = isTTY && watch && output === 'table';
    // More lines would scroll the first ones, which matter most, out of view.
    const most = isInPlace ? Math.max(2, rows - 1) : undefined;
    const now = clock.now();
    const view = viewOf(state, now);
    const table = (): string => {
      const screen = isTTY
        ? { now, width: proseWidth(), height: rows > 0 ? rows : undefined }
        : { now, width: undefined };
      const lines = linesOf(view, screen).slice(0, most);
      return lines.map((line) => `${line}\n`).join('');
    };
    const text = await formatted(output, view, table, { stderr, headers });
    const current = isInPlace || !watch ? text : JSON.stringify(view);
    if (current === shown) return view;
    const before = shown === '' ? '' : separators[isTemplate(output) ? 'template' : output];
    shown = current;
    stdout((isInPlace ? clearScreen : before) + text);
    return view;
  };
}
