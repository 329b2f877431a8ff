import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatState, type ImageRecord } from '../../../src/node/disk/state-format.ts';
import { policyManifest } from '../../manifests.ts';
import type { SimContainer, SimSandbox } from '../../sandbox/cri/facts.ts';
import type { SimulatedRuntime } from '../../sandbox/cri/simulated-runtime.ts';
import { image, imageKinds, registry } from './images.ts';

interface Folders {
  readonly pods: string;
  readonly containers: string;
  readonly state: string;
}

/** UIDs of the pods in the API server, by name. */
export type PodUids = Readonly<Record<(typeof boundPods)[number]['name'], string>>;

export const nodeName = 'node-a';
export const nodeLabels = { 'kubernetes.io/hostname': nodeName };

/** The pods that the API server has bound to the node. */
export const boundPods = [
  { name: 'web-1', app: 'web', phase: 'Running', image: image.web },
  { name: 'worker-1', app: 'worker', phase: 'Running', image: image.worker },
  { name: 'api-1', app: 'api', phase: 'Pending', image: image.api },
] as const;

/** Image GC begins above the limit, which is below the kubelet's own, and ends below the goal. */
export const diskPercent = { limit: 80, goal: 75 };

/** The policy of the demo. Without a disk of their own, images are removed only for their age. */
export const nodePolicy = (
  mode: 'DryRun' | 'Enforce',
  { hasDisk }: { hasDisk: boolean },
): Record<string, unknown> =>
  policyManifest('nodes', {
    mode,
    nodes: {
      // The other nodes have no agent.
      nodeSelector: { matchLabels: nodeLabels },
      imageGC: {
        ...{ highThresholdPercent: hasDisk ? diskPercent.limit : 100, lowThresholdPercent: diskPercent.goal },
        ...{ minimumAge: '10m', maximumAge: '240h', holdAbove: 0, keep: [`${registry}/base/*`] },
      },
      containerGC: { maxPerPodContainer: 1, logs: { maxRotatedPerContainer: 2 } },
    },
  });

const MiB = 1024 * 1024;
const hourMs = 3_600_000;

/** The images have 61 MiB: 96 % are used at first. */
export const diskMiB = 64;

/** An object on the node and its expected outcome. */
export interface NodeObject {
  /** Of an image, a container or a sandbox, or the path of a file. */
  readonly id: string;
  readonly group: string;
  readonly isGarbage: boolean;
  /** undefined = no decision: a log is kept or removed with its container. */
  readonly reason: string | undefined;
}

/** In the order of the result. */
const groups = [
  ...imageKinds.map(({ group }) => group),
  'containers that run',
  'dead attempts of the crash loop',
  'containers of a pod that is gone',
  'their logs, and the links to those',
  'dead containers of a static pod',
  'made by hand: a container, its sandbox',
  'sandboxes that run',
  'sandbox from before its pod restarted',
  'sandbox of a pod that is gone',
  'log directories of pods that are there',
  'log directories of pods that are gone',
  'live logs of kept containers',
  'rotated logs of the running web pod',
  'links to logs that are there',
  'links to logs that are gone',
];

/** Everything on a node after some weeks. */
export class NodeObjects {
  readonly #objects: NodeObject[] = [];
  readonly #runtime: SimulatedRuntime;
  readonly #folders: Folders;
  readonly #hasDisk: boolean;
  readonly #now = Date.now();

  constructor(runtime: SimulatedRuntime, folders: Folders, { hasDisk }: { readonly hasDisk: boolean }) {
    this.#runtime = runtime;
    this.#folders = folders;
    this.#hasDisk = hasDisk;
  }

  get all(): readonly NodeObject[] {
    return this.#objects.toSorted((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group));
  }

  create(uids: PodUids): void {
    this.#createImages();
    this.#createWebPod(uids['web-1']);
    this.#createCrashLoop(uids['worker-1']);
    this.#createStaticPod();
    this.#createDeletedPod();
    this.#createByHand();
    this.#createOldLogs();
  }

