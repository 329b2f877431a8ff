import {
  LiveCheck,
  podsOfBoth,
  type ConfirmNode,
  type NodeConfirmation,
} from '../../api/node-confirmation.ts';
import type { ContainerGcPolicy, Policy } from '../../api/policy.ts';
import type { ContainerKeepReason } from '../../api/reasons.ts';
import type { ContainerRuntime, RuntimeContainer } from '../../cri/runtime.ts';
import type { NodeLogs } from '../../node/logs.ts';
import type { Clock } from '../../runtime/clock.ts';
import { isLive, LiveAnswers, liveMs, lookLive } from '../../runtime/fresh.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ContainerGcFacts, ContainerObject, LogDirectoryObject, PodRef, Removal } from './facts.ts';
import { legacyLinkOf, stopSeconds } from './kubelet-labels.ts';
import type { ContainerGcMetrics } from './metrics.ts';
import { fieldsOf, nouns, podOf, type Kind } from './naming.ts';
import { recheck, type LiveView, type Recheck } from './recheck.ts';

/** What the API server itself, not a cache, says of a pod. */
export type PodAnswer = 'gone' | 'exists' | 'unknown';

export interface ExecutorDeps {
  readonly runtime: Pick<
    ContainerRuntime,
    | 'checkReady'
    | 'listContainers'
    | 'listSandboxes'
    | 'containerStatus'
    | 'stopContainer'
    | 'removeContainer'
    | 'sandboxStatus'
    | 'stopSandbox'
    | 'removeSandbox'
  >;
  readonly logs: NodeLogs;
  /** The pods of this node as the cache has them now; undefined = not known. */
  readonly pods: () => ContainerGcFacts['pods'];
  /** Asks the API server: by name where it is known, else among all pods of the node; a mirror pod counts by its annotation. */
  readonly podGone: (pod: PodRef, signal: AbortSignal) => Promise<PodAnswer>;
  /** Asked only before something is removed. */
  readonly confirm: ConfirmNode;
  /** What the plan was made from. */
  readonly rule: Rule;
  readonly clock: Clock;
  readonly metrics: ContainerGcMetrics;
  readonly log: Logger;
  /** Why nothing new may begin (another policy, mode DryRun, a clock that jumped); undefined = go on. Asked right before each act. */
  readonly halted: () => string | undefined;
  /** A pod that the cache misses, or holds for over, is there. */
  readonly onPodFound: (uid: string) => void;
  /** Called as removals go on: a long pass is not a dead one. */
  readonly onProgress: () => void;
}

export interface Rule {
  readonly policy: Policy;
  readonly containerGC: ContainerGcPolicy;
}

/** Removals after which the runtime is listed again. */
const batch = 16;

