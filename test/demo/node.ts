import { randomUUID } from 'node:crypto';
import { lstatSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { containerReasons } from '../../src/agent/containergc/words.ts';
import { imageReasons } from '../../src/agent/imagegc/words.ts';
import { formatState, type ImageRecord } from '../../src/node/disk/state-format.ts';
import { policyManifest } from '../manifests.ts';
import type { SimContainer, SimSandbox } from '../sandbox/cri/facts.ts';
import { startCriSandbox, type CriSandbox } from '../sandbox/cri/server.ts';
import { layOutImages } from '../sandbox/node/image-disk.ts';
import { mountMemory } from '../sandbox/node/own-mounts.ts';
import { nodeName, policiesPath, type Context } from './context.ts';
import { forecastPart } from './forecast.ts';
import { showPart, type Group } from './part.ts';
import type { Program } from './program.ts';
import { bar, bold, dim, print } from './screen.ts';

const registry = 'registry.example.com';
const image = {
  web: `${registry}/shop/web:v7`,
  worker: `${registry}/shop/worker:v3`,
  api: `${registry}/shop/api:v2`,
};

/** The pods that the API server has bound to the node. */
const boundPods = [
  { name: 'web-1', phase: 'Running', image: image.web },
  { name: 'worker-1', phase: 'Running', image: image.worker },
  { name: 'api-1', phase: 'Pending', image: image.api },
] as const;

interface ImageKind {
  readonly name: string;
  readonly tags: readonly string[];
  readonly sizeMiB: number;
  /** Hours ago; undefined = the agent has not seen it before. */
  readonly detected?: number;
  /** Hours ago; undefined = never. */
  readonly used?: number;
  readonly pinned?: boolean;
  /** Without a disk, images that Space would remove are kept. */
  readonly removedFor?: 'Age' | 'Space';
}

const many = (count: number, name: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => `${registry}/${name(index + 1)}`);

/** 61 MiB in all. */
const imageKinds: readonly ImageKind[] = [
  { name: 'image of the running web pod', tags: [image.web], sizeMiB: 14 },
  { name: 'image of the crash loop', tags: [image.worker], sizeMiB: 14 },
  { name: 'image of a pod that is still starting', tags: [image.api], sizeMiB: 8, detected: 100 },
  {
    ...{ name: 'image the runtime has pinned', tags: ['registry.k8s.io/pause:3.10'], sizeMiB: 1 },
    ...{ detected: 900, pinned: true },
  },
  { name: 'image on the keep list', tags: [`${registry}/base/jdk:21`], sizeMiB: 6, detected: 900 },
  { name: 'image pulled a moment ago', tags: [`${registry}/tools/debug:v1`], sizeMiB: 3 },
  {
    ...{ name: 'images unused for 12 days', tags: many(2, (i) => `shop/web:v${i}`), sizeMiB: 2.5 },
    ...{ detected: 720, used: 288, removedFor: 'Age' },
  },
  {
    ...{ name: 'images never used, here for 3 days', tags: many(3, (i) => `ci/build:${i}`), sizeMiB: 3 },
    ...{ detected: 72, removedFor: 'Space' },
  },
  {
    ...{ name: 'images last used yesterday', tags: many(2, (i) => `batch/report:v${i}`), sizeMiB: 0.5 },
    ...{ detected: 500, used: 24 },
  },
];

const MiB = 1024 * 1024;
/** 96 % are used at first. */
const diskMiB = 64;
/** Image GC begins above the limit, which is below the kubelet's own, and ends below the goal. */
const diskPercent = { limit: 80, goal: 75 };

/** Without a disk of their own, images are removed only for their age. */
const policy = (hasDisk: boolean) =>
  policyManifest('nodes', {
    mode: 'DryRun',
    nodes: {
      // The other nodes have no agent.
      nodeSelector: { matchLabels: { 'kubernetes.io/hostname': nodeName } },
      imageGC: {
        ...{ highThresholdPercent: hasDisk ? diskPercent.limit : 100, lowThresholdPercent: diskPercent.goal },
        ...{ minimumAge: '10m', maximumAge: '240h', holdAbove: 0, keep: [`${registry}/base/*`] },
      },
      containerGC: { maxPerPodContainer: 1, logs: { maxRotatedPerContainer: 2 } },
    },
  });

/** Shows how the agent cleans up a node, and then how it forecasts a full disk. */
export async function nodePart(context: Context): Promise<boolean> {
  print();
  if (process.platform !== 'linux') {
    print('the agent needs Linux: this part is left out here');
    return true;
  }
  const { cri, hasDisk, ...node } = await startNode(context);
  print(`${bold('a node')}: ${nodeName} after some weeks, and how its agent cleans it up`);
  const disk = hasDisk
    ? `  real       the disk of the images: ${diskMiB} MiB of memory (tmpfs), a file per image`
    : '  left out   the disk of the images: nothing can be mounted; only age counts';
  for (const line of [
    '  simulated  the container runtime (CRI on a unix socket), its containers,',
    '             and the kubelet',
    '  real       the agent, as built; the log files and links; the clock',
    disk,
  ])
    print(dim(line));
  print();
  const ids = node.groups.flatMap((group) => group.ids);
  const isClean = await showPart(context, {
    ...{ policy: 'nodes', what: 'objects', gone: 'removed', ...node },
    meanings: { ...containerReasons, ...imageReasons },
    headline: (left, usedPercent) =>
      hasDisk
        ? `  disk ${usedPercent} % ${bar(usedPercent)} limit ${diskPercent.limit} %, goal ${diskPercent.goal} %; ${left} objects`
        : `  ${left} objects`,
    present: () => Promise.resolve(new Set(ids.filter((id) => isPresent(cri, id)))),
  });
  await forecastPart(context, node.program);
  return isClean;
}

/** According to the runtime and the file system. */
function isPresent({ runtime }: CriSandbox, id: string): boolean {
  if (id.startsWith('/')) return lstatSync(id, { throwIfNoEntry: false }) !== undefined;
  if (id.startsWith('sha256:')) return runtime.images.all.some((one) => one.id === id);
  return runtime.pods.containers.has(id) || runtime.pods.sandboxes.has(id);
}

interface Node {
  readonly cri: CriSandbox;
  /** Whether the images have a disk of their own. */
  readonly hasDisk: boolean;
  readonly groups: readonly Group[];
  readonly program: Program;
  /** With these variables dustpan uses this cluster and this node. */
  readonly env: Readonly<Record<string, string>>;
}

/** Creates the node with everything on it, its pods and its Node in the API server, and its policy in DryRun; starts its agent. */
export async function startNode(context: Context): Promise<Node> {
  const uids = await bindPods(context);
  const path = (name: string): string => join(context.directory, name);
  for (const name of ['pods', 'containers', 'state', 'kubelet', 'images'])
    mkdirSync(path(name), { recursive: true });
  const unmount = mountMemory(path('images'), diskMiB);
  if (unmount) context.atEnd(unmount);
  const hasDisk = unmount !== undefined;
  const logs = { pods: path('pods'), containers: path('containers') };
  const cri = await startCriSandbox({ socket: path('cri.sock'), logs, mountpoint: path('images') });
  context.atEnd(() => cri.stop());
  const things = new Things(cri, logs);
  things.makeImages(path('state'), hasDisk);
  things.makePods(uids);
  // As in a real runtime, and so that a person can follow it.
  const removalMs = 250;
  if (hasDisk) layOutImages(cri, removalMs);
  for (const method of ['RemoveImage', 'RemoveContainer', 'RemovePodSandbox'])
    cri.faults.next(method, { kind: 'delay', ms: removalMs }, Infinity);
  await context.send('POST', policiesPath, policy(hasDisk));
  const env = {
    ...context.env,
    NODE_NAME: nodeName,
    DUSTPAN_CRI_SOCKET: path('cri.sock'),
    DUSTPAN_STATE_DIR: path('state'),
    DUSTPAN_POD_LOGS_DIR: logs.pods,
    DUSTPAN_CONTAINER_LOGS_DIR: logs.containers,
    DUSTPAN_KUBELET_ROOT_DIR: path('kubelet'),
    ...(context.kubelet && { DUSTPAN_KUBELET_ENDPOINT: context.kubelet.endpoint }),
  };
  const periods = ['--container-gc-period=1s', '--image-gc-period=1s', '--local-storage-period=1s'];
  const program = context.start(['agent', ...periods, '--v=4'], env);
  return { cri, hasDisk, groups: things.groups, program, env };
}

/** UIDs of the pods in the API server, by name. */
type PodUids = Readonly<Record<(typeof boundPods)[number]['name'], string>>;

async function bindPods({ send, kubelet }: Context): Promise<PodUids> {
  const labels = { 'kubernetes.io/hostname': nodeName };
  await send('POST', '/api/v1/nodes', { metadata: { name: nodeName, labels } });
  const conditions = [{ type: 'Ready', status: 'True' }];
  await send('PATCH', `/api/v1/nodes/${nodeName}/status`, { status: { conditions } });
  const uids: Record<string, string> = {};
  for (const { name, phase, image: ref } of boundPods) {
    const spec = { nodeName, containers: [{ name: 'main', image: ref }] };
    const pod = await send('POST', '/api/v1/namespaces/web/pods', { metadata: { name }, spec });
    await send('PATCH', `/api/v1/namespaces/web/pods/${name}/status`, { status: { phase } });
    uids[name] = (pod['metadata'] as { uid: string }).uid;
  }
  if (kubelet)
    kubelet.pods = Object.entries(uids).map(([name, uid]) => ({
      ...{ uid, namespace: 'web', name },
      containers: [{ name: 'main', layer: 8 * MiB, logs: name === 'web-1' ? 40 * 1024 * MiB : 2 * MiB }],
    }));
  return uids as PodUids;
}

/** Everything on a node after some weeks. */
class Things {
  readonly #ids = new Map<string, { readonly group: Omit<Group, 'ids'>; readonly ids: string[] }>();
  readonly #cri: CriSandbox;
  readonly #logs: { readonly pods: string; readonly containers: string };
  readonly #nowMs = Date.now();

  constructor(cri: CriSandbox, logs: { readonly pods: string; readonly containers: string }) {
    this.#cri = cri;
    this.#logs = logs;
  }

  get groups(): readonly Group[] {
    return [...this.#ids.values()].map(({ group, ids }) => ({
      ...group,
      ids,
      left: group.left > 0 ? ids.length : 0,
    }));
  }

  /** Images with their usage history, as an earlier agent wrote it. */
  makeImages(stateDirectory: string, hasDisk: boolean): void {
    const images = new Map<string, ImageRecord>();
    for (const { name, tags, sizeMiB, pinned = false, detected, used, removedFor } of imageKinds)
      for (const tag of tags) {
        const { id } = this.#cri.runtime.addImage({ tags: [tag], sizeBytes: sizeMiB * MiB, pinned });
        const firstDetectedMs = this.#ago(detected ?? 0).getTime();
        const lastUsedMs = used === undefined ? undefined : this.#ago(used).getTime();
        if (detected !== undefined) images.set(id, { firstDetectedMs, lastUsedMs });
        this.#add(name, removedFor === 'Age' || (removedFor === 'Space' && hasDisk), id);
      }
    writeFileSync(join(stateDirectory, 'state.json'), formatState({ images, removed: [] }));
  }

  /** A pod with many logs, a crash loop, a pod that was deleted while the kubelet did not run, and logs of older ones. */
  makePods(uids: PodUids): void {
    const { runtime } = this.#cri;
    const pod = { namespace: 'web', createdAt: this.#ago(50), containers: [] };
    const web = runtime.runPod({ ...pod, name: 'web-1', uid: uids['web-1'] }).sandbox;
    const serving = { name: 'main', image: image.web, createdAt: this.#ago(50), log: 'serving' };
    this.#addContainer('containers that run', false, runtime.addContainer(web.id, serving));
    for (let index = 0; index < 5; index++) {
      const path = join(web.logDirectory, 'main', `0.log.20260101-0${index}0000.gz`);
      writeFileSync(path, Buffer.alloc(MiB / 4));
      utimesSync(path, this.#ago(10 - index), this.#ago(10 - index));
      this.#add(`${index < 3 ? 'older' : 'newest'} rotated logs of the web pod`, index < 3, path);
    }
    const worker = runtime.runPod({ ...pod, name: 'worker-1', uid: uids['worker-1'] }).sandbox;
    for (let attempt = 0; attempt < 6; attempt++) {
      const name = attempt < 5 ? 'older attempts of the crash loop' : 'newest attempt of the crash loop';
      this.#addContainer(name, attempt < 5, this.#dead(worker, image.worker, attempt));
    }
    for (const { id, logDirectory } of [web, worker]) {
      this.#add('sandboxes that run', false, id);
      this.#add('log directories of pods that are there', false, logDirectory);
    }
    const gone = runtime.runPod({ ...pod, name: 'import-7x2', namespace: 'batch' }).sandbox;
    this.#addContainer('container of a pod that is gone', true, this.#dead(gone, image.web, 0));
    gone.ready = false;
    this.#add('sandbox of a pod that is gone', true, gone.id);
    this.#add('log directories of pods that are gone', true, gone.logDirectory);
    this.#makeOldLogs();
  }

  #makeOldLogs(): void {
    const directory = join(this.#logs.pods, `batch_report-9k4_${randomUUID()}`);
    mkdirSync(join(directory, 'main'), { recursive: true });
    writeFileSync(join(directory, 'main', '0.log'), Buffer.alloc(MiB));
    this.#add('log directories of pods that are gone', true, directory);
    for (const digit of ['a', 'b', 'c']) {
      const link = join(this.#logs.containers, `old-${digit}_web_main-${digit.repeat(64)}.log`);
      symlinkSync(join(this.#logs.pods, `web_old-${digit}_${randomUUID()}`, 'main', '0.log'), link);
      this.#add('links to logs that are gone', true, link);
    }
  }

  #dead(sandbox: SimSandbox, ref: string, attempt: number): SimContainer {
    const createdAt = this.#ago(6 - attempt);
    return this.#cri.runtime.addContainer(sandbox.id, {
      ...{
        name: 'main',
        image: ref,
        attempt,
        state: 'Exited',
        exitCode: 1,
        createdAt,
        finishedAt: createdAt,
      },
      log: 'giving up',
    });
  }

  /** With its log, and the kubelet's link to that. */
  #addContainer(group: string, isGarbage: boolean, { id, name, labels, logPath }: SimContainer): void {
    this.#add(group, isGarbage, id);
    const pod = `${labels['io.kubernetes.pod.name'] ?? ''}_${labels['io.kubernetes.pod.namespace'] ?? ''}`;
    const [logs, goWith] = [
      `${isGarbage ? 'their' : 'live'} logs, and the links to those`,
      'with their containers',
    ];
    this.#add(logs, isGarbage, logPath, goWith);
    this.#add(logs, isGarbage, join(this.#logs.containers, `${pod}_${name}-${id}.log`), goWith);
  }

  #add(name: string, isGarbage: boolean, id: string, goWith?: string): void {
    const one = this.#ids.get(name) ?? {
      group: { name, left: isGarbage ? 0 : 1, ...(goWith !== undefined && { goWith }) },
      ids: [],
    };
    one.ids.push(id);
    this.#ids.set(name, one);
  }

  #ago(hours: number): Date {
    return new Date(this.#nowMs - hours * 3_600_000);
  }
}
