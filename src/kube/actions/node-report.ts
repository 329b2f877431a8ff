import type { V1OwnerReference } from '@kubernetes/client-node';
import type { NodeGCReport, NodeGCReportStatus } from '../../api/gen/nodegcreport.gen.ts';
import { isObject } from '../../api/json.ts';
import { parseJson } from '../codec/json.ts';
import type { NodeFacts } from '../cache/objects.ts';
import { reportsPath } from '../cache/resources.ts';
import { patchStatus } from './status-patch.ts';
import {
  isConflict,
  isForbidden,
  isNotFound,
  isThrottled,
  unless,
  type KubeTransport,
} from '../http/transport.ts';

/** The Node object of the agent. Its report has the same name and is deleted with it. */
export type ReportingNode = Pick<NodeFacts, 'name' | 'uid'>;

const pathOf = ({ name }: ReportingNode): string => `${reportsPath}/${encodeURIComponent(name)}`;

interface Stored {
  readonly nodeUid: string;
  readonly status: NodeGCReportStatus;
}

export class NodeReports {
  readonly #transport: Pick<KubeTransport, 'send'>;
  #stored: Stored | undefined;
  /** UID of a Node without a report: the next write creates it without reading. */
  #missingFor: string | undefined;

  constructor(transport: Pick<KubeTransport, 'send'>) {
    this.#transport = transport;
  }

  /** Returns the stored status; undefined if there is no report. */
  async read(node: ReportingNode, signal: AbortSignal): Promise<NodeGCReportStatus | undefined> {
    const report = await this.#get(node, signal);
    this.#missingFor = report === undefined ? node.uid : undefined;
    if (report !== undefined && isOf(node, report))
      this.#stored = { nodeUid: node.uid, status: report.status ?? {} };
    return report?.status;
  }

  /** Replaces the stored status, and creates the report if it is missing. `no-kind`: the kind NodeGCReport is not installed. */
  async write(
    node: ReportingNode,
    status: NodeGCReportStatus,
    signal: AbortSignal,
  ): Promise<'written' | 'no-kind'> {
    // The server may have executed a write that failed: then the status is read again.
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
    const patch = { type: 'merge-patch', body: { status: mergePatchOf(known.status, status) } } as const;
    try {
      return await patchStatus(this.#transport, pathOf(node), patch, signal);
    } catch (err) {
      // Rejected before evaluation: the stored status has not changed, and a busy server gets no second request.
      if (isThrottled(err)) this.#stored = known;
      throw err;
    }
  }

  /** Returns the report, created or taken over; undefined if the kind is not installed. */
  async #ensure(node: ReportingNode, signal: AbortSignal): Promise<NodeGCReport | undefined> {
    const isKnownMissing = this.#missingFor === node.uid;
    this.#missingFor = undefined;
    const existing = isKnownMissing ? undefined : await this.#get(node, signal);
    const report = existing ?? (await this.#create(node, signal));
    if (report !== undefined && !isOf(node, report)) await this.#takeOver(node, report, signal);
    return report;
  }

  async #get(node: ReportingNode, signal: AbortSignal): Promise<NodeGCReport | undefined> {
    const request = { method: 'GET', path: pathOf(node) } as const;
    const found = await unless(isNotFound, this.#transport.send(request, signal));
    // The server validates it against the schema, and only this agent writes it.
    return found && (parseJson(found.body) as NodeGCReport);
  }

  async #create(node: ReportingNode, signal: AbortSignal): Promise<NodeGCReport | undefined> {
    const report: NodeGCReport = {
      apiVersion: 'gc.dustpan.dev/v1alpha1',
      kind: 'NodeGCReport',
      metadata: { name: node.name, ownerReferences: owners(node) },
    };
    try {
      await this.#transport.send({ method: 'POST', path: reportsPath, body: report }, signal);
      return report;
    } catch (err) {
      if (isNotFound(err)) return undefined;
      // Created by our first attempt, whose response was lost, or by another process.
      if (isConflict(err)) return this.#get(node, signal);
      throw err;
    }
  }

  /**
   * Takes over the report of an earlier Node of this name. Without the right to do so Kubernetes deletes the report with its old owner, and the
   * next write creates a new one.
   */
  async #takeOver(node: ReportingNode, { metadata }: NodeGCReport, signal: AbortSignal): Promise<void> {
    const request = {
      method: 'PATCH',
      path: pathOf(node),
      query: { fieldManager: 'dustpan' },
      contentType: 'application/merge-patch+json',
      body: { metadata: { uid: metadata?.uid, ownerReferences: owners(node) } },
    } as const;
    await unless(isForbidden, this.#transport.send(request, signal));
  }
}

const isOf = (node: ReportingNode, { metadata }: NodeGCReport): boolean =>
  metadata?.ownerReferences?.some(({ uid }) => uid === node.uid) ?? false;

/** Kubernetes deletes the report after its Node. The Node's deletion does not wait for it (no blockOwnerDeletion), and the Node is no controller. */
const owners = ({ name, uid }: ReportingNode): V1OwnerReference[] => [
  { apiVersion: 'v1', kind: 'Node', name, uid },
];

/** The JSON merge patch (RFC 7386) from `stored` to `next`: all of `next`, and null for fields that it lacks. */
function mergePatchOf(stored: object, next: object): object {
  const [before, after] = [entriesOf(stored), entriesOf(next)];
  const gone = Object.keys(before).filter((key) => after[key] === undefined);
  const kept = Object.entries(after).map(([key, value]) => [key, patchOf(before[key], value)] as const);
  return Object.fromEntries([...kept, ...gone.map((key) => [key, null] as const)]);
}

/** Lists are replaced whole. */
function patchOf(stored: unknown, next: unknown): unknown {
  return isObject(stored) && isObject(next) ? mergePatchOf(stored, next) : next;
}

const entriesOf = (object: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(object));