  /** Images with their usage history, as an earlier agent wrote it. */
  #createImages(): void {
    const records = new Map<string, ImageRecord>();
    for (const { group, tags, sizeMiB, pinned = false, detected, used, removedFor, keptFor } of imageKinds)
      for (const tag of tags) {
        const { id } = this.#runtime.addImage({ tags: [tag], sizeBytes: sizeMiB * MiB, pinned });
        if (detected !== undefined)
          records.set(id, {
            firstDetectedMs: this.#ago(detected).getTime(),
            lastUsedMs: used === undefined ? undefined : this.#ago(used).getTime(),
          });
        if (removedFor === 'Age' || (removedFor === 'Space' && this.#hasDisk))
          this.#garbage(group, id, removedFor);
        else this.#kept(group, id, keptFor ?? 'BelowThreshold');
      }
    mkdirSync(this.#folders.state, { recursive: true });
    writeFileSync(join(this.#folders.state, 'state.json'), formatState({ images: records, removed: [] }));
  }

  /** A pod whose node was restarted, with the sandbox from before, and which writes many logs. */
  #createWebPod(uid: string): void {
    const pod = { name: 'web-1', namespace: 'web', uid };
    const before = this.#runtime.runPod({ ...pod, createdAt: this.#ago(90), containers: [] });
    before.sandbox.ready = false;
    this.#garbage('sandbox from before its pod restarted', before.sandbox.id, 'Sandbox');
    const { sandbox, containers } = this.#runtime.runPod({
      ...{ ...pod, attempt: 1, createdAt: this.#ago(50) },
      containers: [{ name: 'main', image: image.web, createdAt: this.#ago(50), log: 'serving' }],
    });
    this.#running(sandbox, containers);
    for (let index = 0; index < 5; index++) {
      const path = join(sandbox.logDirectory, 'main', `0.log.20260101-0${index}0000.gz`);
      writeFileSync(path, Buffer.alloc(MiB / 4));
      utimesSync(path, this.#ago(10 - index), this.#ago(10 - index));
      if (index < 3) this.#garbage('rotated logs of the running web pod', path, 'RotatedLog');
      else this.#kept('rotated logs of the running web pod', path, 'UnderLimit');
    }
  }

  #createCrashLoop(uid: string): void {
    const { sandbox } = this.#runtime.runPod({
      ...{ name: 'worker-1', namespace: 'web', uid, createdAt: this.#ago(7), containers: [] },
    });
    this.#running(sandbox, []);
    for (let attempt = 0; attempt < 6; attempt++) {
      const container = this.#addDead(sandbox, { name: 'main', image: image.worker, attempt });
      const group = 'dead attempts of the crash loop';
      if (attempt < 5) this.#garbageWithLog(group, container, 'DeadContainer');
      else this.#keptWithLog(group, container, 'NewestAttempt');
    }
  }

  #createStaticPod(): void {
    const { sandbox, containers } = this.#runtime.runPod({
      ...{ name: `kube-proxy-${nodeName}`, namespace: 'kube-system', source: 'file' },
      uid: randomUUID().replaceAll('-', ''),
      createdAt: this.#ago(50),
      containers: [{ name: 'proxy', image: image.proxy, attempt: 2, createdAt: this.#ago(1), log: 'synced' }],
    });
    this.#running(sandbox, containers, 'StaticPod');
    for (const attempt of [0, 1]) {
      const container = this.#addDead(sandbox, { name: 'proxy', image: image.proxy, attempt });
      this.#keptWithLog('dead containers of a static pod', container, 'StaticPod');
    }
  }

  /** A pod that was deleted while the kubelet did not run. */
  #createDeletedPod(): void {
    const { sandbox } = this.#runtime.runPod({
      ...{ name: 'import-7x2', namespace: 'batch', createdAt: this.#ago(30), containers: [] },
    });
    for (const name of ['fetch', 'load']) {
      const container = this.#addDead(sandbox, { name, image: image.web, attempt: 0 });
      appendFileSync(container.logPath, Buffer.alloc(MiB / 2));
      this.#garbageWithLog('containers of a pod that is gone', container, 'PodGone');
    }
    sandbox.ready = false;
    this.#garbage('sandbox of a pod that is gone', sandbox.id, 'Sandbox');
    this.#garbage('log directories of pods that are gone', sandbox.logDirectory, 'OrphanedLogs');
  }

