import { imageIndex } from '../../api/image-index.ts';
import { podRefOf } from '../../api/pod-ref.ts';
import { boundImages, usedImages } from '../../agent/imagegc/holds.ts';
import type { NodePart } from '../../snapshot/world.ts';

/** Something on a node that needs an image. */
export interface Holder {
  /** null = it is a pod that names the image, with no container of it counted. */
  readonly container: { readonly id: string; readonly name: string; readonly state: string } | null;
  /** `namespace/name`; null = not known. */
  readonly pod: string | null;
}

/** All that holds an image on its node, by the rules of image GC: containers made from it, running or not, and unfinished pods that name it. */
export function holdersOf(
  id: string,
  { images = [], containers = [], pods = [] }: NodePart,
): readonly Holder[] {
  const index = imageIndex(images);
  const made = containers.filter((container) => usedImages(index, [container]).has(id));
  const naming = pods.filter((pod) => boundImages(index, [pod]).has(id));
  const holders = made.map((container): Holder => {
    const { namespace, name } = podRefOf(container);
    return {
      container: { id: container.id, name: container.name, state: container.state },
      pod: namespace === undefined || name === undefined ? null : `${namespace}/${name}`,
    };
  });
  const known = new Set(holders.map(({ pod }) => pod));
  const waiting = naming
    .map(({ namespace, name }) => `${namespace}/${name}`)
    .filter((pod) => !known.has(pod));
  return [...holders, ...waiting.map((pod): Holder => ({ container: null, pod }))];
}
