import { normaliseReference } from '../../../src/api/image-reference.ts';
import { refused } from './sim-error.ts';
import type { SimulatedRuntime } from './simulated-runtime.ts';

/**
 * The runtime that the simulated one behaves like. CRI-O was read, not run: docs/adr/0078 lists each behaviour with its source. It lists
 * ids without `sha256:`, has a digest for every image, keeps artifacts among the images, and refuses to remove an image in use.
 */
export type Flavour = 'containerd' | 'cri-o';

/** The properties of a runtime that differ, and no call changes. */
export const flavours = {
  containerd: {
    name: 'containerd',
    version: 'v2.3.6',
    sandboxImage: undefined,
    mountpoint: '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs',
  },
  'cri-o': {
    name: 'cri-o',
    version: '1.37.0',
    sandboxImage: 'registry.k8s.io/pause:3.10.1',
    mountpoint: '/var/lib/containers/storage/overlay-images',
  },
} as const;

/** RemoveImage of containerd: removes the image with all its names, also while a container uses it. */
function removeAsContainerd({ images }: SimulatedRuntime, reference: string): void {
  const image = images.resolve(reference);
  if (image !== undefined) images.remove(image.id);
}

/**
 * RemoveImage of CRI-O: an id removes the image with all its names, a name only this name if there are others. It refuses an image in use, and
 * does not find an artifact by its id, which counts as removed.
 */
function removeAsCrio(runtime: SimulatedRuntime, reference: string): void {
  const image = runtime.images.resolve(reference);
  if (image === undefined) return;
  const isById = reference === image.id;
  if (image.isArtifact && isById) return;
  const mounting = runtime.containers.find(({ mountedImages }) =>
    mountedImages.some((mounted) => runtime.images.resolve(mounted)?.id === image.id),
  );
  if (mounting !== undefined) throw refused(`the image is in use by ${mounting.id}`);
  if (image.isArtifact) {
    runtime.images.removeEntry(image);
    return;
  }
  const name = normaliseReference(reference);
  const names = image.tags.length > 0 ? image.tags : image.digests;
  if (!isById && names.some((other) => other !== name)) {
    image.tags = image.tags.filter((tag) => tag !== name);
    return;
  }
  const user = runtime.containers.find(({ imageId }) => imageId === image.id);
  if (user !== undefined)
    throw refused(`delete image: image used by ${user.id}: image is in use by a container`);
  runtime.images.remove(image.id);
}

export const removals: Readonly<Record<Flavour, (runtime: SimulatedRuntime, reference: string) => void>> = {
  containerd: removeAsContainerd,
  'cri-o': removeAsCrio,
};
