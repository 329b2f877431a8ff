import type { PodKeepReason } from '../../api/reasons.ts';
import type { ClusterActions } from '../../kube/cluster.ts';
import { ActGate, type ActGateDeps, type Confirmation } from '../../runtime/act-gate.ts';
import type { Clock } from '../../runtime/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import { LiveAnswers, lookLive } from '../../runtime/fresh.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ActResult } from '../../runtime/paced.ts';
import type { PodDeletion } from './facts.ts';
import { upstreamReason, type PodGcMetrics } from './metrics.ts';
import {
  dependsOnNode,
  disruptionTarget,
  recheckNode,
  statusOf,
  throttledForMs,
  type LiveNode,
} from './recheck.ts';

interface ExecutorDeps extends ActGateDeps {
  readonly cluster: ClusterActions;
  readonly clock: Clock;
  readonly metrics: PodGcMetrics;
  readonly log: Logger;
  /** Whether the keep label is on the pod's namespace or node by now, as far as the caches know. */
  readonly isMarkedNow: (deletion: PodDeletion) => boolean;
  /** A node answers although the cache misses it. */
  readonly onNodeFound: (node: string) => void;
}

/** More than a network makes of synchronised clocks; times to live are not judged by such a clock. */
const tolerableSkewMs = 60_000;
/** So many failures in a row are no accident of single pods: the rest would only fail as well. */
const hopelessInARow = 16;
/** A pod that is throttled this often is given up for this pass, or it would hold up all others. */
const maxThrottles = 5;
/** A broken server must not fill the log. */
const maxFailureLines = 10;