  /** A container that the kubelet did not create. */
  #createByHand(): void {
    const sandbox = this.#runtime.pods.run({
      ...{ name: 'probe', namespace: 'default', uid: 'by-hand', attempt: 0, runtimeHandler: '' },
      ...{ labels: {}, annotations: {}, logDirectory: '', createdAt: this.#ago(60) },
    });
    const noLabels = ['pod.name', 'pod.namespace', 'pod.uid', 'container.name'].map(
      (key) => [`io.kubernetes.${key}`, undefined] as const,
    );
    const container = this.#runtime.addContainer(sandbox.id, {
      ...{ name: 'probe', image: image.web, state: 'Exited', createdAt: this.#ago(60) },
      labels: Object.fromEntries(noLabels),
    });
    sandbox.ready = false;
    for (const { id } of [container, sandbox])
      this.#kept('made by hand: a container, its sandbox', id, 'NotKubelets');
  }

  #createOldLogs(): void {
    const directory = join(this.#folders.pods, `batch_report-9k4_${randomUUID()}`);
    mkdirSync(join(directory, 'main'), { recursive: true });
    writeFileSync(join(directory, 'main', '0.log'), Buffer.alloc(MiB));
    this.#garbage('log directories of pods that are gone', directory, 'OrphanedLogs');
    for (const digit of ['a', 'b', 'c']) {
      const link = join(this.#folders.containers, `old-${digit}_web_main-${digit.repeat(64)}.log`);
      symlinkSync(join(this.#folders.pods, `web_old-${digit}_${randomUUID()}`, 'main', '0.log'), link);
      this.#garbage('links to logs that are gone', link, 'BrokenLink');
    }
  }

  #addDead(sandbox: SimSandbox, spec: { name: string; image: string; attempt: number }): SimContainer {
    const createdAt = this.#ago(6 - spec.attempt);
    return this.#runtime.addContainer(sandbox.id, {
      ...{ ...spec, state: 'Exited', exitCode: 1, createdAt, finishedAt: createdAt },
      log: 'giving up',
    });
  }

  #running(sandbox: SimSandbox, containers: readonly SimContainer[], directoryReason = 'InUse'): void {
    this.#kept('sandboxes that run', sandbox.id, 'Running');
    this.#kept('log directories of pods that are there', sandbox.logDirectory, directoryReason);
    for (const container of containers) this.#keptWithLog('containers that run', container, 'Running');
  }

  #keptWithLog(group: string, container: SimContainer, reason: string): void {
    this.#kept(group, container.id, reason);
    this.#kept('links to logs that are there', this.#linkOf(container), 'InUse');
    this.#kept('live logs of kept containers', container.logPath, undefined);
  }

  #garbageWithLog(group: string, container: SimContainer, reason: string): void {
    this.#garbage(group, container.id, reason);
    for (const path of [container.logPath, this.#linkOf(container)])
      this.#garbage('their logs, and the links to those', path, undefined);
  }

  /** The kubelet's link to the log of a container. */
  #linkOf({ id, name, labels }: SimContainer): string {
    const pod = `${labels['io.kubernetes.pod.name'] ?? ''}_${labels['io.kubernetes.pod.namespace'] ?? ''}`;
    return join(this.#folders.containers, `${pod}_${name}-${id}.log`);
  }

  #garbage(group: string, id: string, reason: string | undefined): void {
    this.#objects.push({ id, group, isGarbage: true, reason });
  }

  #kept(group: string, id: string, reason: string | undefined): void {
    this.#objects.push({ id, group, isGarbage: false, reason });
  }

  #ago(hours: number): Date {
    return new Date(this.#now - hours * hourMs);
  }
}
