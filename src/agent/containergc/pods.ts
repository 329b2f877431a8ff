import { isFinished } from '../../api/pod-phase.ts';
import { podUidOf, type PodRef } from '../../api/pod-ref.ts';
import type { RuntimeSandbox } from '../../cri/runtime.ts';
import type { ContainerEvidence, PodEnd } from '../../gc/reasons/containers.ts';
import type { LogListing } from '../../node/logs/list.ts';
import type { Because } from './decisions.ts';
import { nextPass, type ContainerGcFacts, type Given, type KnownPod, type Sightings } from './facts.ts';
import { podOfDirectory } from './log-names.ts';

/**
 * How a pod stands: Exists is in the API or still alive; Finished is in the API, Succeeded or Failed, and not alive; Marked has the keep
 * label there; Static is left to the kubelet; Gone is absent, or over and not alive, for two passes, Quarantined for one; Unknown is not
 * known.
 */
type Standing = 'Exists' | 'Finished' | 'Marked' | 'Static' | 'Gone' | 'Quarantined' | 'Unknown';

/** Why nothing of such a pod is removed, whatever the limits; undefined = the limits decide. */
export function holdOf(stands: Standing): 'StaticPod' | 'KeepMarked' | undefined {
  if (stands === 'Static') return 'StaticPod';
  return stands === 'Marked' ? 'KeepMarked' : undefined;
}

/** The UID the kubelet makes up for a static pod: a hash, where the API server gives UUIDs. */
const hashForm = /^[0-9a-f]{32}$/;
const twoPasses = 2;

type Observed = Omit<ContainerGcFacts, 'logs' | 'sightings'>;

/** undefined = it is not over; a pod with the keep label never is. */
function endOf({ keepMarked, evicted, deletionAtMs = Infinity }: KnownPod, now: Date): PodEnd | undefined {
  if (keepMarked === true) return undefined;
  if (evicted === true) return 'Evicted';
  return deletionAtMs < now.getTime() ? 'Deleted' : undefined;
}

/** Answers for one observation how each pod UID stands, sightings apart. */
export class PodStates {
  readonly #known: boolean;
  readonly #uids: ReadonlySet<string>;
  readonly #marked: ReadonlySet<string>;
  readonly #static: ReadonlySet<string>;
  readonly #fromApi: ReadonlySet<string>;
  readonly #over: ReadonlySet<string>;
  readonly #finished: ReadonlySet<string>;
  readonly #alive: ReadonlySet<string>;

  constructor({ containers, sandboxes, pods }: Observed, now: Date) {
    this.#known = containers !== undefined && sandboxes !== undefined && pods !== undefined;
    const listed = pods ?? [];
    this.#uids = new Set(listed.map(({ uid }) => uid));
    this.#marked = new Set(listed.filter(({ keepMarked }) => keepMarked === true).map(({ uid }) => uid));
    this.#over = uidsWhere(listed, (pod) => endOf(pod, now) !== undefined);
    this.#finished = uidsWhere(listed, isFinished);
    const sources = (sandboxes ?? []).map((sandbox) => [podUidOf(sandbox), sourceOf(sandbox)] as const);
    this.#fromApi = uidsOf(sources.filter(([, source]) => source === 'api'));
    // A mirror can be forged, the UID of the API server and the kubelet's annotation on a sandbox cannot.
    const isOfApi = (uid: string): boolean => this.#uids.has(uid) || this.#fromApi.has(uid);
    this.#static = new Set([
      ...uidsOf(sources.filter(([, source]) => source !== undefined && source !== 'api')),
      ...(pods ?? []).flatMap(({ configHash }) => configHash ?? []).filter((uid) => !isOfApi(uid)),
    ]);
    this.#alive = new Set([
      ...(containers ?? []).filter(({ state }) => state === 'Running').flatMap((one) => podUidOf(one) ?? []),
      ...(sandboxes ?? []).filter(({ state }) => state === 'Ready').flatMap((one) => podUidOf(one) ?? []),
    ]);
  }

  /** A static pod may have no mirror and, while it starts, no sandbox yet: then only the form of its UID shows it. */
  isStatic(uid: string): boolean {
    return this.#static.has(uid) || (hashForm.test(uid) && !this.#fromApi.has(uid));
  }

  isMarked(uid: string): boolean {
    return this.#marked.has(uid);
  }

  /** As `holdOf`, of a pod that is not gone. */
  hold(uid: string): ReturnType<typeof holdOf> {
    if (this.isStatic(uid)) return holdOf('Static');
    return this.isMarked(uid) ? holdOf('Marked') : undefined;
  }

  /** Whether the kubelet never starts a container of it again; a phase that something alive contradicts proves nothing. */
  isFinished(uid: string): boolean {
    return this.#finished.has(uid) && !this.#alive.has(uid);
  }

  /** undefined = not known. */
  looksGone(uid: string): boolean | undefined {
    if (!this.#known) return undefined;
    const isOver = !this.#uids.has(uid) || this.#over.has(uid);
    return isOver && !this.#alive.has(uid) && !this.isStatic(uid);
  }
}

