import { join } from 'node:path';
import { image } from '../cluster/node/image.ts';
import { write } from '../cluster/local-storage/pods.ts';
import { imageCounts, podKinds, type Action, type PodKind } from './actions.ts';
import { isOver, type Observation } from './observer.ts';
import type { Stage } from './stage.ts';

/** What an observer may expect of the containers of a kind of pod. */
interface Program {
  /** `evicted`: they run until the pod is evicted for its local storage. */
  readonly ends: 'never' | 'by itself' | 'evicted';
  readonly restartPolicy: 'Always' | 'Never';
  readonly script: (seconds: number) => string;
}

/** Ends on SIGTERM, with its own exit code. */
const forever = 'trap "exit 0" TERM; while :; do sleep 1; done';

/** A shell command that logs 64 KiB a second for ever. */
const logForever = `line=$(printf '%01008d' 0); trap "exit 0" TERM; while :; do i=0; while [ $i -lt 64 ]; do echo $line; i=$((i+1)); done; sleep 1; done`;

const programs: Readonly<Record<PodKind, Program>> = {
  serves: { ends: 'never', restartPolicy: 'Always', script: () => forever },
  logs: { ends: 'never', restartPolicy: 'Always', script: () => logForever },
  crashes: { ends: 'by itself', restartPolicy: 'Always', script: (seconds) => `sleep ${seconds}; exit 3` },
  finishes: { ends: 'by itself', restartPolicy: 'Never', script: (seconds) => `sleep ${seconds}; exit 0` },
  fails: { ends: 'by itself', restartPolicy: 'Never', script: (seconds) => `sleep ${seconds}; exit 4` },
  waits: { ends: 'by itself', restartPolicy: 'Never', script: () => 'sleep 1; exit 0' },
  kept: { ends: 'by itself', restartPolicy: 'Never', script: (seconds) => `sleep ${seconds}; exit 0` },
  fills: { ends: 'evicted', restartPolicy: 'Always', script: () => `${write('/full/x', 8)}; ${forever}` },
  overwrites: { ends: 'evicted', restartPolicy: 'Always', script: () => `${write('/x', 8)}; ${forever}` },
};

/** The program of a pod of the load by its name; undefined for other pods. */
export function programOf(podName: string): Program | undefined {
  const kind = podKinds.find((one) => podName.startsWith(`${one}-`));
  return kind && programs[kind];
}

/** Whether a pod of this name has the keep label. */
export const isKept = (podName: string): boolean => podName.startsWith('kept-');

interface LoadPod {
  readonly name: string;
  readonly kind: PodKind;
  readonly image: string;
  /** Of the init container that the pod `waits` for. */
  readonly initImage: string;
  readonly seconds: number;
}

const limit = '4Mi';
/** Longer than an image may be unused. */
const initSeconds = 25;

/** The manifest of a pod of the load. */
function loadPod({ name, kind, image, initImage, seconds }: LoadPod): object {
  const { restartPolicy, script } = programs[kind];
  const container = (id: string, from: string, text: string) => ({
    ...{ name: id, image: from, imagePullPolicy: 'IfNotPresent', command: ['sh', '-c', text] },
  });
  const main = {
    ...container('main', image, script(seconds)),
    ...(kind === 'fills' && { volumeMounts: [{ name: 'full', mountPath: '/full' }] }),
    ...(kind === 'overwrites' && {
      resources: { limits: { 'ephemeral-storage': limit }, requests: { 'ephemeral-storage': '0' } },
    }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name, namespace: 'default' },
      ...(kind === 'kept' && { labels: { 'gc.dustpan.dev/keep': 'true' } }),
    },
    spec: {
      // Without a network of its own a pod starts faster.
      ...{ hostNetwork: true, restartPolicy, terminationGracePeriodSeconds: 3 },
      ...(kind === 'fills' && { volumes: [{ name: 'full', emptyDir: { sizeLimit: limit } }] }),
      ...(kind === 'waits' && { initContainers: [container('init', initImage, `sleep ${initSeconds}`)] }),
      containers: [main],
    },
  };
}

/** Twice as much on the file system: packed and unpacked. */
const imageBytes = 5_000_000;
const numbered = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `bed.test/${name}-${i}:1`);
/** Images that pods use. */
const used = numbered('used', imageCounts.used);
/** Images that are only pulled. */
const unused = numbered('unused', imageCounts.unused);
/** Past the last comes the first. */
const imageAt = (refs: readonly string[], index: number): string => refs[index % refs.length] ?? '';

/** A node has room for no more on two cores. */
const maxLivingPods = 22;
const maxKeptPods = 3;

/** Carries out the load on a node. */
export class Load {
  readonly #stage: Stage;
  /** Names of the pods that it has deleted. */
  readonly deleted = new Set<string>();
  readonly #bringing = new Set<string>();
  #podCount = 0;
  #keptCount = 0;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Builds the archives that images are imported from. */
  async prepare(): Promise<void> {
    for (const ref of [...used, ...unused])
      await image({ ref, fill: { bytes: imageBytes, kind: 'random' } }, this.#archiveOf(ref));
  }

  /** Takes one step, which may fail during a fault. */
  async take(action: Action, last: Observation): Promise<string> {
    try {
      if (action.do === 'start') return await this.#startPod(action, last);
      if (action.do === 'delete') return await this.#deletePod(action.position, last);
      return await this.#pullAll(action, last);
    } catch (err) {
      return `${action.do} refused: ${String(err).split('\n')[0] ?? ''}`;
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
      } catch {
        // containerd is down
      }
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
    const pod = candidates[Math.floor(position * candidates.length)];
    if (pod === undefined) return 'delete no pod';
    // Before the request: its response may be lost.
    this.deleted.add(pod.name);
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
      const { code, stderr } = await this.#stage.cluster.run('ctr', args);
      if (code !== 0) throw new Error(stderr.trim());
    } finally {
      this.#bringing.delete(ref);
    }
  }

  #archiveOf(ref: string): string {
    return join(this.#stage.cluster.dir, `${ref.replaceAll(/\W/g, '-')}.tar`);
  }
}
