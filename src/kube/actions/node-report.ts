import type { NodeGCReport, NodeGCReportStatus } from '../../api/gen/nodegcreport.gen.ts';
import { parseJson } from '../codec/status.ts';
import { mergePatchOf } from './merge-patch.ts';
import type { NodeFacts, OwnerRef } from '../cache/objects.ts';
import { statusPatcher } from './status-patch.ts';
import { ApiError, isConflict, isNotFound, type KubeTransport } from '../http/transport.ts';

/** The node that reports; its report has the same name and goes when it goes. */
export type ReportingNode = Pick<NodeFacts, 'name' | 'uid'>;

/** The report of one node, as the API server keeps it. */
export interface NodeReports {
  /** The status as stored; undefined when there is no report. */
  read(node: ReportingNode, signal: AbortSignal): Promise<NodeGCReportStatus | undefined>;
  /** Makes the stored status this one, the report itself where it is missing. `no-kind`: the kind NodeGCReport is not installed. */
  write(node: ReportingNode, status: NodeGCReportStatus, signal: AbortSignal): Promise<'written' | 'no-kind'>;
}

const reportsPath = '/apis/gc.dustpan.dev/v1alpha1/nodegcreports';
const pathOf = ({ name }: ReportingNode): string => `${reportsPath}/${encodeURIComponent(name)}`;

/** The reports over `transport`. */
export function nodeReports(transport: Pick<KubeTransport, 'send'>): NodeReports {
  return new StoredReport(transport);
}

/** What we know to be stored, and for which Node it was made sure that it belongs to it. */
interface Stored {
  readonly nodeUid: string;
  readonly status: NodeGCReportStatus;
}

class StoredReport implements NodeReports {
  readonly #transport: Pick<KubeTransport, 'send'>;
  #stored: Stored | undefined;
  /** Seen to have no report, by its UID: the next write need not look again. */
  #without: string | undefined;

  constructor(transport: Pick<KubeTransport, 'send'>) {
    this.#transport = transport;
  }

  async read(node: ReportingNode, signal: AbortSignal): Promise<NodeGCReportStatus | undefined> {
    const report = await this.#get(node, signal);
    this.#without = report === undefined ? node.uid : undefined;
    if (report !== undefined && isOf(node, report))
      this.#stored = { nodeUid: node.uid, status: report.status ?? {} };
    return report?.status;
  }

  async write(
    node: ReportingNode,
    status: NodeGCReportStatus,
    signal: AbortSignal,
  ): Promise<'written' | 'no-kind'> {
    // Whether a write that failed was done after all nobody knows: then it is read again.
    const known = this.#stored;
    this.#stored = undefined;
    const first = known?.nodeUid === node.uid ? await this.#patch(node, { known, status }, signal) : 'unsure';
    const done = first === 'patched' || (await this.#ensureAndPatch(node, status, signal));
    if (!done) return 'no-kind';
    this.#stored = { nodeUid: node.uid, status };
    return 'written';
  }

  async #ensureAndPatch(
    node: ReportingNode,
    status: NodeGCReportStatus,
    signal: AbortSignal,
  ): Promise<boolean> {
    const existing = await this.#ensure(node, signal);
    if (existing === undefined) return false;
    const known = { nodeUid: node.uid, status: existing.status ?? {} };
    if ((await this.#patch(node, { known, status }, signal)) === 'patched') return true;
    throw new Error(`writing the report of node ${node.name}: it was deleted at the same moment`);
  }

  async #patch(
    node: ReportingNode,
    { known, status }: { readonly known: Stored; readonly status: NodeGCReportStatus },
    signal: AbortSignal,
  ): Promise<'patched' | 'gone'> {
    const patch = mergePatchOf(known.status, status);
    try {
      return await statusPatcher(this.#transport).patchStatus(pathOf(node), patch, signal);
    } catch (err) {
      // Turned away before it was looked at: what is stored is what it was, and a server in a storm is not asked twice.
      if (err instanceof ApiError && err.status === 429) this.#stored = known;
      throw err;
    }
  }

  /** The report, made or taken over; undefined when there is no such kind. */
  async #ensure(node: ReportingNode, signal: AbortSignal): Promise<NodeGCReport | undefined> {
    const isKnownMissing = this.#without === node.uid;
    this.#without = undefined;
    const existing = isKnownMissing ? undefined : await this.#get(node, signal);
    const report = existing ?? (await this.#create(node, signal));
    if (report !== undefined && !isOf(node, report)) await this.#takeOver(node, report, signal);
    return report;
  }

  async #get(node: ReportingNode, signal: AbortSignal): Promise<NodeGCReport | undefined> {
    try {
      const { body } = await this.#transport.send({ method: 'GET', path: pathOf(node) }, signal);
      // Checked against the schema by the server, and written by this agent alone.
      return parseJson(body) as NodeGCReport;
    } catch (err) {
      if (isNotFound(err)) return undefined;
      throw err;
    }
  }

  async #create(node: ReportingNode, signal: AbortSignal): Promise<NodeGCReport | undefined> {
    const report = {
      apiVersion: 'gc.dustpan.dev/v1alpha1',
      kind: 'NodeGCReport',
      metadata: { name: node.name, ownerReferences: owners(node) },
    };
    try {
      await this.#transport.send({ method: 'POST', path: reportsPath, body: report }, signal);
      return report;
    } catch (err) {
      if (isNotFound(err)) return undefined;
      // Our own first try, whose answer was lost; or another's.
      if (isConflict(err)) return this.#get(node, signal);
      throw err;
    }
  }

  /**
   * Of a Node that was there before under this name. Without the right to do so it is left to Kubernetes, which deletes what belongs to an
   * object that is gone; the next write then makes a new report.
   */
  async #takeOver(node: ReportingNode, { metadata }: NodeGCReport, signal: AbortSignal): Promise<void> {
    try {
      await this.#transport.send(
        {
          method: 'PATCH',
          path: pathOf(node),
          query: { fieldManager: 'dustpan' },
          contentType: 'application/merge-patch+json',
          body: { metadata: { uid: metadata?.uid, ownerReferences: owners(node) } },
        },
        signal,
      );
    } catch (err) {
      if (!(err instanceof ApiError && err.status === 403) && !isNotFound(err)) throw err;
    }
  }
}

const isOf = (node: ReportingNode, { metadata }: NodeGCReport): boolean =>
  metadata?.ownerReferences?.some(({ uid }) => uid === node.uid) ?? false;

/** Goes with its Node; nothing waits for it (no blockOwnerDeletion), nor does the Node manage it. */
const owners = ({ name, uid }: ReportingNode): OwnerRef[] => [{ apiVersion: 'v1', kind: 'Node', name, uid }];
