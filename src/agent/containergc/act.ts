import type { ContainerRuntime, RuntimeContainer } from '../../cri/runtime.ts';
import { skewText } from '../../gc/checks.ts';
import type { Outcome } from '../../gc/decision.ts';
import { execute, logStop, type StepResult } from '../../gc/execute.ts';
import type { NodeLogs } from '../../node/logs/logs.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { containerChecks, type ContainerCheckDeps, type ContainerChecks, type Rule } from './checks.ts';
import type {
  ContainerGcTarget,
  ContainerRemoval,
  JudgedContainer,
  LogDirectoryTarget,
} from './decisions.ts';
import { legacyLinkOf, stopSeconds } from './kubelet-labels.ts';
import type { ContainerGcMetrics } from './metrics.ts';
import { podCountedGone } from './recheck.ts';
import { actsOf, type Acts } from './report.ts';

export interface ActDeps extends ContainerCheckDeps {
  readonly runtime: ContainerCheckDeps['runtime'] &
    Pick<
      ContainerRuntime,
      | 'containerStatus'
      | 'stopContainer'
      | 'removeContainer'
      | 'sandboxStatus'
      | 'stopSandbox'
      | 'removeSandbox'
    >;
  readonly logs: NodeLogs;
  readonly clock: Clock;
  readonly metrics: ContainerGcMetrics;
  readonly log: Logger;
  /** A pod that the cache misses, or holds for over, is there. */
  readonly onPodFound: (uid: string) => void;
  /** Called as removals go on: a long pass is not a dead one. */
  readonly onProgress: () => void;
}

/** Carries out the removals of one pass, in order. */
export async function removeAll(
  deps: ActDeps,
  { removals, ...rule }: Rule & { readonly removals: readonly ContainerRemoval[] },
  signal: AbortSignal,
): Promise<Acts> {
  const checks = containerChecks(deps, rule);
  const remover = new Remover(deps, checks, signal);
  const executed = await execute(
    removals,
    {
      checks: checks.checks,
      steps: [(removal) => remover.stop(removal), (removal) => remover.remove(removal)],
      ...{ clock: deps.clock, concurrency: 1 },
      // One container that cannot be removed says nothing about the next: the kubelet steps over each as well.
      giveUpAfter: Infinity,
      onOutcome: (outcome) => {
        // Broken off by the shutdown, it did not fail: the next pass removes the rest.
        if (outcome.kind === 'failed' && signal.aborted) return;
        record(outcome, deps, checks);
      },
    },
    signal,
  );
  logStop(deps.log, executed.stopped);
  const [first] = removals;
  return actsOf(executed, first && skewText(checks.node.clockSkewMs(first)));
}

function record(
  outcome: Outcome<ContainerRemoval>,
  { metrics, log, onPodFound, onProgress }: ActDeps,
  { pods }: ContainerChecks,
): void {
  const { decision } = outcome;
  const { reason, target } = decision;
  const fields = fieldsOf(decision);
  const pod = podCountedGone(decision);
  onProgress();
  switch (outcome.kind) {
    case 'done':
      metrics.collected.inc({ reason });
      metrics.freedLogBytes.inc(outcome.freedBytes);
      log.info({ ...fields, freedBytes: outcome.freedBytes }, `removed ${nouns[target.kind]}`);
      return;
    case 'kept':
      metrics.skipped.inc({ reason: outcome.reason });
      log.debug({ ...fields, kept: outcome.reason }, 'keeping after live check');
      if (pod !== undefined && outcome.reason === 'InUse' && pods.answer(decision) === 'exists')
        onPodFound(pod.uid);
      return;
    case 'gone':
      log.debug(fields, `${nouns[target.kind]} was gone meanwhile`);
      return;
    case 'failed':
      metrics.errors.inc({ reason });
      log.warn({ ...fields, err: outcome.error }, `removing ${nouns[target.kind]} failed`);
  }
}

const done: StepResult = { kind: 'done' };
const gone: StepResult = { kind: 'gone' };
const freed = async (bytes: Promise<number>): Promise<StepResult> => ({
  kind: 'done',
  freedBytes: await bytes,
});

/** The requests that remove one object. */
class Remover {
  readonly #deps: ActDeps;
  readonly #checks: ContainerChecks;
  /** Ends the removal of a log directory: the next pass removes the rest. */
  readonly #signal: AbortSignal;
  /** What the runtime was asked for is awaited, or a container would stay without its log. Each request has its own deadline. */
  readonly #begun = new AbortController().signal;

