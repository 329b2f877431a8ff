import { podLabelKeys } from '../../api/matching.ts';
import type { PolicyPassReport } from '../../api/pass-report.ts';
import type { InvalidPolicy, Policy } from '../../api/policy.ts';
import type { ClusterActions } from '../../kube/cluster.ts';
import type { PodFacts } from '../../kube/objects.ts';
import type { Recorder } from '../../kube/recorder.ts';
import type { Store } from '../../kube/reflector.ts';
import type { Clock } from '../../runtime/clock.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logger.ts';
import { paced, type ActResult } from '../../runtime/paced.ts';
import { initialPace, type Pace } from '../../runtime/pacing.ts';
import { podsCollected } from './events.ts';
import type { PodDeletion, PodGcPlan } from './facts.ts';
import { showPlan, upstreamReason, type PodGcMetrics } from './metrics.ts';
import { observe, type Caches, type Observed } from './observe.ts';
import { planPodGc } from './plan.ts';
import {
  dependsOnNode,
  disruptionTarget,
  isHopeless,
  recheckNode,
  throttledForMs,
  type LiveNode,
} from './recheck.ts';
import { nothingSaid, notices, passReports, takeCensus, type Census, type Said } from './report.ts';

/** The pods known, and whether the labels that today's policies read were kept of them. */
export interface PodStore extends Store<PodFacts> {
  /** False until a list with these label keys is complete; asking starts it. */
  covers(labelKeys: ReadonlySet<string>): boolean;
}

export interface PodGcDeps extends Caches {
  readonly pods: PodStore;
  readonly policies: {
    readonly synced: boolean;
    /** Highest priority first; another array whenever a spec changed, the same one otherwise. */
    readonly ranked: readonly (Policy | InvalidPolicy)[];
  };
  readonly cluster: ClusterActions;
  /** True while this process surely holds the lease. */
  readonly fenced: () => boolean;
  readonly recorder: Recorder;
  readonly clock: Clock;
  readonly metrics: PodGcMetrics;
  readonly log: Logger;
  /** 0 = adaptive pacing alone. */
  readonly maxDeletesPerSecond: number;
  /** Called as deletions go on: a long pass is not a dead one. */
  readonly onProgress: () => void;
  readonly onPass: (reports: ReadonlyMap<string, PolicyPassReport>) => void;
}

/** Deletes the pods that the policies call garbage, and says of each pass what it did. */
export class PodGcController {
  readonly #deps: PodGcDeps;
  #missingSince: Observed['missingSince'] = new Map();
  #pace: Pace = initialPace;
  #said: Said = nothingSaid;

  constructor(deps: PodGcDeps) {
    this.#deps = deps;
  }

  /** One pass: observe, plan, act. Without a complete view nothing is decided: everything stays. */
  async reconcile(signal: AbortSignal): Promise<void> {
    const { policies, clock, metrics, recorder } = this.#deps;
    const { ranked } = policies;
    if (!this.#seesAll(ranked)) return;

    const monotonicMs = clock.monotonicMs();
    const { facts, missingSince } = observe(this.#deps, ranked, {
      missingSince: this.#missingSince,
      monotonicMs,
    });
    this.#missingSince = missingSince;
    metrics.missingNodes.set(missingSince.size);
    const plan = planPodGc(facts, { policies: ranked, now: clock.now() });
    const census = takeCensus(plan);
    metrics.planSeconds.observe((clock.monotonicMs() - monotonicMs) / 1000);
    showPlan(metrics, plan, census);
    const { events, said } = notices(this.#said, plan, census);
    this.#said = said;
    for (const event of events) recorder.record(event);
    await this.#act({ plan, census, owners: facts.replicaSetOwners, ranked }, signal);
  }

  #seesAll(ranked: PodGcDeps['policies']['ranked']): boolean {
    const { pods, nodes, namespaces, policies, log } = this.#deps;
    const synced = {
      policies: policies.synced,
      pods: pods.synced && pods.covers(podLabelKeys(ranked)),
      nodes: nodes.synced,
      namespaces: namespaces.synced,
    };
    const all = Object.values(synced).every(Boolean);
    if (!all) log.debug(synced, 'waiting for caches');
    return all;
  }

  async #act({ plan, census, owners, ranked }: Decided, signal: AbortSignal): Promise<void> {
    const { policies, clock, metrics, recorder, onPass, onProgress, fenced, maxDeletesPerSecond } =
      this.#deps;
    const deletions = new Deletions(this.#deps, (node) => {
      this.#forgetMissing(node);
    });
    try {
      this.#pace = await paced(
        plan.deletions.filter((deletion) => deletions.enforces(deletion)),
        {
          act: (deletion) => deletions.perform(deletion),
          clock,
          pace: this.#pace,
          maxPerSecond: maxDeletesPerSecond,
          // A policy changed or deleted meanwhile, or a lease that may be another's by now, ends the pass.
          mayStart: () => fenced() && policies.ranked === ranked,
          onPace: ({ window }) => {
            metrics.window.set(window);
            onProgress();
          },
        },
        signal,
      );
    } finally {
      for (const event of podsCollected(deletions.deleted, owners)) recorder.record(event);
      onPass(
        passReports(plan, census, { deleted: deletions.deleted, failed: deletions.failed, at: clock.now() }),
      );
    }
    deletions.throwIfFailed();
  }

  /** The node answers although the cache misses it: its quarantine starts anew. */
  #forgetMissing(node: string): void {
    this.#missingSince = new Map([...this.#missingSince].filter(([name]) => name !== node));
  }
}

