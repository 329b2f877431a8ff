import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Cluster } from '../servers/cluster.ts';

/** The last that was seen of a pod. */
export interface PodRecord {
  readonly name: string;
  readonly deleted: boolean;
  readonly phase: string;
  /** dustpan counts it for no threshold, kube-controller-manager does (docs/deviations.md). */
  readonly held: boolean;
  /** The fields that a collector may change, as one comparable line. */
  readonly state: string;
}

/** The last state of every pod of a cluster, deleted ones included. */
export interface Ledger {
  /** Pods by UID. */
  readonly pods: ReadonlyMap<string, PodRecord>;
  /** Since the last change, or since the ledger was opened. */
  quietForMs(): number;
  /** Whether the server has as many pods as the ledger; if not, the watch is reopened and the ledger counts as changed. */
  isCurrent(): Promise<boolean>;
  close(): void;
}

/** The part of a pod that is compared. */
interface PodJson {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly deletionGracePeriodSeconds?: number;
    readonly finalizers?: readonly string[];
  };
  readonly status: {
    readonly phase?: string;
    readonly reason?: string;
    readonly observedGeneration?: number;
    readonly conditions?: readonly Condition[];
  };
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

type Api = Pick<Cluster, 'url' | 'caFile' | 'token'>;

/** Lists the pods and follows them until closed: a plain client, with nothing of dustpan's in it. */
export async function openLedger(api: Api): Promise<Ledger> {
  const pods = new Map<string, PodRecord>();
  const list = JSON.parse(await text(await get(api, '/api/v1/pods'))) as PodList;
  for (const pod of list.items) pods.set(pod.metadata.uid, recordOf(pod, false));
  let changedAt = performance.now();
  let { resourceVersion } = list.metadata;
  let watch: IncomingMessage | undefined;
  let closed = false;
  const follow = async (): Promise<void> => {
    const query = `watch=true&resourceVersion=${resourceVersion}&timeoutSeconds=3600`;
    watch = await get(api, `/api/v1/pods?${query}`);
    for await (const line of createInterface({ input: watch })) {
      const { type, object } = JSON.parse(line) as WatchEvent;
      if (type === 'ERROR') throw new Error(`watching pods: ${line}`);
      pods.set(object.metadata.uid, recordOf(object, type === 'DELETED'));
      ({ resourceVersion } = object.metadata);
      changedAt = performance.now();
    }
  };
  // On a busy machine a connection may break: the next watch resumes.
  const keepFollowing = async (): Promise<void> => {
    while (!closed) {
      await follow().catch(() => undefined);
      await sleep(200);
    }
  };
  void keepFollowing();
  const reopen = (): void => void watch?.destroy();
  return {
    pods,
    quietForMs: () => performance.now() - changedAt,
    isCurrent: async () => {
      const now = JSON.parse(await text(await get(api, '/api/v1/pods'))) as PodList;
      const there = [...pods.values()].filter(({ deleted }) => !deleted).length;
      if (now.items.length === there) return true;
      changedAt = performance.now();
      reopen();
      return false;
    },
    close: () => {
      closed = true;
      reopen();
    },
  };
}

interface PodList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly PodJson[];
}

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'ERROR';
  readonly object: PodJson;
}

function get(api: Api, path: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${api.token('admin')}`, accept: 'application/json' };
  return new Promise((resolve, reject) => {
    const options = { headers, ca: readFileSync(api.caFile), agent: false };
    request(`${api.url}${path}`, options, (response) => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`GET ${path}: ${response.statusCode ?? ''}`));
    })
      .on('error', reject)
      .end();
  });
}

export const isFinished = (phase = ''): boolean => ['Succeeded', 'Failed', ''].includes(phase);

interface Finishable {
  readonly metadata: Pick<PodJson['metadata'], 'deletionGracePeriodSeconds' | 'finalizers'>;
  readonly status?: Pick<PodJson['status'], 'phase'>;
}

/** Whether a finished pod waits for its finalizers alone, or has not been counted by its Job. */
export function isHeld({
  metadata: { deletionGracePeriodSeconds, finalizers = [] },
  status,
}: Finishable): boolean {
  if (!isFinished(status?.phase) || finalizers.length === 0) return false;
  const isGone = deletionGracePeriodSeconds === 0 && (status?.phase ?? '') !== '';
  return isGone || finalizers.includes('batch.kubernetes.io/job-tracking');
}

function recordOf({ metadata, status }: PodJson, deleted: boolean): PodRecord {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  const terminating =
    deletionTimestamp === undefined ? [] : [`terminating (grace ${deletionGracePeriodSeconds ?? ''})`];
  const conditions = (status.conditions ?? []).map(
    ({ type, status: is, reason = '', message = '', observedGeneration = 0 }) =>
      [type, is, reason, message, observedGeneration].join('/'),
  );
  return {
    name: `${metadata.namespace}/${metadata.name}`,
    deleted,
    phase: status.phase ?? '',
    held: isHeld({ metadata, status }),
    state: [
      deleted ? 'deleted' : 'there',
      status.phase ?? '',
      status.reason ?? '',
      `observed ${status.observedGeneration ?? 0}`,
      ...terminating,
      ...conditions.sort(),
    ].join(' | '),
  };
}
