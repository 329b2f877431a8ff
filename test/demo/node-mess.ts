import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatState, type ImageRecord } from '../../src/node/disk/state-format.ts';
import type { SimContainer, SimSandbox } from '../sandbox/cri/facts.ts';
import type { SimulatedRuntime } from '../sandbox/cri/simulated-runtime.ts';
import type { Thing } from './node-check.ts';
import { image, imageKinds, registry } from './node-images.ts';
import { policyManifest } from '../manifests.ts';

/** The folders of the node. */
interface Folders {
  readonly pods: string;
  readonly containers: string;
  readonly state: string;
}

/** UIDs of the pods that the API server knows, by name. */
export type PodUids = Readonly<Record<(typeof boundPods)[number]['name'], string>>;

export const nodeName = 'node-a';

/** What the API server has bound to the node; the rest of what is there nobody asked for any more. */
export const boundPods = [
  { name: 'web-1', phase: 'Running', image: image.web },
  { name: 'worker-1', phase: 'Running', image: image.worker },
  { name: 'api-1', phase: 'Pending', image: image.api },
] as const;

/** How full the disk may be, below the kubelet's own limit, and how full it is to be afterwards. */
export const diskPercent = { limit: 80, goal: 75 };

/** What the demo applies first, and then again with mode Enforce. Without a disk of its own the node is cleaned by age alone. */
export const nodePolicy = (
  mode: 'DryRun' | 'Enforce',
  { hasDisk }: { hasDisk: boolean },
): Record<string, unknown> =>
  policyManifest('nodes', {
    mode,
    nodes: {
      imageGC: {
        ...{ highThresholdPercent: hasDisk ? diskPercent.limit : 100, lowThresholdPercent: diskPercent.goal },
        ...{ minimumAge: '10m', maximumAge: '240h', keep: [`${registry}/base/*`] },
      },
      containerGC: { maxPerPodContainer: 1, logs: { maxRotatedPerContainer: 2 } },
    },
  });

const MiB = 1024 * 1024;
const hourMs = 3_600_000;

/** Of the node's own disk, and of the images below: 61 MiB, so that 96 % is used at first. */
export const diskMiB = 64;

/** In the order in which a reader is told of them. */
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
  'live logs of containers that stay',
  'rotated logs of the running web pod',
  'links to logs that are there',
  'links to logs that are gone',
];

/** A node as it looks after some weeks: everything on it, and what should become of each. */
export class NodeMess {
  readonly #things: Thing[] = [];
  readonly #runtime: SimulatedRuntime;
  readonly #folders: Folders;
  readonly #hasDisk: boolean;
  readonly #now = Date.now();

  constructor(runtime: SimulatedRuntime, folders: Folders, { hasDisk }: { readonly hasDisk: boolean }) {
    this.#runtime = runtime;
    this.#folders = folders;
    this.#hasDisk = hasDisk;
  }

  get things(): readonly Thing[] {
    return this.#things.toSorted((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group));
  }

  make(uids: PodUids): void {
    this.#makeImages();
    this.#makeWeb(uids['web-1']);
    this.#makeCrashLoop(uids['worker-1']);
    this.#makeStaticPod();
    this.#makeGonePod();
    this.#makeStrangers();
    this.#makeOldLogs();
  }

