import { join } from 'node:path';
import { image } from '../cluster/node/image.ts';
import { imageCounts, type Action, type PodKind } from './actions.ts';
import { isOver, type Observation, type SeenPod } from './observation.ts';
import { isKept, loadPod } from './pods.ts';
import type { Observer } from './observer.ts';
import type { Stage } from './stage.ts';
import type { Deeds, Drop } from './watch.ts';

/** Twice as much on the file system: packed and unpacked. */
const imageBytes = 5_000_000;
const numbered = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `bed.test/${name}-${i}:1`);
/** Images that pods use. */
const used = numbered('used', imageCounts.used);
/** Images that are only pulled. */
const unused = numbered('unused', imageCounts.unused);
const ours: readonly string[] = [...used, ...unused];
/** Past the last comes the first. */
const imageAt = (refs: readonly string[], index: number): string => refs[index % refs.length] ?? '';

/** A node has room for no more on two cores. */
const maxLivingPods = 22;
const maxKeptPods = 3;

/** Carries out the load on a node. */
export class Actors {
  readonly #stage: Stage;
  readonly #observer: Observer;
  readonly #deleted = new Set<string>();
  readonly #dropped: Drop[] = [];
  readonly #counts = new Map<string, number>();
  readonly #bringing = new Set<string>();
  #podCount = 0;
  #keptCount = 0;

  constructor(stage: Stage, observer: Observer) {
    this.#stage = stage;
    this.#observer = observer;
  }

  get deeds(): Deeds {
    return { deleted: this.#deleted, dropped: this.#dropped };
  }

  /** How many actions of each kind were taken. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Builds the archives that images are imported from. */
  async prepare(): Promise<void> {
    for (const ref of ours)
      await image({ ref, fill: { bytes: imageBytes, kind: 'random' } }, this.#archiveOf(ref));
  }

  /** Takes one step. During a fault it may fail: then it is counted as refused. */
  async take(action: Action, last: Observation): Promise<string> {
    try {
      const done = await this.#do(action, last);
      this.#count(action.do);
      return done;
    } catch (err) {
      this.#count('refused');
      return `${action.do} refused: ${firstLine(err)}`;
    }
  }

  /** Brings images back that pods wait for, as a registry would: a failed pull is tried again by the kubelet. */
  async repair({ images, pods = [] }: Observation): Promise<void> {
    if (images === undefined) return;
    const present = new Set(images.flatMap(({ tags }) => tags));
    const waiting = pods.filter((pod) => !isOver(pod) && !pod.isDeleting).flatMap((pod) => pod.images);
    for (const ref of new Set(waiting)) {
      if (present.has(ref) || this.#bringing.has(ref) || !used.includes(ref)) continue;
      try {
        await this.#bring(ref);
        this.#count('brought back');
      } catch {
        this.#count('refused'); // containerd is down
      }
    }
  }

  async #do(action: Action, last: Observation): Promise<string> {
    switch (action.do) {
      case 'start':
        return await this.#startPod(action, last);
      case 'delete':
        return await this.#deletePod(action.position, last);
      case 'pull':
        return await this.#pullAll(action, last);
      case 'drop':
        return await this.#drop(action.position);
    }
  }

  async #startPod(action: Action & { readonly do: 'start' }, last: Observation): Promise<string> {
    const living = (last.pods ?? []).filter((pod) => !isOver(pod));
    if (living.length >= maxLivingPods) return await this.#deletePod(action.seconds / 7, last);
    const kind = this.#kindOf(action.kind);
    const [ref, initImage] = [imageAt(used, action.image), imageAt(used, action.image + 1)];
    this.#podCount += 1;
    const name = `${kind}-${this.#podCount}`;
    for (const one of kind === 'waits' ? [ref, initImage] : [ref]) await this.#pull(one, last);
    const body = loadPod({ name, kind, image: ref, initImage, seconds: action.seconds });
    await this.#stage.api.send('POST', '/api/v1/namespaces/default/pods', { body });
    return `start pod ${name} of ${ref}`;
  }

  #kindOf(kind: PodKind): PodKind {
    if (kind !== 'kept') return kind;
    this.#keptCount += 1;
    return this.#keptCount > maxKeptPods ? 'finishes' : 'kept';
  }

  async #deletePod(position: number, { pods = [] }: Observation): Promise<string> {
    const candidates = pods.filter((pod) => !pod.isDeleting && !isKept(pod.name));
    const pod = at(candidates, position);
    if (pod === undefined) return 'delete no pod';
    // Before the request: its response may be lost.
    this.#deleted.add(pod.name);
    await this.#stage.api.send('DELETE', `/api/v1/namespaces/default/pods/${pod.name}`);
    return `delete pod ${pod.name}`;
  }

  async #pullAll({ from, count }: Action & { readonly do: 'pull' }, last: Observation): Promise<string> {
    const refs = Array.from({ length: count }, (_, i) => imageAt(unused, from + i));
    for (const ref of refs) await this.#pull(ref, last);
    return `pull images ${refs.join(' ')}`;
  }

  async #pull(ref: string, { images = [] }: Observation): Promise<void> {
    if (!images.some(({ tags }) => tags.includes(ref))) await this.#bring(ref);
  }

  async #bring(ref: string): Promise<void> {
    this.#bringing.add(ref);
    try {
      const args = ['-n', 'k8s.io', 'images', 'import', '--local', this.#archiveOf(ref)];
      await this.#run('ctr', args);
    } finally {
      this.#bringing.delete(ref);
    }
  }

  /** Only an image that no pod refers to: the other actors start no pod meanwhile. */
  async #drop(position: number): Promise<string> {
    const [{ images = [] }, pods] = [await this.#observer.observe(), await this.#observer.pods()];
    const referred = new Set(pods.flatMap((pod: SeenPod) => pod.images));
    const tags = images.flatMap((one) => one.tags);
    const ref = at(
      tags.filter((tag) => ours.includes(tag) && !referred.has(tag)),
      position,
    );
    if (ref === undefined) return 'drop no image';
    this.#dropped.push({ tag: ref, atMs: Date.now() });
    await this.#run('crictl', ['rmi', ref]);
    return `drop image ${ref}`;
  }

  async #run(program: 'ctr' | 'crictl', args: readonly string[]): Promise<void> {
    const { code, stderr } = await this.#stage.cluster.run(program, args);
    if (code !== 0) throw new Error(stderr.trim());
  }

  #archiveOf(ref: string): string {
    return join(this.#stage.cluster.dir, `${ref.replaceAll(/\W/g, '-')}.tar`);
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
}

function at<T>(items: readonly T[], position: number): T | undefined {
  return items[Math.floor(position * items.length)];
}

const firstLine = (err: unknown): string =>
  String(err instanceof Error ? err.message : err).split('\n')[0] ?? '';
