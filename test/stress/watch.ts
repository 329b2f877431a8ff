import { keptImages } from './remains.ts';
import { isOver, type Observation, type SeenContainer, type SeenPod } from './observer.ts';
import { isKept, programOf } from './load.ts';

/** dustpan acts on lists of pods that are at most 5 s old; a removal takes seconds on a busy machine. */
const knownAfterMs = 15_000;
/** Exit codes of programs that SIGKILL or SIGTERM ended. */
const killed = new Set([137, 143]);

/** Compares each observation with the earlier ones and returns the invariants that do not hold. */
export class Watch {
  /** It removes images too, and knows neither a keep list nor pods that wait for an image. */
  readonly #kubeletCollects: boolean;
  #running: ReadonlyMap<string, SeenContainer> = new Map();
  /** Dead containers of pods with the keep label. */
  readonly #kept = new Map<string, SeenContainer>();
  readonly #keptPods = new Set<string>();
  /** When a pod was first observed on its node, by UID. */
  readonly #boundAtMs = new Map<string, number>();
  /** When an image was last observed, by tag. */
  readonly #presentAtMs = new Map<string, number>();

  constructor(kubeletCollects: boolean) {
    this.#kubeletCollects = kubeletCollects;
  }

  /** With the names of the pods that the load has deleted. */
  see(observation: Observation, deleted: ReadonlySet<string>): readonly string[] {
    return [
      ...this.#seeContainers(observation, deleted),
      ...this.#seePods(observation, deleted),
      ...this.#seeImages(observation),
    ];
  }

  #seeContainers({ containers }: Observation, deleted: ReadonlySet<string>): readonly string[] {
    if (containers === undefined) return [];
    const present = new Map(containers.map((one) => [one.id, one]));
    const running = new Map(containers.filter(({ isRunning }) => isRunning).map((one) => [one.id, one]));
    const ended = [...this.#running.values()].filter(({ id }) => !running.has(id));
    const lost = [...this.#kept.values()].filter(({ id }) => !present.has(id));
    this.#running = running;
    for (const one of containers) if (!one.isRunning && isKept(one.pod)) this.#kept.set(one.id, one);
    for (const { id } of lost) this.#kept.delete(id);
    return [
      ...ended
        .filter(({ pod }) => programOf(pod)?.ends === 'never' && !deleted.has(pod))
        .map((one) => `${textOf(one)} was running and ${present.has(one.id) ? 'has ended' : 'is gone'}`),
      ...lost.map((one) => `${textOf(one)} belongs to a pod with the keep label and is gone`),
    ];
  }

  #seePods({ pods }: Observation, deleted: ReadonlySet<string>): readonly string[] {
    if (pods === undefined) return [];
    const names = new Set(pods.map(({ name }) => name));
    const lost = [...this.#keptPods].filter((name) => !names.has(name));
    for (const name of names) if (isKept(name)) this.#keptPods.add(name);
    for (const name of lost) this.#keptPods.delete(name);
    const ours = pods.filter(({ name }) => programOf(name) !== undefined && !deleted.has(name));
    return [
      ...lost.map((name) => `pod ${name} has the keep label and is gone`),
      ...ours
        .filter(isDeletedTooEarly)
        .map(({ name }) => `pod ${name} is being deleted and has not finished`),
      ...ours.flatMap(endedByOthers),
    ];
  }

  #seeImages(observation: Observation): readonly string[] {
    const { atMs, images, pods = [] } = observation;
    for (const { uid, isBound } of pods)
      if (isBound && !this.#boundAtMs.has(uid)) this.#boundAtMs.set(uid, atMs);
    if (images === undefined) return [];
    const present = new Set(images.flatMap(({ tags }) => tags));
    const isLost = (tag: string, sinceMs: number): boolean =>
      !present.has(tag) && (this.#presentAtMs.get(tag) ?? -Infinity) > sinceMs;
    const lost = this.#needed(observation)
      .filter(({ tag, sinceMs }) => isLost(tag, sinceMs))
      .map(({ tag, by }) => `image ${tag} is gone although ${by}`);
    for (const tag of this.#presentAtMs.keys()) if (!present.has(tag)) this.#presentAtMs.delete(tag);
    for (const tag of present) this.#presentAtMs.set(tag, atMs);
    return lost;
  }

  /** Images that must stay, each with the time from which on that is known. */
  #needed({ pods = [], containers = [] }: Observation): readonly Need[] {
    const used = containers
      .filter(({ isRunning }) => isRunning)
      .map((one) => ({ tag: one.image, by: `${textOf(one)} runs`, sinceMs: -Infinity }));
    if (this.#kubeletCollects) return used;
    const kept = keptImages.map((tag) => ({ tag, by: 'it is on the keep list', sinceMs: 0 }));
    const referred = pods.filter(isStarting).flatMap(({ name, uid, images }) => {
      const sinceMs = (this.#boundAtMs.get(uid) ?? Infinity) + knownAfterMs;
      return images.map((tag) => ({ tag, by: `pod ${name} refers to it`, sinceMs }));
    });
    return [...used, ...kept, ...referred];
  }
}

interface Need {
  readonly tag: string;
  readonly by: string;
  readonly sinceMs: number;
}

const textOf = ({ id, pod, name }: SeenContainer): string => `container ${id} (${name} of pod ${pod})`;
const isStarting = (pod: SeenPod): boolean => pod.isBound && !pod.isDeleting && !isOver(pod);

const isDeletedTooEarly = (pod: SeenPod): boolean =>
  pod.isDeleting && !isOver(pod) && programOf(pod.name)?.ends !== 'evicted';

/** Terminations that the program itself cannot cause; a lost container is one of 137 too. */
function endedByOthers({ name, terminations, isDeleting }: SeenPod): readonly string[] {
  if (isDeleting || programOf(name)?.ends !== 'by itself') return [];
  return terminations
    .filter(({ exitCode }) => killed.has(exitCode))
    .map(
      ({ container, exitCode }) =>
        `${container} of pod ${name} ended with ${exitCode}, which its program cannot`,
    );
}