/** The removals of one pass: each checked once more, done in order, counted; a failed one is stepped over. */
export class ContainerGcExecutor {
  readonly #deps: ExecutorDeps;
  readonly #live: LiveCheck;
  readonly #answers: LiveAnswers<PodAnswer>;
  #view: View | undefined;
  removed = 0;
  failed = 0;
  freedBytes = 0;
  firstError: unknown;
  /** Why the pass ended early. */
  halted: string | undefined;
  /** Not the pass's own: what has begun is finished, or a container would stay without its log. Each call has its deadline. */
  readonly #begun = new AbortController().signal;

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
    this.#live = new LiveCheck({ ...deps, policy: deps.rule.policy });
    this.#answers = new LiveAnswers(deps.clock);
  }

  /** Why not everything could be decided. */
  get undecided(): string | undefined {
    return this.#live.undecided;
  }

  /** Rejects only when the runtime cannot be listed any more, or not soon enough: nothing else could be checked either. */
  async perform(removals: readonly Removal[], signal: AbortSignal): Promise<void> {
    for (const removal of removals) {
      if (this.#mustStop(signal)) return;
      const verdict = await this.#recheck(removal, signal);
      if (verdict === 'due' && !this.#mustStop(signal)) await this.#act(removal, signal);
      else if (isKept(verdict)) this.#keep(removal, verdict);
      this.#deps.onProgress();
    }
  }

  #mustStop(signal: AbortSignal): boolean {
    this.halted ??= signal.aborted ? 'shutting down' : (this.#live.halted ?? this.#deps.halted());
    return this.halted !== undefined;
  }

  async #recheck(removal: Removal, signal: AbortSignal): Promise<Recheck | 'halted'> {
    const verdict = await lookLive(() => this.#recheckOnce(removal, signal), {
      clock: this.#deps.clock,
      isYes: (answer) => answer === 'due',
      knownAt: () => this.#view?.at,
    });
    if (verdict !== 'slow') return verdict;
    throw new Error(`looking whether something is in use takes longer than ${liveMs / 1000} s`);
  }

  /**
   * What waits longest comes first, so that everything else is known right before the act; if that took long, the API server is asked again.
   * A pod that exists may be over: the list that was just read decides, and one that it misses is not.
   */
  async #recheckOnce(removal: Removal, signal: AbortSignal): Promise<Recheck | 'halted'> {
    if ((await this.#live.ask(signal)) === undefined) return 'halted';
    const pod = removal.because === 'podGone' ? podOf(removal) : undefined;
    const answer = pod === undefined ? 'gone' : await this.#podGone(pod, signal);
    if (answer === 'unknown') return 'PodsUnknown';
    const view = await this.#freshView(removal.object.kind, signal);
    const live = await this.#live.ask(signal);
    if (live === undefined) return 'halted';
    if (pod === undefined || answer === 'gone') return this.#judge(removal, view, live);
    const isListed = live.pods.some(({ uid }) => uid === pod.uid);
    const verdict = isListed ? this.#judge(removal, view, live) : 'InUse';
    if (verdict === 'InUse') this.#deps.onPodFound(pod.uid);
    return verdict;
  }

  #judge(removal: Removal, view: Listed, live: NodeConfirmation): Recheck {
    const { clock } = this.#deps;
    return recheck(removal, {
      ...view,
      pods: podsOfBoth(this.#deps.pods(), live.pods),
      now: new Date(clock.now().getTime() - live.clockSkewMs),
      clockUnsure: this.#isClockUnsure(removal, live),
    });
  }

  #isClockUnsure({ object }: Removal, live: NodeConfirmation): boolean {
    const { minimumAgeMs } = this.#deps.rule.containerGC;
    return object.kind === 'container' && minimumAgeMs > 0 && this.#live.isClockUnsure(live);
  }

  #keep(removal: Removal, kept: ContainerKeepReason): void {
    this.#deps.metrics.skipped.inc({ reason: kept });
    this.#deps.log.debug({ ...fieldsOf(removal), kept }, 'keeping after live check');
  }

  #podGone(pod: PodRef, signal: AbortSignal): Promise<PodAnswer> {
    return this.#answers.get(pod.uid, () => this.#askApi(pod, signal));
  }

  async #askApi(pod: PodRef, signal: AbortSignal): Promise<PodAnswer> {
    try {
      return await this.#deps.podGone(pod, signal);
    } catch (err) {
      signal.throwIfAborted();
      this.#deps.log.warn({ pod, err }, 'reading pod failed');
      return 'unknown';
    }
  }

  /** Each kind begins with a view of its own: sandboxes are judged by the containers that are left. */
  async #freshView(kind: Kind, signal: AbortSignal): Promise<Listed> {
    const { runtime, clock } = this.#deps;
    const view = this.#view;
    if (view?.kind === kind && isLive(view.at, clock) && view.used < batch) {
      view.used += 1;
      return view.answer;
    }
    const at = clock.monotonicMs();
    await runtime.checkReady(signal);
    const [containers, sandboxes] = await Promise.all([
      runtime.listContainers(signal),
      runtime.listSandboxes(signal),
    ]);
    this.#view = { at, kind, used: 1, answer: { containers, sandboxes } };
    return this.#view.answer;
  }

  async #act(removal: Removal, signal: AbortSignal): Promise<void> {
    const { metrics, log } = this.#deps;
    try {
      const done = await this.#remove(removal, signal);
      if (typeof done === 'string') {
        if (done !== 'absent') this.#keep(removal, done);
        return;
      }
      this.removed += 1;
      this.freedBytes += done.freedBytes;
      metrics.collected.inc({ reason: removal.reason });
      metrics.freedLogBytes.inc(done.freedBytes);
      log.info(
        { ...fieldsOf(removal), freedBytes: done.freedBytes },
        `removed ${nouns[removal.object.kind]}`,
      );
    } catch (err) {
      if (signal.aborted) return;
      this.failed += 1;
      this.firstError ??= err;
      metrics.errors.inc({ reason: removal.reason });
      log.warn({ ...fieldsOf(removal), err }, `removing ${nouns[removal.object.kind]} failed`);
    }
  }

  #remove({ object, because }: Removal, signal: AbortSignal): Promise<Done> {
    switch (object.kind) {
      case 'container':
        return this.#removeContainer(object, because === 'podGone');
      case 'sandbox':
        return this.#removeSandbox(object.sandbox.id);
      case 'logDirectory':
        return this.#removeDirectory(object, signal);
      case 'logLink':
        return this.#removeLink(object.path, signal);
      case 'logFile':
        return freed(this.#deps.logs.removeRotated(object.path, signal));
    }
  }

  /** As RuntimeManager does (upstream.md 3.3): logs, legacy link, container; an error ends it there. */
  async #removeContainer({ container: { id } }: ContainerObject, podGone: boolean): Promise<Done> {
    const { runtime, logs } = this.#deps;
    const listed = this.#view?.answer.containers.find((container) => container.id === id);
    if (listed === undefined) return 'absent';
    if (listed.state === 'Unknown' && podGone)
      await runtime.stopContainer(id, stopSeconds(listed), this.#begun);
    const status = await runtime.containerStatus(id, this.#begun);
    if (status === undefined) return 'absent';
    if (status.state === 'Running') return 'Running';
    if (status.state === 'Unknown') return 'UnknownState';
    const freedBytes = status.logPath === '' ? 0 : await logs.removeContainerLog(status.logPath, this.#begun);
    await this.#removeLegacyLink(listed);
    await runtime.removeContainer(id, this.#begun);
    return { freedBytes };
  }

  async #removeLegacyLink(container: RuntimeContainer): Promise<void> {
    const { logs } = this.#deps;
    const name = legacyLinkOf(container);
    if (name !== undefined) await logs.removeBrokenLink(`${logs.roots.containers}/${name}`, this.#begun);
  }

  async #removeSandbox(id: string): Promise<Done> {
    const { runtime } = this.#deps;
    const status = await runtime.sandboxStatus(id, this.#begun);
    if (status === undefined) return 'absent';
    if (status.state === 'Ready') return 'Running';
    await runtime.stopSandbox(id, this.#begun);
    await runtime.removeSandbox(id, this.#begun);
    return { freedBytes: 0 };
  }

  async #removeDirectory({ path, links }: LogDirectoryObject, signal: AbortSignal): Promise<Done> {
    const freedBytes = await this.#deps.logs.removeDirectory(path, signal);
    for (const link of links) await this.#deps.logs.removeBrokenLink(link, signal);
    return { freedBytes };
  }

  async #removeLink(path: string, signal: AbortSignal): Promise<Done> {
    return (await this.#deps.logs.removeBrokenLink(path, signal)) ? { freedBytes: 0 } : 'InUse';
  }
}

const isKept = (verdict: Recheck | 'halted'): verdict is ContainerKeepReason =>
  verdict !== 'due' && verdict !== 'absent' && verdict !== 'halted';

/** What the runtime said, and for how many removals of one kind it was good already. */
interface View {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly kind: Kind;
  readonly answer: Listed;
  used: number;
}

type Listed = Pick<LiveView, 'containers' | 'sandboxes'>;
type Done = { readonly freedBytes: number } | 'absent' | ContainerKeepReason;

const freed = async (bytes: Promise<number>): Promise<Done> => ({ freedBytes: await bytes });
