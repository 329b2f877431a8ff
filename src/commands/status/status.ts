import type { GCPolicy } from '../../api/gen/gcpolicy.gen.ts';
import type { NodeGCReport } from '../../api/gen/nodegcreport.gen.ts';
import { listPages } from '../../kube/cache/list-watch.ts';
import type { RawFacts } from '../../kube/cache/objects.ts';
import { jsonResource, policiesResource, reportsPath, type Resource } from '../../kube/cache/resources.ts';
import { ApiError, type KubeTransport } from '../../kube/http/transport.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { PersonConnection } from '../cli/connection.ts';
import { usingCluster } from '../cli/connect.ts';
import { exitCode, problemLine } from '../cli/exit.ts';
import { formatted, type OutputFormat } from '../cli/output.ts';
import { statusTable } from './table.ts';
import { statusView } from './view.ts';
import { stopSignal, type System } from '../cli/system.ts';

export interface StatusConfig {
  readonly kube: PersonConnection;
  readonly watch: boolean;
  readonly output: OutputFormat;
  readonly colours: boolean;
  readonly hasExitCode: boolean;
}

/** Shows the status once, or after each change until SIGINT; resolves with the exit code. */
export async function runStatus(config: StatusConfig, system: System): Promise<number> {
  const signal = stopSignal(() => undefined);
  try {
    return await usingCluster(config.kube, async ({ transport }) => {
      let status = await readStatus(transport, signal);
      let shown = await show(status, '', { config, system });
      // In a large cluster a read takes seconds: the pauses keep the load of the API server low.
      for (let pauseMs = pollMs; config.watch && !signal.aborted;) {
        await clock.sleep(pauseMs, signal);
        const startMs = clock.monotonicMs();
        const next = await readStatus(transport, signal).catch(warned(system, signal));
        if (next !== undefined) shown = await show((status = next), shown, { config, system });
        pauseMs = Math.max(pollMs, 10 * (clock.monotonicMs() - startMs));
      }
      return config.hasExitCode && hasTrouble(status) ? exitCode.found : exitCode.ok;
    });
  } catch (err) {
    if (signal.aborted) return exitCode.ok;
    throw err;
  }
}

const hasTrouble = ({ policies, reports }: Status): boolean =>
  statusView(policies, reports, clock.now()).trouble.length > 0;

/** The default of procps' `watch`. */
const pollMs = 2_000;

const warned =
  ({ stderr }: System, signal: AbortSignal) =>
  (err: unknown): undefined => {
    signal.throwIfAborted();
    stderr(problemLine(`warning: the values may be stale: ${errorLine(err)}`));
  };

interface Status {
  readonly policies: readonly GCPolicy[];
  /** undefined = they could not be read. */
  readonly reports: readonly NodeGCReport[] | undefined;
  readonly warning?: string;
}

const resources = {
  policies: policiesResource(),
  reports: jsonResource({ name: 'nodegcreports', path: reportsPath }),
};

/** Rejects when the policies cannot be read; reports that may not be read are left out with a warning. */
async function readStatus(transport: KubeTransport, signal: AbortSignal): Promise<Status> {
  const list = async (resource: Resource<RawFacts>): Promise<RawFacts['object'][]> => {
    const items: RawFacts[] = [];
    // A report may have 50 KB, and a whole page is held in memory.
    for await (const page of listPages(
      { transport, clock, random: Math.random, resource, pageSize: 100 },
      signal,
    ))
      items.push(...page.items);
    return items.map(({ object }) => object);
  };
  const policies = await list(resources.policies).catch((cause: unknown) => {
    if (cause instanceof ApiError && cause.status === 404)
      throw new Error('the kind GCPolicy is not installed in the cluster: is dustpan?');
    throw new Error('listing gcpolicies', { cause });
  });
  try {
    return { policies: policies.filter(isPolicy), reports: (await list(resources.reports)).filter(isReport) };
  } catch (err) {
    if (!(err instanceof ApiError && (err.status === 403 || err.status === 404))) throw err;
    const why = err.status === 404 ? 'the kind NodeGCReport is not installed in the cluster' : err.message;
    return {
      policies: policies.filter(isPolicy),
      reports: undefined,
      warning: `cannot list nodegcreports: ${why}`,
    };
  }
}

// The API server has validated them against the very schemas that the types are made from.
const isPolicy = (object: RawFacts['object']): object is RawFacts['object'] & GCPolicy =>
  typeof object['metadata'] === 'object';
const isReport = (object: RawFacts['object']): object is RawFacts['object'] & NodeGCReport =>
  typeof object['metadata'] === 'object';

/** Clears the screen and moves the cursor to its upper left corner. */
const clearScreen = '\u001b[2J\u001b[H';
const separators = { table: '\n', json: '', yaml: '---\n' };

/** Prints the status if it differs from `shown`, in place on a terminal, else below the last one; resolves with the text to compare the next one with. */
async function show(
  { policies, reports, warning }: Status,
  shown: string,
  { config, system }: { readonly config: StatusConfig; readonly system: System },
): Promise<string> {
  const now = clock.now();
  const view = statusView(policies, reports, now);
  const { isInPlace, rows, ...terminal } = terminalOf(config);
  const lines = statusTable(view, { now, ...terminal }).slice(0, rows);
  const text = await formatted(config.output, view, () => `${lines.join('\n')}\n`);
  // Without a terminal, a change of ages alone is not printed.
  const current = isInPlace ? text : JSON.stringify(view);
  if (current === shown) return shown;
  const before = shown === '' ? '' : separators[config.output];
  system.stdout((isInPlace ? clearScreen : before) + text);
  if (warning !== undefined) system.stderr(problemLine(`warning: ${warning}`));
  return current;
}

/** `rows` undefined = all lines may be printed. */
function terminalOf({ output, watch, colours }: StatusConfig) {
  const { isTTY, columns, rows } = process.stdout;
  const isInPlace = isTTY && watch && output === 'table';
  return {
    isInPlace,
    // More lines would scroll the worst problems out of view.
    rows: isInPlace ? Math.max(2, rows - 1) : undefined,
    width: isTTY ? Math.max(40, columns) : 80,
    colours,
  };
}
