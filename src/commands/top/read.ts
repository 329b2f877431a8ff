import type { NodeGCReportStatusUsage } from '../../api/gen/nodegcreport.gen.ts';

import { reportedUsage, type ReportedUsage } from '../../kube/cache/node-usage.ts';
import type { Identified } from '../../kube/cache/objects.ts';
import { inJson, metadataResource, reportsPath, type Resource } from '../../kube/cache/resources.ts';
import { isDenied, isNotFound, type KubeTransport } from '../../kube/http/transport.ts';
import { nearestNames } from '../../runtime/text/nearest.ts';
import type { Connected } from '../cli/connect.ts';
import { UsageError } from '../cli/exit.ts';
import { listObjects } from '../cli/list-objects.ts';
import type { TopKind, TopQuestion } from './command.ts';
import { fastest, largest, type TopFacts } from './facts.ts';

/** A report may have 50 KB; the text of one page is held in memory. */
const pageSize = 500;

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
    nodeNames(transport, signal),
    listSelected(transport, { ...question, namespace }, signal),
  ]);
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
    return await listObjects({ transport, resource, pageSize }, signal);
  } catch (cause) {
    if (isNotFound(cause))
      throw new Error('the kind NodeGCReport is not installed in the cluster: is dustpan?');
    throw new Error('listing nodegcreports, which a role of a namespace cannot allow', { cause });
  }
}

/** The values that are shown for a kind: the reports of a thousand nodes have 30 MB. */
function partOf(usage: NodeGCReportStatusUsage, kind: TopKind): NodeGCReportStatusUsage {
  const { pods, namespaces, images, ...rest } = usage;
  switch (kind) {
    case 'nodes':
      return {
        ...rest,
        namespaces: namespaces && [...new Set([largest, fastest].flatMap((one) => one(namespaces) ?? []))],
      };
    case 'namespaces':
      return { ...rest, namespaces };
    case 'pods':
      return {
        ...rest,
        namespaces: namespaces?.map(({ name, pods, bytes }) => ({ name, pods, bytes })),
        pods,
      };
    case 'images':
      return { ...rest, images };
  }
}

/** undefined = they may not be listed. */
async function nodeNames(
  transport: KubeTransport,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  try {
    const nodes = await listMetadata(transport, metadataResource({ name: 'nodes', path: nodesPath }), signal);
    return new Set(nodes.map(({ name }) => name));
  } catch (err) {
    if (isDenied(err)) return undefined;
    throw new Error('listing nodes', { cause: err });
  }
}

const nodesPath = '/api/v1/nodes';

/** undefined = no selector is given. */
async function listSelected(
  transport: KubeTransport,
  { kind, selector, namespace }: Pick<TopQuestion, 'kind' | 'selector' | 'namespace'>,
  signal: AbortSignal,
): Promise<ReadonlySet<string> | undefined> {
  if (selector === undefined) return undefined;
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const [name, path] = {
    nodes: ['nodes', nodesPath] as const,
    images: ['nodes', nodesPath] as const,
    namespaces: ['namespaces', '/api/v1/namespaces'] as const,
    pods: ['pods', `/api/v1${scope}/pods`] as const,
  }[kind];
  try {
    const objects = await listMetadata(transport, metadataResource({ name, path, selector }), signal);
    return new Set(objects.map((one) => (kind === 'pods' ? one.uid : one.name)));
  } catch (cause) {
    throw new Error(`listing ${name}`, { cause });
  }
}

const listMetadata = (
  transport: KubeTransport,
  resource: Resource<Identified>,
  signal: AbortSignal,
): Promise<readonly Identified[]> => listObjects({ transport, resource, pageSize: 500 }, signal);

function refuseUnknownNodes(names: readonly string[], known: ReadonlySet<string>): void {
  const wrong = names.filter((name) => !known.has(name));
  if (wrong.length === 0) return;
  throw new UsageError(
    wrong.map((name) => `top: there is no report of a node ${name}${nearestNames(name, [...known])}`),
  );
}