interface Decided {
  readonly plan: PodGcPlan;
  readonly census: Census;
  readonly owners: Parameters<typeof podsCollected>[1];
  readonly ranked: PodGcDeps['policies']['ranked'];
}

/** How old a live read of a node may be when a pod of it is deleted: a long batch reads it again. */
const liveReadMs = 5_000;

/** The deletions of one pass: each re-checked live, marked, deleted and counted. */
class Deletions {
  readonly #deps: PodGcDeps;
  readonly #onNodeFound: (node: string) => void;
  readonly #liveNodes = new Map<string, { readonly at: number; readonly read: Promise<LiveNode> }>();
  readonly deleted: PodDeletion[] = [];
  readonly failed: PodDeletion[] = [];
  /** Not the pass's own: what has been sent is waited for, or a deletion would go untold. Each request has its deadline. */
  readonly #signal = new AbortController().signal;
  #firstFailure: unknown;

  constructor(deps: PodGcDeps, onNodeFound: (node: string) => void) {
    this.#deps = deps;
    this.#onNodeFound = onNodeFound;
  }

  /** DryRun ends here: said, not done. */
  enforces(deletion: PodDeletion): boolean {
    if (deletion.policy.mode === 'Enforce') return true;
    this.#deps.log.debug(fieldsOf(deletion), 'would delete pod');
    return false;
  }

  async perform(deletion: PodDeletion): Promise<ActResult> {
    const { metrics, log } = this.#deps;
    const kept = await this.#recheck(deletion);
    if (kept !== undefined) {
      metrics.skipped.inc({ reason: kept });
      log.info({ ...fieldsOf(deletion), kept }, 'keeping pod after live check');
      return 'done';
    }
    const labels = { namespace: deletion.pod.namespace, reason: upstreamReason[deletion.reason] };
    try {
      const result = await this.#markAndDelete(deletion);
      metrics.deletes.inc(labels);
      if (result === 'deleted') {
        this.deleted.push(deletion);
        log.info(fieldsOf(deletion), 'deleted pod');
      } else log.debug({ ...fieldsOf(deletion), result }, 'pod was gone or changed meanwhile');
    } catch (err) {
      const waitMs = throttledForMs(err);
      if (waitMs !== undefined) return { throttledForMs: waitMs };
      metrics.deletes.inc(labels);
      metrics.deleteErrors.inc(labels);
      this.#fail(deletion, err);
    }
    return 'done';
  }

  /** Throws when a deletion failed: the others were done all the same. */
  throwIfFailed(): void {
    if (this.failed.length === 0) return;
    const all = this.failed.length + this.deleted.length;
    throw new Error(`deleting pods: ${this.failed.length} of ${all} failed, the first`, {
      cause: this.#firstFailure,
    });
  }

  async #recheck(deletion: PodDeletion): Promise<ReturnType<typeof recheckNode>> {
    const { nodeName } = deletion.pod;
    if (nodeName === undefined || !dependsOnNode(deletion.reason)) return undefined;
    const kept = recheckNode(deletion.reason, await this.#liveNode(nodeName));
    if (kept === 'NodeExists') this.#onNodeFound(nodeName);
    return kept;
  }

  #liveNode(name: string): Promise<LiveNode> {
    const now = this.#deps.clock.monotonicMs();
    const known = this.#liveNodes.get(name);
    if (known !== undefined && now - known.at < liveReadMs) return known.read;
    const read = this.#readNode(name);
    this.#liveNodes.set(name, { at: now, read });
    return read;
  }

  async #readNode(name: string): Promise<LiveNode> {
    try {
      return { node: await this.#deps.cluster.getNode(name, this.#signal) };
    } catch (err) {
      this.#deps.log.warn({ node: name, err }, 'reading node failed');
      return 'unreadable';
    }
  }

  async #markAndDelete({ pod, reason, markFailed }: PodDeletion): Promise<string> {
    const { cluster, clock } = this.#deps;
    if (!markFailed) return cluster.deletePod(pod, this.#signal);
    const marked = await cluster.markPodFailed(pod, disruptionTarget(reason, clock.now()), this.#signal);
    if (typeof marked === 'string') return marked;
    return cluster.deletePod({ ...pod, resourceVersion: marked.resourceVersion }, this.#signal);
  }

  #fail(deletion: PodDeletion, err: unknown): void {
    this.failed.push(deletion);
    this.#firstFailure ??= err;
    this.#deps.log.debug({ ...fieldsOf(deletion), err: errorLine(err) }, 'deleting pod failed');
    // Not allowed now means not allowed for the other 99 999 either.
    if (isHopeless(err)) throw new Error('deleting pods', { cause: err });
  }
}

const fieldsOf = ({ pod, reason, policy }: PodDeletion): object => ({
  pod: { namespace: pod.namespace, name: pod.name },
  uid: pod.uid,
  ...(pod.nodeName !== undefined && { node: pod.nodeName }),
  ...(pod.controller !== undefined && { owner: `${pod.controller.kind}/${pod.controller.name}` }),
  phase: pod.phase,
  reason,
  policy: policy.name,
});