/** The deletions of one pass: each re-checked live, marked, deleted, told and counted. */
export class DeletionExecutor {
  readonly #deps: ExecutorDeps;
  readonly #gate: ActGate;
  readonly #liveNodes: LiveAnswers<LiveNode>;
  /** resourceVersion after the mark, for a delete that had to be tried again. */
  readonly #marked = new Map<string, string>();
  readonly #throttles = new Map<string, number>();
  readonly deleted: PodDeletion[] = [];
  readonly failed: PodDeletion[] = [];
  readonly clockUnsure: PodDeletion[] = [];
  #firstFailure: unknown;
  #failedInARow = 0;
  /** Not the pass's own: what has been sent is waited for, or a deletion would go untold. Each request has its deadline. */
  readonly #signal = new AbortController().signal;

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
    this.#gate = new ActGate(deps);
    this.#liveNodes = new LiveAnswers(deps.clock);
  }

  /** Why the pass must not go on: the policies are not those of the plan any more, or cannot be read. */
  get halted(): string | undefined {
    return this.#gate.halted;
  }

  /** Rejects only where nothing else in the pass could succeed either. */
  async perform(deletion: PodDeletion): Promise<ActResult> {
    if (!(await this.#isStillDue(deletion))) return 'done';
    try {
      await this.#markAndDelete(deletion);
      this.#failedInARow = 0;
    } catch (err) {
      const waitMs = throttledForMs(err);
      if (waitMs !== undefined && this.#mayTryAgain(deletion)) return { throttledForMs: waitMs };
      this.#fail(deletion, err);
    }
    return 'done';
  }

  /** Throws when a deletion failed, or policies could not be read: the others were done all the same. */
  throwIfFailed(): void {
    const [first] = this.failed;
    if (first === undefined) {
      this.#gate.throwIfUnread();
      return;
    }
    const all = this.failed.length + this.deleted.length;
    const name = `${first.pod.namespace}/${first.pod.name}`;
    throw new Error(`deleting pods: ${this.failed.length} of ${all} failed, the first ${name}`, {
      cause: this.#firstFailure,
    });
  }

  /** Checks live whether the deletion still stands; one that does not is recorded. */
  async #isStillDue(deletion: PodDeletion): Promise<boolean> {
    const verdict = await this.#recheck(deletion);
    if (verdict !== undefined && verdict !== 'stop') this.#keep(deletion, verdict);
    return verdict === undefined;
  }

  /** A node that was looked at long before the policies had been read is looked at again: it may be back. */
  async #recheck(deletion: PodDeletion): Promise<PodKeepReason | 'stop' | undefined> {
    const { nodeName } = deletion.pod;
    if (nodeName === undefined || !dependsOnNode(deletion.reason)) return this.#recheckOnce(deletion);
    const verdict = await lookLive(() => this.#recheckOnce(deletion, nodeName), {
      clock: this.#deps.clock,
      isYes: (answer) => answer === undefined,
    });
    return verdict === 'slow' ? 'NodeUnknown' : verdict;
  }

  /** What waits comes first, so that everything else is asked right before the act. */
  async #recheckOnce(deletion: PodDeletion, node?: string): Promise<PodKeepReason | 'stop' | undefined> {
    const live = node === undefined ? undefined : await this.#liveNodes.get(node, () => this.#readNode(node));
    const confirmation = await this.#gate.confirmed(this.#signal);
    if (this.#gate.mustStop(confirmation)) return 'stop';
    if (this.#deps.isMarkedNow(deletion)) return 'KeepMarked';
    if (deletion.reason === 'Expired' && this.#isSkewed(deletion, confirmation)) return 'ClockUnsure';
    return live === undefined ? undefined : recheckNode(deletion.reason, live);
  }

  /** Said once a pass: it concerns every deletion by ttl alike. */
  #isSkewed(deletion: PodDeletion, confirmation: Confirmation | undefined): boolean {
    const skewMs = confirmation?.clockSkewMs ?? Infinity;
    if (Math.abs(skewMs) <= tolerableSkewMs) return false;
    const aheadSeconds = Math.round(skewMs / 1000);
    if (this.clockUnsure.length === 0)
      this.#deps.log.warn({ aheadSeconds }, 'clock differs from that of the API server, no ttl is judged');
    this.clockUnsure.push(deletion);
    return true;
  }

  #keep(deletion: PodDeletion, kept: PodKeepReason): void {
    const { metrics, log, onNodeFound } = this.#deps;
    if (kept === 'NodeExists' && deletion.pod.nodeName !== undefined) onNodeFound(deletion.pod.nodeName);
    metrics.skipped.inc({ reason: kept });
    log.debug({ ...fieldsOf(deletion), kept }, 'keeping pod after live check');
  }

  async #readNode(name: string): Promise<LiveNode> {
    try {
      return { node: await this.#deps.cluster.getNode(name, this.#signal) };
    } catch (err) {
      this.#deps.log.warn({ node: name, err }, 'reading node failed');
      return 'unreadable';
    }
  }

  async #markAndDelete(deletion: PodDeletion): Promise<void> {
    const { cluster, metrics } = this.#deps;
    const { pod, markFailed } = deletion;
    const resourceVersion = markFailed ? await this.#mark(deletion) : pod.resourceVersion;
    // The mark is a request of its own: a slow one makes every earlier check stale.
    if (markFailed && !(await this.#isStillDue(deletion))) return;
    const result =
      resourceVersion === undefined
        ? 'changed'
        : await cluster.deletePod(
            { namespace: pod.namespace, name: pod.name, uid: pod.uid, resourceVersion },
            this.#signal,
          );
    metrics.deletes.inc(labelsOf(deletion));
    if (result === 'deleted') this.#tell(deletion);
    else this.#deps.log.debug({ ...fieldsOf(deletion), result }, 'pod was gone or changed meanwhile');
  }

  #tell(deletion: PodDeletion): void {
    this.deleted.push(deletion);
    this.#deps.metrics.deleted.inc({ reason: deletion.reason });
    this.#deps.log.info(fieldsOf(deletion), 'deleted pod');
  }

  /** The resourceVersion after the mark; undefined when the pod is not the one that was decided about any more. */
  async #mark(deletion: PodDeletion): Promise<string | undefined> {
    const { cluster, clock, log } = this.#deps;
    const { pod, reason } = deletion;
    const known = this.#marked.get(pod.uid);
    if (known !== undefined) return known;
    const marked = await cluster.markPodFailed(pod, disruptionTarget(reason, clock.now()), this.#signal);
    if (typeof marked === 'string') return undefined;
    log.info(fieldsOf(deletion), 'marked pod failed');
    this.#marked.set(pod.uid, marked.resourceVersion);
    return marked.resourceVersion;
  }

  #mayTryAgain({ pod }: PodDeletion): boolean {
    const count = (this.#throttles.get(pod.uid) ?? 0) + 1;
    this.#throttles.set(pod.uid, count);
    return count < maxThrottles;
  }

  #fail(deletion: PodDeletion, err: unknown): void {
    const { metrics, log } = this.#deps;
    this.failed.push(deletion);
    this.#firstFailure ??= err;
    this.#failedInARow++;
    metrics.deletes.inc(labelsOf(deletion));
    metrics.deleteErrors.inc(labelsOf(deletion));
    metrics.failed.inc({ reason: deletion.reason });
    const fields = { ...fieldsOf(deletion), err: errorLine(err) };
    if (this.failed.length <= maxFailureLines) log.warn(fields, 'deleting pod failed');
    else log.debug(fields, 'deleting pod failed');
    if (statusOf(err) === 401 || this.#failedInARow >= hopelessInARow) this.throwIfFailed();
  }
}

const labelsOf = ({ pod, reason }: PodDeletion): { namespace: string; reason: string } => ({
  namespace: pod.namespace,
  reason: upstreamReason[reason],
});

/** What a log line says of a deletion: enough to know the pod by when it is gone. */
export const fieldsOf = ({ pod, reason, policy }: PodDeletion): object => ({
  pod: { namespace: pod.namespace, name: pod.name },
  uid: pod.uid,
  node: pod.nodeName,
  owner: pod.controller && `${pod.controller.kind}/${pod.controller.name}`,
  phase: pod.phase,
  reason,
  policy: policy.name,
});
