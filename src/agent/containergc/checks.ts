import type { Policy } from '../../api/policy/policy.ts';
import type { ContainerRuntime, RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import {
  clocksAgree,
  confirmedNode,
  nodeUnchanged,
  resultOrError,
  stopFor,
  type ConfirmedNode,
} from '../../gc/checks.ts';
import type { Check } from '../../gc/execute.ts';
import { LiveQuery } from '../../gc/live.ts';
import type { PodState } from '../../kube/actions/live-reads.ts';
import type { NodeLogs } from '../../node/logs/logs.ts';
import type { NodeCheckpoints } from '../../node/storage/checkpoints.ts';
import type { NodeOrphans } from '../../node/storage/orphans-finder.ts';
import type { Moment } from '../../runtime/scheduling/jump.ts';
import type { RemoverContext } from '../context.ts';
import type { ContainerGcFacts, ContainerRemoval } from './facts.ts';
import { podThatMustBeGone, recheck } from './recheck.ts';

export interface ContainerGcContext extends RemoverContext {
  /** The pods of this node in the cache; undefined = unknown. */
  readonly pods: () => ContainerGcFacts['pods'];
  readonly logs: NodeLogs;
  readonly orphans: NodeOrphans;
  readonly checkpoints: NodeCheckpoints;
}

interface Listed {
  readonly containers: readonly RuntimeContainer[];
  readonly sandboxes: readonly RuntimeSandbox[];
}

/** Removals after which the runtime is listed again, however fast they are. */
const removalsPerListing = 16;

type Checked = Check<ContainerRemoval>;

export interface ContainerChecks {
  /** Conditions that must hold right before a removal, in this order. */
  readonly checks: readonly Checked[];
  readonly node: ConfirmedNode<ContainerRemoval>;
  readonly pods: LiveQuery<ContainerRemoval, PodState>;
  readonly listing: LiveQuery<ContainerRemoval, Listed | Error>;
}

export function containerChecks(context: ContainerGcContext, policy: Policy, began: Moment): ContainerChecks {
  const { runtime, clock, governance } = context;
  const node = confirmedNode<ContainerRemoval>({
    confirm: (signal) => context.live.confirm(signal),
    policy,
    clock,
  });
  const pods = new LiveQuery<ContainerRemoval, PodState>({
    clock,
    key: (removal) => podThatMustBeGone(removal)?.uid,
    query: (removal, signal) => readPod(removal, context, signal),
  });
  const listing = new LiveQuery<ContainerRemoval, Listed | Error>({
    // Each kind has a listing of its own: sandboxes depend on the containers that are left.
    clock,
    key: ({ target }) => target.kind,
    maxDecisions: removalsPerListing,
    query: resultOrError((_, signal) => list(runtime, signal)),
  });
  const { minimumAgeMs = 0 } = policy.nodes?.containerGC ?? {};
  const isAged = ({ target, reason }: ContainerRemoval): boolean =>
    target.kind === 'Checkpoint' ||
    (target.kind === 'PodDirectory'
      ? target.volumeDataMs !== undefined
      : (target.kind === 'Container' || reason === 'ContainerGone') && minimumAgeMs > 0);
  const live = { node, pods, listing };
  const unchanged = nodeUnchanged<ContainerRemoval>({ governance, clock, policy, began });
  return {
    checks: [unchanged, node.check, podIsGone(live), clocksAgree(node, isAged), stillUnused(live, context)],
    ...live,
  };
}

async function readPod(
  removal: ContainerRemoval,
  { live, log }: ContainerGcContext,
  signal: AbortSignal,
): Promise<PodState> {
  const pod = podThatMustBeGone(removal);
  if (pod === undefined) return 'unknown';
  try {
    return await live.podState(pod, signal);
  } catch (err) {
    if (!signal.aborted) log.warn({ pod, err }, 'reading pod failed');
    return 'unknown';
  }
}

async function list(runtime: ContainerRuntime, signal: AbortSignal): Promise<Listed> {
  await runtime.checkReady(signal);
  const [containers, sandboxes] = await Promise.all([
    runtime.listContainers(signal),
    runtime.listSandboxes(signal),
  ]);
  return { containers, sandboxes };
}

type LiveResponses = Omit<ContainerChecks, 'checks'>;

/** A pod that exists may be over: the pods that the API server just listed decide in `stillUnused`. A pod that is not among them is kept. */
const podIsGone = ({ node, pods }: LiveResponses): Checked => ({
  live: pods,
  objection: (removal) => {
    const response = pods.response(removal);
    if (response === 'unknown') return { kind: 'keep', reason: 'PodsUnknown' };
    if (response !== 'exists') return undefined;
    const uid = podThatMustBeGone(removal)?.uid;
    const isListed = node.response(removal)?.pods.some((pod) => pod.uid === uid);
    return isListed === true ? undefined : { kind: 'keep', reason: 'InUse' };
  },
});

const stillUnused = ({ node, listing }: LiveResponses, { pods, clock }: ContainerGcContext): Checked => ({
  live: listing,
  objection: (removal) => {
    const listed = listing.response(removal);
    const live = node.response(removal);
    if (listed instanceof Error) return stopFor(listed);
    if (listed === undefined || live === undefined) return stopFor(unlisted);
    const cached = pods();
    const verdict = recheck(removal, {
      ...listed,
      pods: [...(cached ?? []), ...live.pods],
      isCacheSynced: cached !== undefined,
      now: new Date(clock.now().getTime() - live.clockSkewMs),
    });
    if (verdict === 'due') return undefined;
    return verdict === 'absent' ? { kind: 'gone' } : { kind: 'keep', reason: verdict };
  },
});

const unlisted = new Error('containers and sandboxes are not listed');
