import { podsOfBoth, type ConfirmNode } from '../../api/node-confirmation.ts';
import type { PodRef } from '../../api/pod-ref.ts';
import type { ContainerGcPolicy, Policy } from '../../api/policy/policy.ts';
import type { ContainerRuntime, RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import { clocksAgree, confirmedNode, goOn, orError, stopFor, type ConfirmedNode } from '../../gc/checks.ts';
import type { Check } from '../../gc/execute.ts';
import { Live } from '../../gc/live.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { ContainerRemoval } from './decisions.ts';
import type { ContainerGcFacts } from './facts.ts';
import { podCountedGone, recheck } from './recheck.ts';

/** What the API server itself, not a cache, answers about a pod. */
export type PodAnswer = 'gone' | 'exists' | 'unknown';

export interface ContainerCheckDeps {
  readonly runtime: Pick<ContainerRuntime, 'checkReady' | 'listContainers' | 'listSandboxes'>;
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>;
  /** The pods of this node as the cache has them now; undefined = not known. */
  readonly pods: () => ContainerGcFacts['pods'];
  /** Asks the API server: by name where it is known, else among all pods of the node; a mirror pod counts by its annotation. */
  readonly podGone: (pod: PodRef, signal: AbortSignal) => Promise<PodAnswer>;
  readonly confirm: ConfirmNode;
  /** Why the pass must end by what this process knows: another policy, mode DryRun, a clock that jumped. */
  readonly halted: () => string | undefined;
  readonly log: Pick<Logger, 'warn'>;
}

/** What the plan was made from. */
export interface Rule {
  readonly policy: Policy;
  readonly rule: ContainerGcPolicy;
}

/** What the runtime lists. */
interface Listed {
  readonly containers: readonly RuntimeContainer[];
  readonly sandboxes: readonly RuntimeSandbox[];
}

/** Removals after which the runtime is listed anew, however fast they are. */
const removalsPerListing = 16;

type Checked = Check<ContainerRemoval>;

export interface ContainerChecks {
  /** What must be true right before a container, a sandbox or a log is removed, in this order. */
  readonly checks: readonly Checked[];
  readonly node: ConfirmedNode<ContainerRemoval>;
  readonly pods: Live<ContainerRemoval, PodAnswer>;
  readonly listing: Live<ContainerRemoval, Listed | Error>;
}

/** Puts together the live questions and the checks that judge their answers. */
export function containerChecks(deps: ContainerCheckDeps, { policy, rule }: Rule): ContainerChecks {
  const { runtime, clock, confirm } = deps;
  const node = confirmedNode<ContainerRemoval>({ confirm, policy, clock });
  const pods = new Live<ContainerRemoval, PodAnswer>({
    ...{ clock, key: (removal) => podCountedGone(removal)?.uid },
    ask: (removal, signal) => readPod(removal, deps, signal),
  });
  const listing = new Live<ContainerRemoval, Listed | Error>({
    // Each kind has a listing of its own: sandboxes are judged by the containers that are left.
    ...{ clock, key: ({ target }) => target.kind, maxDecisions: removalsPerListing },
    ask: orError((_, signal) => list(runtime, signal)),
  });
  const isAged = ({ target }: ContainerRemoval): boolean =>
    target.kind === 'Container' && rule.minimumAgeMs > 0;
  const live = { node, pods, listing };
  const goesOn = goOn<ContainerRemoval>('goOn', deps.halted);
  return {
    checks: [goesOn, node.check, podIsGone(live), clocksAgree(node, isAged), stillUnused(live, deps)],
    ...live,
  };
}

async function readPod(
  removal: ContainerRemoval,
  { podGone, log }: ContainerCheckDeps,
  signal: AbortSignal,
): Promise<PodAnswer> {
  const pod = podCountedGone(removal);
  if (pod === undefined) return 'unknown';
  try {
    return await podGone(pod, signal);
  } catch (err) {
    if (!signal.aborted) log.warn({ pod, err }, 'reading pod failed');
    return 'unknown';
  }
}

async function list(runtime: ContainerCheckDeps['runtime'], signal: AbortSignal): Promise<Listed> {
  await runtime.checkReady(signal);
  const [containers, sandboxes] = await Promise.all([
    runtime.listContainers(signal),
    runtime.listSandboxes(signal),
  ]);
  return { containers, sandboxes };
}

type LiveAnswers = Omit<ContainerChecks, 'checks'>;

/** A pod that exists may be over: then the list of pods that was just read decides, and a pod that it does not have is not over. */
const podIsGone = ({ node, pods }: LiveAnswers): Checked => ({
  name: 'podIsGone',
  live: pods,
  objection: (removal) => {
    const answer = pods.answer(removal);
    if (answer === 'unknown') return { kind: 'keep', reason: 'PodsUnknown' };
    if (answer !== 'exists') return undefined;
    const uid = podCountedGone(removal)?.uid;
    const isListed = node.for(removal)?.pods.some((pod) => pod.uid === uid);
    return isListed === true ? undefined : { kind: 'keep', reason: 'InUse' };
  },
});

const stillUnused = ({ node, listing }: LiveAnswers, { pods, clock }: ContainerCheckDeps): Checked => ({
  name: 'stillUnused',
  live: listing,
  objection: (removal) => {
    const listed = listing.answer(removal);
    const live = node.for(removal);
    if (listed instanceof Error) return stopFor(listed);
    if (listed === undefined || live === undefined) return stopFor(unlisted);
    const verdict = recheck(removal, {
      ...listed,
      pods: podsOfBoth(pods(), live.pods),
      now: new Date(clock.now().getTime() - live.clockSkewMs),
    });
    if (verdict === 'due') return undefined;
    return verdict === 'absent' ? { kind: 'gone' } : { kind: 'keep', reason: verdict };
  },
});

const unlisted = new Error('containers and sandboxes are not listed');
