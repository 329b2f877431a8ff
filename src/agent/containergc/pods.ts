import { isFinished } from '../../api/pod-phase.ts';
import { podUidOf } from '../../api/pod-ref.ts';
import type { RuntimeSandbox } from '../../cri/runtime.ts';
import type { LogListing } from '../../node/logs/list.ts';
import {
  nextPass,
  type ContainerGcFacts,
  type Given,
  type KeptBecause,
  type KnownPod,
  type ObservedState,
  type PodEnd,
  type PodsNow,
  type PodState,
  type PodStates,
  type Sightings,
} from './facts.ts';
import { podOfDirectory } from './log-names.ts';

/** Why nothing of a pod in this state is removed, whatever the limits; undefined = the limits decide. */
export function keptBecauseOfState(state: PodState | ObservedState): KeptBecause | undefined {
  if (state === 'Static') return { reason: 'StaticPod' };
  return state === 'OptedOut' ? { reason: 'KeepMarked', on: 'pod' } : undefined;
}

/** Why something is kept that is removed only when its pod is gone; undefined = the pod is gone. */
export function keptUntilGone(
  state: PodState,
  given: Pick<Given, 'now' | 'periodMs'>,
  unknown: 'PodsUnknown' | 'ContainersUnknown' = 'PodsUnknown',
): KeptBecause | undefined {
  switch (state) {
    case 'Gone':
      return undefined;
    case 'Quarantined':
      return quarantined(given);
    case 'Unknown':
      return { reason: unknown };
    default:
      return keptBecauseOfState(state) ?? { reason: 'InUse' };
  }
}

/** Keeps what is left of a pod that looked gone in only one pass. */
export const quarantined = (given: Pick<Given, 'now' | 'periodMs'>): KeptBecause => ({
  reason: 'Quarantined',
  eligibleAt: nextPass(given),
});

/** The kubelet generates a hash as the UID of a static pod; the API server generates UUIDs. */
const hashForm = /^[0-9a-f]{32}$/;
const twoPasses = 2;

type Observation = Omit<ContainerGcFacts, 'logs' | 'sightings'>;

/** Why the pod is over although the API has it; undefined = it is not. */
function endOf({ evicted, deletionAtMs = Infinity }: KnownPod, now: Date): PodEnd | undefined {
  if (evicted === true) return 'Evicted';
  return deletionAtMs < now.getTime() ? 'Deleted' : undefined;
}

/** Why pods are over that the API has, by UID. */
export const podEnds = (pods: ContainerGcFacts['pods'] = [], now: Date): ReadonlyMap<string, PodEnd> =>
  new Map(
    pods.flatMap((pod) => {
      const end = endOf(pod, now);
      return end === undefined ? [] : [[pod.uid, end]];
    }),
  );

/** Judges pods by one observation. */
export function podStates({ containers, sandboxes, pods }: Observation, now: Date): PodStates {
  const isKnown = containers !== undefined && sandboxes !== undefined && pods !== undefined;
  const listed = pods ?? [];
  const uids = new Set(listed.map(({ uid }) => uid));
  const over = uidsWhereAll(listed, (pod) => endOf(pod, now) !== undefined);
  const finished = uidsWhereAll(listed, isFinished);
  const sources = (sandboxes ?? []).map((sandbox) => [podUidOf(sandbox), sourceOf(sandbox)] as const);
  const fromApi = uidsOf(sources.filter(([, source]) => source === 'api'));
  // Anyone can forge a mirror pod; nobody can forge a UID in the API, or the kubelet's annotation on a sandbox.
  const mirrored = (mirrors: readonly KnownPod[]): readonly string[] =>
    mirrors
      .flatMap(({ configHash }) => configHash ?? [])
      .filter((uid) => !uids.has(uid) && !fromApi.has(uid));
  const keeping = listed.filter(({ isOptedOut }) => isOptedOut === true);
  // The label of a mirror pod protects its static pod.
  const optedOut = new Set([...keeping.map(({ uid }) => uid), ...mirrored(keeping)]);
  const fromElsewhere = uidsOf(sources.filter(([, source]) => source !== undefined && source !== 'api'));
  const staticPods = new Set([...fromElsewhere, ...mirrored(listed)]);
  const alive = new Set(
    [
      ...(containers ?? []).filter(({ state }) => state === 'Running'),
      ...(sandboxes ?? []).filter(({ state }) => state === 'Ready'),
    ].map(podUidOf),
  );
  const hasFinished = (uid: string): boolean => finished.has(uid) && !alive.has(uid);
  // A static pod may have no mirror pod and, while it starts, no sandbox: then only the form of its UID identifies it.
  const isStatic = (uid: string): boolean => staticPods.has(uid) || (hashForm.test(uid) && !fromApi.has(uid));
  const stateOf = (uid: string): ObservedState => {
    if (isStatic(uid)) return 'Static';
    if (optedOut.has(uid)) return 'OptedOut';
    if (!isKnown) return 'Unknown';
    const isOver = !uids.has(uid) || over.has(uid);
    if (isOver && !alive.has(uid)) return 'LooksGone';
    return hasFinished(uid) ? 'Finished' : 'Exists';
  };
  const rotatedKeptBecause = (uid: string): KeptBecause | undefined => {
    if (optedOut.has(uid)) return keptBecauseOfState('OptedOut');
    return alive.has(uid) ? undefined : keptBecauseOfState(stateOf(uid));
  };
  return { stateOf, hasFinished, rotatedKeptBecause };
}

