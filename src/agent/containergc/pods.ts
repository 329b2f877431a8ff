import { isFinished } from '../../api/pod-phase.ts';
import { podUidOf } from '../../api/pod-ref.ts';
import type { RuntimeSandbox } from '../../cri/runtime.ts';
import type { LogListing } from '../../node/logs/list.ts';
import {
  nextPass,
  type Because,
  type ContainerGcFacts,
  type Given,
  type KeptBecause,
  type KnownPod,
  type PodEnd,
  type Sightings,
} from './facts.ts';
import { podOfDirectory } from './log-names.ts';

/**
 * The state of a pod in one observation. Exists: in the API, or something of it is alive. Finished: in the API, Succeeded or Failed, and not
 * alive. OptedOut: has the keep label. Static: left to the kubelet. LooksGone: absent, evicted, or past its deletion time, and not alive.
 */
type ObservedState = 'Exists' | 'Finished' | 'OptedOut' | 'Static' | 'LooksGone' | 'Unknown';

/** A pod that looks gone is Quarantined in the first pass and Gone from the second on. */
export type PodState = Exclude<ObservedState, 'LooksGone'> | 'Gone' | 'Quarantined';

/** Why nothing of such a pod is removed, whatever the limits; undefined = the limits decide. */
export function holdOf(state: PodState | ObservedState): KeptBecause | undefined {
  if (state === 'Static') return { reason: 'StaticPod' };
  return state === 'OptedOut' ? { reason: 'KeepMarked', on: 'pod' } : undefined;
}

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

export class PodStates {
  readonly #known: boolean;
  readonly #uids: ReadonlySet<string>;
  readonly #optedOut: ReadonlySet<string>;
  readonly #static: ReadonlySet<string>;
  readonly #fromApi: ReadonlySet<string>;
  readonly #over: ReadonlySet<string>;
  readonly #finished: ReadonlySet<string>;
  readonly #alive: ReadonlySet<string>;

  constructor({ containers, sandboxes, pods }: Observation, now: Date) {
    this.#known = containers !== undefined && sandboxes !== undefined && pods !== undefined;
    const listed = pods ?? [];
    this.#uids = new Set(listed.map(({ uid }) => uid));
    this.#over = uidsWhereAll(listed, (pod) => endOf(pod, now) !== undefined);
    this.#finished = uidsWhereAll(listed, isFinished);
    const sources = (sandboxes ?? []).map((sandbox) => [podUidOf(sandbox), sourceOf(sandbox)] as const);
    this.#fromApi = uidsOf(sources.filter(([, source]) => source === 'api'));
    // Anyone can forge a mirror pod; nobody can forge a UID in the API, or the kubelet's annotation on a sandbox.
    const isOfApi = (uid: string): boolean => this.#uids.has(uid) || this.#fromApi.has(uid);
    const optedOut = listed.filter(({ isOptedOut }) => isOptedOut === true);
    this.#optedOut = new Set([
      ...optedOut.map(({ uid }) => uid),
      // The label of a mirror pod protects its static pod.
      ...optedOut.flatMap(({ configHash }) => configHash ?? []).filter((uid) => !isOfApi(uid)),
    ]);
    this.#static = new Set([
      ...uidsOf(sources.filter(([, source]) => source !== undefined && source !== 'api')),
      ...listed.flatMap(({ configHash }) => configHash ?? []).filter((uid) => !isOfApi(uid)),
    ]);
    this.#alive = new Set([
      ...(containers ?? []).filter(({ state }) => state === 'Running').flatMap((one) => podUidOf(one) ?? []),
      ...(sandboxes ?? []).filter(({ state }) => state === 'Ready').flatMap((one) => podUidOf(one) ?? []),
    ]);
  }

  stateOf(uid: string): ObservedState {
    if (this.#isStatic(uid)) return 'Static';
    if (this.#optedOut.has(uid)) return 'OptedOut';
    if (!this.#known) return 'Unknown';
    const isOver = !this.#uids.has(uid) || this.#over.has(uid);
    if (isOver && !this.#alive.has(uid)) return 'LooksGone';
    return this.isFinished(uid) ? 'Finished' : 'Exists';
  }

  /** Why no rotated log of the pod is removed; undefined = the limits decide. The kubelet rotates the logs of a static pod that runs as those of any other. */
  rotationHold(uid: string): KeptBecause | undefined {
    if (this.#optedOut.has(uid)) return holdOf('OptedOut');
    return this.#alive.has(uid) ? undefined : holdOf(this.stateOf(uid));
  }

  /** A static pod may have no mirror pod and, while it starts, no sandbox: then only the form of its UID identifies it. */
  #isStatic(uid: string): boolean {
    return this.#static.has(uid) || (hashForm.test(uid) && !this.#fromApi.has(uid));
  }

  /** Whether the kubelet never starts a container of it again. The phase proves nothing while something of it is alive. */
  isFinished(uid: string): boolean {
    return this.#finished.has(uid) && !this.#alive.has(uid);
  }
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
): Sightings {
  const states = new PodStates(facts, now);
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
  containers,
  sandboxes,
  logs,
}: Omit<ContainerGcFacts, 'sightings'>): ReadonlySet<string> {
  const labelled = [...(containers ?? []), ...(sandboxes ?? [])].flatMap((one) => podUidOf(one) ?? []);
  return new Set([...labelled, ...(logs === undefined ? [] : podsOfLogs(logs))]);
}

const podsOfOrphans = (orphans: ContainerGcFacts['orphans']): readonly string[] =>
  Object.values(orphans ?? {}).flatMap((found) => found?.map(({ podUid }) => podUid) ?? []);

const podsOfLogs = ({ roots, directories, entries }: LogListing): readonly string[] =>
  [...directories, ...entries.map(({ path }) => path)].flatMap(
    (path) => podOfDirectory(path, roots.pods)?.uid ?? [],
  );

export interface PodsNow {
  stateOf(uid: string): PodState;
  rotationHold(uid: string): KeptBecause | undefined;
}

/** Judges pods by one observation and the sightings of previous passes. */
export function podsNow(facts: ContainerGcFacts, given: Pick<Given, 'now' | 'assumeGone'>): PodsNow {
  const states = new PodStates(facts, given.now);
  return {
    rotationHold: (uid) => states.rotationHold(uid),
    stateOf: (uid) => {
      const observed = states.stateOf(uid);
      if (observed !== 'LooksGone') return observed;
      return given.assumeGone === true || isSeenTwice(facts.sightings, uid) ? 'Gone' : 'Quarantined';
    },
  };
}

/** Keeps what is left of a pod that looked gone in only one pass. */
export const quarantined = (given: Pick<Given, 'now' | 'periodMs'>): Because => ({
  reason: 'Quarantined',
  eligibleAt: nextPass(given),
});