  constructor(deps: ActDeps, checks: ContainerChecks, signal: AbortSignal) {
    this.#deps = deps;
    this.#checks = checks;
    this.#signal = signal;
  }

  /** Stops what may still hold something: stopping takes long, so that the checks pass once more before the removal. */
  async stop(removal: ContainerRemoval): Promise<StepResult> {
    const { runtime } = this.#deps;
    if (removal.reason === 'Sandbox') return await this.#stopSandbox(removal.target.id);
    if (removal.reason !== 'PodGone') return done;
    const container = this.#listed(removal);
    if (container?.state === 'Unknown')
      await runtime.stopContainer(container.id, stopSeconds(container), this.#begun);
    return done;
  }

  async #stopSandbox(id: string): Promise<StepResult> {
    const { runtime } = this.#deps;
    const status = await runtime.sandboxStatus(id, this.#begun);
    if (status === undefined) return gone;
    if (status.state === 'Ready') return { kind: 'keep', reason: 'Running' };
    await runtime.stopSandbox(id, this.#begun);
    return done;
  }

  async remove(removal: ContainerRemoval): Promise<StepResult> {
    const { runtime, logs } = this.#deps;
    switch (removal.reason) {
      case 'PodGone':
      case 'DeadContainer':
        return await this.#removeContainer(this.#listed(removal));
      case 'Sandbox':
        await runtime.removeSandbox(removal.target.id, this.#begun);
        return done;
      case 'OrphanedLogs':
        return await this.#removeDirectory(removal.target);
      case 'BrokenLink':
        return (await logs.removeBrokenLink(removal.target.path, this.#signal))
          ? done
          : { kind: 'keep', reason: 'InUse' };
      case 'RotatedLog':
        return await freed(logs.removeRotated(removal.target.path, this.#signal));
    }
  }

  /** The container as the runtime listed it last, not as the plan saw it. */
  #listed(removal: ContainerRemoval & { readonly target: JudgedContainer }): RuntimeContainer | undefined {
    const listed = this.#checks.listing.answer(removal);
    if (listed === undefined || listed instanceof Error) return undefined;
    return listed.containers.find(({ id }) => id === removal.target.id);
  }

  /** Removes logs, legacy link and container, and ends at the first error, as the kubelet does (`removeContainer`, pkg/kubelet/kuberuntime). */
  async #removeContainer(listed: RuntimeContainer | undefined): Promise<StepResult> {
    const { runtime, logs } = this.#deps;
    const status = listed && (await runtime.containerStatus(listed.id, this.#begun));
    if (listed === undefined || status === undefined) return gone;
    if (status.state === 'Running') return { kind: 'keep', reason: 'Running' };
    if (status.state === 'Unknown') return { kind: 'keep', reason: 'UnknownState' };
    const freedBytes = status.logPath === '' ? 0 : await logs.removeContainerLog(status.logPath, this.#begun);
    const link = legacyLinkOf(listed);
    if (link !== undefined) await logs.removeBrokenLink(`${logs.roots.containers}/${link}`, this.#begun);
    await runtime.removeContainer(listed.id, this.#begun);
    return { kind: 'done', freedBytes };
  }

  async #removeDirectory({ path, links }: LogDirectoryTarget): Promise<StepResult> {
    const { logs } = this.#deps;
    const freedBytes = await logs.removeDirectory(path, this.#signal);
    for (const link of links) await logs.removeBrokenLink(link, this.#signal);
    return { kind: 'done', freedBytes };
  }
}

/** What a log line calls each kind. */
const nouns: Readonly<Record<ContainerGcTarget['kind'], string>> = {
  Container: 'container',
  Sandbox: 'sandbox',
  LogDirectory: 'log directory',
  LogLink: 'log link',
  LogFile: 'rotated log',
};

/** The fields of a log line about a removal. */
export function fieldsOf({ target, reason }: ContainerRemoval): object {
  switch (target.kind) {
    case 'Container':
      return { container: target.id, pod: target.pod, reason };
    case 'Sandbox':
      return { sandbox: target.id, pod: target.pod, reason };
    case 'LogDirectory':
    case 'LogLink':
    case 'LogFile':
      return { path: target.path, reason };
  }
}