/** The UIDs for which every entry meets the condition: the cache and a live list may contain the same pod. */
function uidsWhereAll<T extends { readonly uid: string }>(
  pods: readonly T[],
  condition: (pod: T) => boolean,
): ReadonlySet<string> {
  const others = new Set(pods.filter((pod) => !condition(pod)).map(({ uid }) => uid));
  return new Set(pods.map(({ uid }) => uid).filter((uid) => !others.has(uid)));
}

const sourceOf = ({ annotations }: RuntimeSandbox): string | undefined =>
  annotations['kubernetes.io/config.source'];

const uidsOf = (pairs: readonly (readonly [string | undefined, string | undefined])[]): Set<string> =>
  new Set(pairs.flatMap(([uid]) => uid ?? []));

/** How many counted passes in a row each pod has looked gone. Only counted passes add one; a pass in which it does not look gone resets it. */
export function observeGone(
  previous: Sightings,
  facts: Omit<ContainerGcFacts, 'sightings'>,
  { now, isCounted = true }: { readonly now: Date; readonly isCounted?: boolean },
): Map<string, number> {
  const states = podStates(facts, now);
  const orphaned = new Set(podsOfOrphans(facts.orphans));
  const gone = [...mentionedPods(facts), ...orphaned].filter((uid) => {
    const observed = states.stateOf(uid);
    return observed === 'LooksGone' || (observed === 'Static' && orphaned.has(uid));
  });
  return new Map(gone.map((uid) => [uid, (previous.get(uid) ?? 0) + Number(isCounted)]));
}

/** Whether two passes in a row found that a pod looks gone; of a static pod, that nothing knows it. */
export const isSeenTwice = (sightings: Sightings, uid: string): boolean =>
  (sightings.get(uid) ?? 0) >= twoPasses;

function mentionedPods({
  containers = [],
  sandboxes = [],
  logs,
}: Omit<ContainerGcFacts, 'sightings'>): ReadonlySet<string> {
  const labelled = [...containers, ...sandboxes].flatMap((one) => podUidOf(one) ?? []);
  return new Set([...labelled, ...(logs === undefined ? [] : podsOfLogs(logs))]);
}

const podsOfOrphans = (orphans: ContainerGcFacts['orphans']): readonly string[] =>
  Object.values(orphans ?? {}).flatMap((found) => found?.map(({ podUid }) => podUid) ?? []);

const podsOfLogs = ({ roots, directories, entries }: LogListing): readonly string[] =>
  [...directories, ...entries.map(({ path }) => path)].flatMap(
    (path) => podOfDirectory(path, roots.pods)?.uid ?? [],
  );

/** Judges pods by one observation and the sightings of previous passes. */
export function podsNow(facts: ContainerGcFacts, given: Pick<Given, 'now' | 'assumeGone'>): PodsNow {
  const states = podStates(facts, given.now);
  const stateOf = (uid: string): PodState => {
    const observed = states.stateOf(uid);
    if (observed !== 'LooksGone') return observed;
    return given.assumeGone === true || isSeenTwice(facts.sightings, uid) ? 'Gone' : 'Quarantined';
  };
  return { ...states, stateOf };
}