/** The UIDs of which every entry is so: the cache and a live list may each hold the same pod. */
function uidsWhere<T extends { readonly uid: string }>(
  pods: readonly T[],
  is: (pod: T) => boolean,
): ReadonlySet<string> {
  const others = new Set(pods.filter((pod) => !is(pod)).map(({ uid }) => uid));
  return new Set(pods.map(({ uid }) => uid).filter((uid) => !others.has(uid)));
}

const sourceOf = ({ annotations }: RuntimeSandbox): string | undefined =>
  annotations['kubernetes.io/config.source'];

const uidsOf = (pairs: readonly (readonly [string | undefined, string | undefined])[]): Set<string> =>
  new Set(pairs.flatMap(([uid]) => uid ?? []));

/** Counts this observation; a pod that is back, or about which nothing is known, starts anew. */
export function observeGone(
  previous: Sightings,
  facts: Omit<ContainerGcFacts, 'sightings'>,
  now: Date,
): Sightings {
  const look = new PodStates(facts, now);
  const gone = [...mentioned(facts)].filter((uid) => look.looksGone(uid) === true);
  return new Map(gone.map((uid) => [uid, (previous.get(uid) ?? 0) + 1]));
}

function mentioned({ containers, sandboxes, logs }: Omit<ContainerGcFacts, 'sightings'>): Set<string> {
  const labelled = [...(containers ?? []), ...(sandboxes ?? [])].flatMap((one) => podUidOf(one) ?? []);
  return new Set([...labelled, ...(logs === undefined ? [] : logged(logs))]);
}

const logged = ({ roots, directories, entries }: LogListing): readonly string[] =>
  [...directories, ...entries.map(({ path }) => path)].flatMap(
    (path) => podOfDirectory(path, roots.pods)?.uid ?? [],
  );

/** How each pod stands, by its UID. */
export interface PodsNow {
  standing(uid: string): Standing;
  /** The evidence about a pod that is over, or seems to be. */
  ended(pod: PodRef): ContainerEvidence['PodGone'];
}

/** Judges pods by one observation and what passes before have seen. */
export function podsNow(facts: ContainerGcFacts, given: Pick<Given, 'now' | 'assumeGone'>): PodsNow {
  const look = new PodStates(facts, given.now);
  const ends = new Map(facts.pods?.map((pod) => [pod.uid, endOf(pod, given.now)]));
  const standing = (uid: string): Standing => {
    if (look.isStatic(uid)) return 'Static';
    if (look.isMarked(uid)) return 'Marked';
    const gone = look.looksGone(uid);
    if (gone === undefined) return 'Unknown';
    if (!gone) return look.isFinished(uid) ? 'Finished' : 'Exists';
    const seen = given.assumeGone === true ? twoPasses : (facts.sightings.get(uid) ?? 0);
    return seen >= twoPasses ? 'Gone' : 'Quarantined';
  };
  return { standing, ended: (pod) => ({ pod, end: ends.get(pod.uid) }) };
}

/** Keeps what belongs to a pod that only one pass has seen gone. */
export const quarantined = (
  evidence: ContainerEvidence['Quarantined'],
  given: Pick<Given, 'now' | 'periodMs'>,
): Because<'Quarantined'> => ({ reason: 'Quarantined', evidence, eligibleAt: nextPass(given) });
