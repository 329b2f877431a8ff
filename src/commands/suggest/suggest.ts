import { inJson } from '../../kube/cache/resources.ts';
import { asObject, asText } from '../../kube/codec/json.ts';
import { isDenied, type KubeTransport } from '../../kube/http/transport.ts';
import { usingCluster } from '../../process/connect.ts';
import type { PersonConnection } from '../../process/connection.ts';
import { exitCode } from '../../process/exit.ts';
import { listObjects } from '../../process/list-objects.ts';
import { asTable, formatted, type OutputFormat } from '../../process/output.ts';
import { stopSignal, type System } from '../../process/system.ts';
import { proseWidth } from '../../process/table.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import { keepYoungSmall } from '../../runtime/serving/v8-heap.ts';
import { parseQuantity } from '../../runtime/text/quantity.ts';
import type { TopQuestion } from '../top/command.ts';
import { isOfAllNamespaces, readTop } from '../top/top.ts';
import { plainNames } from '../top/names.ts';
import { noteText } from '../top/table.ts';
import { workloadNames, workloadText } from '../top/workloads.ts';
import { suggestView, type Allocatable } from './suggestions.ts';
import { isPatchable, patchesText, suggestRows, suggestTable } from './table.ts';

export interface SuggestConfig {
  readonly kube: PersonConnection;
  readonly question: TopQuestion;
  /** `deployment/web`; undefined = all. */
  readonly workload: string | undefined;
  readonly output: OutputFormat | 'name';
  readonly headers: boolean;
}

/** Prints values for workloads and changes nothing; resolves with the exit code. */
export async function runSuggest(
  { kube, question, workload, output, headers }: SuggestConfig,
  { stdout, stderr }: System,
): Promise<number> {
  const signal = stopSignal(() => undefined);
  keepYoungSmall();
  const { facts, allocatable } = await usingCluster(kube, async (cluster) => ({
    facts: await readTop(question, cluster, signal),
    allocatable: await readAllocatable(cluster.transport, signal),
  }));
  const view = suggestView({ facts, allocatable, question, workload }, clock.now());
  if (output !== 'yaml') {
    const width = process.stdout.isTTY ? proseWidth() : undefined;
    const lines = (): readonly string[] => {
      if (output === 'name') return plainNames(view.items.flatMap(workloadNames));
      return headers ? suggestTable(view, width, isOfAllNamespaces(question)) : suggestRows(view);
    };
    const table = (): string => lines().reduce((text, line) => `${text}${line}\n`, '');
    stdout(await formatted(asTable(output), view, table, { stderr, headers }));
    return exitCode.ok;
  }
  for (const note of view.notes) stderr(`# ${noteText(note)}\n`);
  const others = view.items.filter((one) => !isPatchable(one)).map(workloadText);
  if (others.length > 0)
    stderr(`# no patch for ${others.join(', ')}: -o table has their values, or why there are none\n`);
  stdout(patchesText(view.items, (await import('../../process/yaml-text.ts')).yamlText));
  return others.length < view.items.length || workload === undefined ? exitCode.ok : exitCode.failure;
}

/** undefined = nodes may not be listed. */
async function readAllocatable(
  transport: KubeTransport,
  signal: AbortSignal,
): Promise<readonly Allocatable[] | undefined> {
  const resource = inJson({ name: 'nodes', path: '/api/v1/nodes' }, (json) => {
    const allocatable = asObject(asObject(asObject(json)['status'])['allocatable']);
    const numberOf = (name: string): number | undefined => parseQuantity(asText(allocatable[name]));
    const [bytes, pods] = [numberOf('ephemeral-storage'), numberOf('pods')];
    return bytes === undefined ? undefined : { bytes, pods };
  });
  try {
    const nodes = await listObjects({ transport, resource }, signal);
    return nodes.flatMap((node) => node ?? []);
  } catch (cause) {
    if (isDenied(cause)) return undefined;
    throw new Error('listing nodes', { cause });
  }
}
