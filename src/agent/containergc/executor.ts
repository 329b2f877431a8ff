import type { ContainerKeepReason } from '../../api/reasons.ts';
import type { ContainerRuntime, RuntimeContainer } from '../../cri/runtime.ts';
import type { NodeLogs } from '../../node/logs.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { ContainerGcFacts, ContainerObject, LogDirectoryObject, PodRef, Removal } from './facts.ts';
import { legacyLinkOf, stopSeconds } from './kubelet-labels.ts';
import type { ContainerGcMetrics } from './metrics.ts';
import { podRefOf } from './pods.ts';
import { recheck, type LiveView, type Recheck } from './recheck.ts';

/** What the API server itself, not a cache, says of a pod. */
export type PodAnswer = 'gone' | 'exists' | 'unknown';

export interface ExecutorDeps {
  readonly runtime: Pick<
    ContainerRuntime,
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
  readonly clock: Clock;
  readonly metrics: ContainerGcMetrics;
  readonly log: Logger;
  /** False: nothing new may begin (shutdown, another policy, mode DryRun). Asked right before each act. */
  readonly mayGoOn: () => boolean;
  /** A pod that the cache misses is there. */
  readonly onPodFound: (uid: string) => void;
  /** Called as removals go on: a long pass is not a dead one. */
  readonly onProgress: () => void;
}

/** How old an answer may be when something is removed because of it. */
const freshMs = 5_000;
/** Removals after which the runtime is listed again. */
const batch = 16;

/** The removals of one pass: each checked once more, done in order, counted; a failed one is stepped over. */
export class ContainerGcExecutor {
  readonly #deps: ExecutorDeps;
  readonly #answers = new Map<string, Dated<Promise<PodAnswer>>>();
  #view: (Dated<Listed> & { readonly kind: Kind; used: number }) | undefined;
  removed = 0;
  failed = 0;
  freedBytes = 0;
  firstError: unknown;
  /** Not the pass's own: what has begun is finished, or a container would stay without its log. Each call has its deadline. */
  readonly #begun = new AbortController().signal;

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
  }

  /** Rejects only when the runtime cannot be listed any more: nothing else could be checked either. */
  async perform(removals: readonly Removal[], signal: AbortSignal): Promise<void> {
    for (const removal of removals) {
      if (signal.aborted || !this.#deps.mayGoOn()) return;
      const verdict = await this.#recheck(removal, signal);
      if (!this.#mayAct(removal, verdict, signal)) continue;
      await this.#act(removal, signal);
      this.#deps.onProgress();
    }
  }

  /** What waits longest comes first, so that everything else is known right before the act. */
  async #recheck(removal: Removal, signal: AbortSignal): Promise<Recheck> {
    const pod = removal.because === 'podGone' ? podOf(removal) : undefined;
    const answer = pod === undefined ? 'gone' : await this.#podGone(pod, signal);
    if (answer === 'unknown') return 'PodsUnknown';
    if (answer === 'exists') return 'InUse';
    const view = await this.#freshView(removal.object.kind, signal);
    return recheck(removal, { ...view, pods: this.#deps.pods() });
  }

  #mayAct(removal: Removal, verdict: Recheck, signal: AbortSignal): boolean {
    if (verdict === 'due') return !signal.aborted && this.#deps.mayGoOn();
    if (verdict !== 'absent') this.#keep(removal, verdict);
    return false;
  }

  #keep(removal: Removal, kept: ContainerKeepReason): void {
    this.#deps.metrics.skipped.inc({ reason: kept });
    this.#deps.log.debug({ ...fieldsOf(removal), kept }, 'keeping after live check');
  }

  async #podGone(pod: PodRef, signal: AbortSignal): Promise<PodAnswer> {
    const known = this.#answers.get(pod.uid);
    if (known !== undefined && this.#isFresh(known)) return known.answer;
    const answer = this.#askApi(pod, signal);
    this.#answers.set(pod.uid, { at: this.#deps.clock.monotonicMs(), answer });
    if ((await answer) === 'exists') this.#deps.onPodFound(pod.uid);
    return answer;
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
    const view = this.#view;
    if (view?.kind === kind && this.#isFresh(view) && view.used < batch) {
      view.used += 1;
      return view.answer;
    }
    const { runtime, clock } = this.#deps;
    const at = clock.monotonicMs();
    const [containers, sandboxes] = await Promise.all([
      runtime.listContainers(signal),
      runtime.listSandboxes(signal),
    ]);
    this.#view = { at, kind, used: 1, answer: { containers, sandboxes } };
    return this.#view.answer;
  }

  #isFresh = ({ at }: Dated<unknown>): boolean => this.#deps.clock.monotonicMs() - at < freshMs;

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

interface Dated<T> {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly answer: T;
}

type Kind = Removal['object']['kind'];
type Listed = Omit<LiveView, 'pods'>;
type Done = { readonly freedBytes: number } | 'absent' | ContainerKeepReason;

const freed = async (bytes: Promise<number>): Promise<Done> => ({ freedBytes: await bytes });

const nouns: Readonly<Record<Kind, string>> = {
  container: 'container',
  sandbox: 'sandbox',
  logDirectory: 'log directory',
  logLink: 'log link',
  logFile: 'rotated log',
};

function podOf({ object }: Removal): PodRef | undefined {
  switch (object.kind) {
    case 'container':
      return podRefOf(object.container);
    case 'sandbox':
      return podRefOf(object.sandbox);
    case 'logDirectory':
      return object.pod;
    case 'logLink':
    case 'logFile':
      return undefined;
  }
}

/** How a log line names what was removed. */
export function fieldsOf({ object, reason }: Removal): object {
  switch (object.kind) {
    case 'container':
      return { container: object.container.id, pod: podRefOf(object.container), reason };
    case 'sandbox':
      return { sandbox: object.sandbox.id, pod: podRefOf(object.sandbox), reason };
    case 'logDirectory':
    case 'logLink':
    case 'logFile':
      return { path: object.path, reason };
  }
}
