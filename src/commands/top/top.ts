import type { NodeGCReportStatusUsage } from '../../api/gen/nodegcreport.gen.ts';
import { reportedUsage, type ReportedUsage } from '../../kube/cache/reports-with-usage.ts';
import { inJson, metadataResource, reportsPath } from '../../kube/cache/resources.ts';
import { isDenied, isNotFound, type KubeTransport } from '../../kube/http/transport.ts';
import { nearestNames } from '../../runtime/text/nearest.ts';
import type { Connected } from '../../process/connect.ts';
import { exitCode, UsageError } from '../../process/exit.ts';
import { listObjects } from '../../process/list-objects.ts';
import { asTable } from '../../process/output.ts';
import type { System } from '../../process/system.ts';
import { keepYoungSmall } from '../../runtime/serving/v8-heap.ts';
import { noNamespace } from '../../evaluation/plan/filter.ts';
import { showLive } from '../cli/live.ts';
import type { TopConfig, TopKind, TopQuestion } from './command.ts';
import { fastest, largest, type TopFacts } from './rows.ts';
import { nameLines } from './names.ts';
import { tableOf, topTable } from './table.ts';
import { topView } from './view.ts';

/** Shows the usage once, or after each change until SIGINT; resolves with the exit code. */
export async function runTop(config: TopConfig, system: System): Promise<number> {
  const { kube, watch, output, colours, headers, question } = config;
  const isWide = output === 'wide';
  const isAll = isOfAllNamespaces(question);
  keepYoungSmall();
  await showLive(
    {
      read: (cluster, signal) => readTop(question, cluster, signal),
      viewOf: (facts, now) => topView(facts, question, now),
      linesOf: (view, screen) => {
        if (output === 'name') return nameLines(view);
        const shown = { ...screen, colours, isWide, isAll, isByPlace: question.sortBy === 'eviction' };
        if (!headers) return tableOf(view, shown).lines.slice(1);
        return topTable(view, isWide ? { ...shown, height: undefined } : shown);
      },
    },
    { kube, watch, headers, output: asTable(output) },
    system,
  );
  return exitCode.ok;
}

export const isOfAllNamespaces = ({
  namespace,
  isCurrentNamespace,
}: Pick<TopQuestion, 'namespace' | 'isCurrentNamespace'>): boolean =>
  namespace === undefined && !isCurrentNamespace;

/** Reads the reports, the names of the nodes, and the selected objects. Throws UsageError for a node that is not known. */
export async function readTop(
  question: TopQuestion,
  { transport, connection }: Pick<Connected, 'transport' | 'connection'>,
  signal: AbortSignal,
): Promise<TopFacts> {
  const { isCurrentNamespace } = question;
  const namespace = isCurrentNamespace ? (connection.namespace ?? 'default') : question.namespace;
  const [reports, nodes, selected] = await Promise.all([
    listReports(transport, question, signal),
    namesOf(transport, kindOfNodes, signal),
    listSelected(transport, { ...question, namespace }, signal),
  ]);
  const isKnown = reports.some(({ usage }) => usage?.namespaces?.some(({ name }) => name === namespace));
  if (question.namespace !== undefined && !isKnown)
    await refuseUnknownNamespace(question.namespace, transport, signal);
  refuseUnknownNodes(question.nodes ?? [], new Set([...reports.map(({ node }) => node), ...(nodes ?? [])]));
  return { reports, nodes, selected, namespace };
}

