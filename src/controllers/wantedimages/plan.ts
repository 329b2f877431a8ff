import {
  renewedAfterMs,
  type WantedImage,
  type WantedList,
  type WantedReading,
} from '../../api/wanted-images.ts';
import type { Workload } from '../../kube/cache/workloads.ts';

/** Each agent reads the whole list in each pass over its images. */
const maxImages = 500;
/** An object in etcd may have 1.5 MiB. */
const maxBytes = 256 * 1024;

/** Whether the workload needs its images although it may have no pod: one that runs protects them by itself. */
export function isWanting({ kind, isOwned, isSuspended, replicas }: Workload): boolean {
  switch (kind) {
    case 'DaemonSet':
    case 'CronJob':
      return true;
    case 'Job':
      return isSuspended;
    case 'Deployment':
    case 'StatefulSet':
      return replicas === 0;
    case 'ReplicaSet':
      // A Deployment keeps its former ReplicaSets with 0 replicas.
      return replicas === 0 && !isOwned;
  }
}

/** Decides which images workloads want: each once for each selector of nodes, in the order of the workloads, as many as the list has room for. */
export function planWanted(workloads: readonly Workload[]): Pick<WantedList, 'images' | 'omitted'> {
  const distinct = new Map<string, WantedImage>();
  for (const one of workloads.filter(isWanting))
    for (const wanted of wantedBy(one)) {
      const key = JSON.stringify([wanted.image, wanted.nodeSelector]);
      if (!distinct.has(key)) distinct.set(key, wanted);
    }
  const all = [...distinct.values()];
  const everywhere = new Set(all.filter(isEverywhere).map(({ image }) => image));
  const needed = all.filter((one) => isEverywhere(one) || !everywhere.has(one.image));
  const images = needed.slice(0, roomFor(needed));
  return { images, omitted: needed.length - images.length };
}

const wantedBy = ({ kind, namespace, name, images, nodeSelector }: Workload): readonly WantedImage[] =>
  images.map((image) => ({ image, workload: `${kind} ${namespace}/${name}`, nodeSelector }));

const isEverywhere = ({ nodeSelector }: WantedImage): boolean => Object.keys(nodeSelector).length === 0;

function roomFor(images: readonly WantedImage[]): number {
  let bytes = 0;
  const tooMany = images.findIndex((one, place) => {
    bytes += Buffer.byteLength(JSON.stringify(one));
    return place >= maxImages || bytes > maxBytes;
  });
  return tooMany < 0 ? images.length : tooMany;
}

/** Whether the stored list differs, or agents would soon take it for one that nobody renews. */
export function needsWrite(stored: WantedReading, planned: WantedList): boolean {
  if (typeof stored === 'string') return true;
  if (Math.abs(planned.listedAtMs - stored.listedAtMs) >= renewedAfterMs) return true;
  const contentOf = ({ images, omitted }: WantedList): string => JSON.stringify([images, omitted]);
  return contentOf(stored) !== contentOf(planned);
}