  /** Images with their history, as an agent that ran here before has written it down. */
  #makeImages(): void {
    const records = new Map<string, ImageRecord>();
    for (const { group, tags, sizeMiB, pinned = false, detected, used, goes, stays } of imageKinds)
      for (const tag of tags) {
        const sizeBytes = sizeMiB * MiB;
        const { id } = this.#runtime.addImage({ tags: [tag], sizeBytes, pinned });
        if (detected !== undefined)
          records.set(id, {
            firstDetectedMs: this.#ago(detected).getTime(),
            lastUsedMs: used === undefined ? undefined : this.#ago(used).getTime(),
          });
        if (goes === 'Age' || (goes === 'Space' && this.#hasDisk)) this.#goes(group, id, goes);
        else this.#stays(group, id, stays ?? 'BelowThreshold');
      }
    mkdirSync(this.#folders.state, { recursive: true });
    writeFileSync(join(this.#folders.state, 'state.json'), formatState({ images: records, removed: [] }));
  }

  /** Its node was started again: the sandbox of before is left; and it writes a lot. */
  #makeWeb(uid: string): void {
    const pod = { name: 'web-1', namespace: 'web', uid };
    const before = this.#runtime.runPod({ ...pod, createdAt: this.#ago(90), containers: [] });
    before.sandbox.ready = false;
    this.#goes('sandbox from before its pod restarted', before.sandbox.id, 'Sandbox');
    const { sandbox, containers } = this.#runtime.runPod({
      ...{ ...pod, attempt: 1, createdAt: this.#ago(50) },
      containers: [{ name: 'main', image: image.web, createdAt: this.#ago(50), log: 'serving' }],
    });
    this.#running(sandbox, containers);
    this.#rotate(join(sandbox.logDirectory, 'main'));
  }

  #rotate(directory: string): void {
    for (let index = 0; index < 5; index++) {
      const path = join(directory, `0.log.20260101-0${index}0000.gz`);
      writeFileSync(path, Buffer.alloc(MiB / 4));
      utimesSync(path, this.#ago(10 - index), this.#ago(10 - index));
      if (index < 3) this.#goes('rotated logs of the running web pod', path, 'RotatedLog');
      else this.#stays('rotated logs of the running web pod', path, 'UnderLimit');
    }
  }

  #makeCrashLoop(uid: string): void {
    const { sandbox } = this.#runtime.runPod({
      ...{ name: 'worker-1', namespace: 'web', uid, createdAt: this.#ago(7), containers: [] },
    });
    this.#stays('sandboxes that run', sandbox.id, 'Running');
    this.#stays('log directories of pods that are there', sandbox.logDirectory, 'InUse');
    for (let attempt = 0; attempt < 6; attempt++) {
      const container = this.#dead(sandbox, { name: 'main', image: image.worker, attempt });
      const group = 'dead attempts of the crash loop';
      if (attempt < 5) this.#goesWithLog(group, container, 'DeadContainer');
      else this.#staysWithLog(group, container, 'NewestAttempt');
    }
  }

  #makeStaticPod(): void {
    const { sandbox, containers } = this.#runtime.runPod({
      ...{ name: `kube-proxy-${nodeName}`, namespace: 'kube-system', source: 'file' },
      uid: randomUUID().replaceAll('-', ''),
      createdAt: this.#ago(50),
      containers: [{ name: 'proxy', image: image.proxy, attempt: 2, createdAt: this.#ago(1), log: 'synced' }],
    });
    this.#running(sandbox, containers, 'StaticPod');
    for (const attempt of [0, 1]) {
      const container = this.#dead(sandbox, { name: 'proxy', image: image.proxy, attempt });
      this.#staysWithLog('dead containers of a static pod', container, 'StaticPod');
    }
  }

  /** Deleted while the kubelet was away: everything of it is left. */
  #makeGonePod(): void {
    const { sandbox } = this.#runtime.runPod({
      ...{ name: 'import-7x2', namespace: 'batch', createdAt: this.#ago(30), containers: [] },
    });
    for (const name of ['fetch', 'load']) {
      const container = this.#dead(sandbox, { name, image: image.web, attempt: 0 });
      appendFileSync(container.logPath, Buffer.alloc(MiB / 2));
      this.#goesWithLog('containers of a pod that is gone', container, 'PodGone');
    }
    sandbox.ready = false;
    this.#goes('sandbox of a pod that is gone', sandbox.id, 'Sandbox');
    this.#goes('log directories of pods that are gone', sandbox.logDirectory, 'OrphanedLogs');
  }

  /** Made by hand, past the kubelet. */
  #makeStrangers(): void {
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
    this.#stays('made by hand: a container, its sandbox', container.id, 'NotKubelets');
    this.#stays('made by hand: a container, its sandbox', sandbox.id, 'NotKubelets');
  }

  /** Of pods that are long forgotten. */
  #makeOldLogs(): void {
    const directory = join(this.#folders.pods, `batch_report-9k4_${randomUUID()}`);
    mkdirSync(join(directory, 'main'), { recursive: true });
    writeFileSync(join(directory, 'main', '0.log'), Buffer.alloc(MiB));
    this.#goes('log directories of pods that are gone', directory, 'OrphanedLogs');
    for (const digit of ['a', 'b', 'c']) {
      const link = join(this.#folders.containers, `old-${digit}_web_main-${digit.repeat(64)}.log`);
      symlinkSync(join(this.#folders.pods, `web_old-${digit}_${randomUUID()}`, 'main', '0.log'), link);
      this.#goes('links to logs that are gone', link, 'BrokenLink');
    }
  }

  #dead(sandbox: SimSandbox, spec: { name: string; image: string; attempt: number }): SimContainer {
    const createdAt = this.#ago(6 - spec.attempt);
    return this.#runtime.addContainer(sandbox.id, {
      ...{ ...spec, state: 'Exited', exitCode: 1, createdAt, finishedAt: createdAt },
      log: 'giving up',
    });
  }

  #running(sandbox: SimSandbox, containers: readonly SimContainer[], directory = 'InUse'): void {
    this.#stays('sandboxes that run', sandbox.id, 'Running');
    this.#stays('log directories of pods that are there', sandbox.logDirectory, directory);
    for (const container of containers) this.#staysWithLog('containers that run', container, 'Running');
  }

  #staysWithLog(group: string, container: SimContainer, reason: string): void {
    this.#stays(group, container.id, reason);
    this.#stays('links to logs that are there', this.#linkOf(container), 'InUse');
    this.#stays('live logs of containers that stay', container.logPath, undefined);
  }

  /** Nothing is decided about its log and its link: they go with it. */
  #goesWithLog(group: string, container: SimContainer, reason: string): void {
    this.#goes(group, container.id, reason);
    for (const path of [container.logPath, this.#linkOf(container)])
      this.#goes('their logs, and the links to those', path, undefined);
  }

  /** As the sandbox names it. */
  #linkOf({ id, name, labels }: SimContainer): string {
    const pod = `${labels['io.kubernetes.pod.name'] ?? ''}_${labels['io.kubernetes.pod.namespace'] ?? ''}`;
    return join(this.#folders.containers, `${pod}_${name}-${id}.log`);
  }

  #goes(group: string, id: string, reason: string | undefined): void {
    this.#things.push({ id, group, fate: 'goes', reason });
  }

  #stays(group: string, id: string, reason: string | undefined): void {
    this.#things.push({ id, group, fate: 'stays', reason });
  }

  #ago(hours: number): Date {
    return new Date(this.#now - hours * hourMs);
  }
}