/** The server itself selects the report of a single node. */
async function listReports(
  transport: KubeTransport,
  { kind, nodes = [] }: Pick<TopQuestion, 'kind' | 'nodes'>,
  signal: AbortSignal,
): Promise<readonly ReportedUsage[]> {
  const query = nodes.length === 1 ? { fieldSelector: `metadata.name=${nodes.join('')}` } : {};
  const resource = inJson({ name: 'nodegcreports', path: reportsPath, query }, (json) => {
    const report = reportedUsage(json);
    return { ...report, usage: report.usage && partOf(report.usage, kind) };
  });
  try {
    return await listObjects({ transport, resource }, signal);
  } catch (cause) {
    if (isNotFound(cause))
      throw new Error('the kind NodeGCReport is not installed in the cluster: is dustpan?');
    const scope = isDenied(cause) ? ', which a role of a namespace cannot allow' : '';
    throw new Error(`listing nodegcreports${scope}`, { cause });
  }
}

/** The values that are shown for a kind: the reports of a thousand nodes have 30 MB. */
function partOf(usage: NodeGCReportStatusUsage, kind: TopKind): NodeGCReportStatusUsage {
  const { pods, namespaces, images, workloads, otherWorkloads, volumes, otherVolumes, ...rest } = usage;
  switch (kind) {
    case 'disk':
      return rest;
    case 'nodes':
      return {
        ...rest,
        namespaces: namespaces && [
          ...new Set([largest, fastest].flatMap((choose) => choose(namespaces) ?? [])),
        ],
      };
    case 'namespaces':
      return { ...rest, namespaces };
    case 'workloads':
      return { ...rest, workloads, otherWorkloads };
    case 'pods':
      return {
        ...rest,
        namespaces: namespaces?.map(({ name, pods, bytes }) => ({ name, pods, bytes })),
        pods,
      };
    case 'volumes':
      return { ...rest, volumes, otherVolumes };
    case 'images':
      return { ...rest, images };
  }
}

/** undefined = they may not be listed. */
async function namesOf(
  transport: KubeTransport,
  { name, path }: { readonly name: string; readonly path: string },
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  try {
    const objects = await listObjects({ transport, resource: metadataResource({ name, path }) }, signal);
    return new Set(objects.map((object) => object.name));
  } catch (cause) {
    if (isDenied(cause)) return undefined;
    throw new Error(`listing ${name}`, { cause });
  }
}

const kindOfNodes = { name: 'nodes', path: '/api/v1/nodes' };
const kindOfNamespaces = { name: 'namespaces', path: '/api/v1/namespaces' };

/** undefined = neither a selector nor a name is given. */
async function listSelected(
  transport: KubeTransport,
  { kind, selector, namespace, pod }: Pick<TopQuestion, 'kind' | 'selector' | 'namespace' | 'pod'>,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  if (selector === undefined && pod === undefined) return undefined;
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const { name, path } = {
    disk: kindOfNodes,
    nodes: kindOfNodes,
    images: kindOfNodes,
    workloads: kindOfNodes,
    volumes: kindOfNodes,
    namespaces: kindOfNamespaces,
    pods: { name: 'pods', path: `/api/v1${scope}/pods` },
  }[kind];
  try {
    const resource = metadataResource({ name, path, selector, object: pod });
    const objects = await listObjects({ transport, resource }, signal);
    if (pod !== undefined && objects.length === 0)
      throw new UsageError([`top: there is no pod ${pod} in ${namespace ?? 'any namespace'}`]);
    return new Set(objects.map((object) => (kind === 'pods' ? object.uid : object.name)));
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new Error(`listing ${name}`, { cause });
  }
}

/** Nothing if namespaces may not be listed. */
async function refuseUnknownNamespace(
  namespace: string,
  transport: KubeTransport,
  signal: AbortSignal,
): Promise<void> {
  const known = await namesOf(transport, kindOfNamespaces, signal);
  if (known !== undefined && !known.has(namespace)) throw noNamespace(namespace, [...known]);
}

function refuseUnknownNodes(names: readonly string[], known: ReadonlySet<string>): void {
  const wrong = names.filter((name) => !known.has(name));
  if (wrong.length === 0) return;
  throw new UsageError(
    wrong.map((name) => `top: there is no report of a node ${name}${nearestNames(name, [...known])}`),
  );
}
