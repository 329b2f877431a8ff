import type { ContainerRuntime } from '../../cri/runtime.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';

/** The names the kubelet's own metrics have for these calls. */
export type RuntimeOperation =
  | 'version'
  | 'status'
  | 'list_images'
  | 'image_status'
  | 'remove_image'
  | 'image_fs_info'
  | 'list_containers'
  | 'container_status'
  | 'stop_container'
  | 'remove_container'
  | 'list_podsandbox'
  | 'podsandbox_status'
  | 'stop_podsandbox'
  | 'remove_podsandbox'
  | 'list_container_stats';

/** A call that has ended. */
export interface RuntimeCall {
  readonly operation: RuntimeOperation;
  readonly ok: boolean;
  readonly seconds: number;
}

/** The same runtime; `tell` hears of each call that has ended, a call that was aborted too. */
export function toldRuntime(
  runtime: ContainerRuntime,
  clock: Pick<Clock, 'monotonicMs'>,
  tell: (call: RuntimeCall) => void,
): ContainerRuntime {
  const told = async <T>(operation: RuntimeOperation, answer: Promise<T>): Promise<T> => {
    const startMs = clock.monotonicMs();
    let ok = false;
    try {
      const value = await answer;
      ok = true;
      return value;
    } finally {
      tell({ operation, ok, seconds: (clock.monotonicMs() - startMs) / 1_000 });
    }
  };
  return {
    version: (signal) => told('version', runtime.version(signal)),
    checkReady: (signal) => told('status', runtime.checkReady(signal)),
    sandboxImage: (signal) => told('status', runtime.sandboxImage(signal)),
    listImages: (signal) => told('list_images', runtime.listImages(signal)),
    imageStatus: (reference, signal) => told('image_status', runtime.imageStatus(reference, signal)),
    imageLayers: (id, signal) => told('image_status', runtime.imageLayers(id, signal)),
    removeImage: (id, signal) => told('remove_image', runtime.removeImage(id, signal)),
    fileSystems: (signal) => told('image_fs_info', runtime.fileSystems(signal)),
    listContainers: (signal) => told('list_containers', runtime.listContainers(signal)),
    containerStatus: (id, signal) => told('container_status', runtime.containerStatus(id, signal)),
    stopContainer: (id, timeoutSeconds, signal) =>
      told('stop_container', runtime.stopContainer(id, timeoutSeconds, signal)),
    removeContainer: (id, signal) => told('remove_container', runtime.removeContainer(id, signal)),
    listSandboxes: (signal) => told('list_podsandbox', runtime.listSandboxes(signal)),
    sandboxStatus: (id, signal) => told('podsandbox_status', runtime.sandboxStatus(id, signal)),
    stopSandbox: (id, signal) => told('stop_podsandbox', runtime.stopSandbox(id, signal)),
    removeSandbox: (id, signal) => told('remove_podsandbox', runtime.removeSandbox(id, signal)),
    containerStats: (signal) => told('list_container_stats', runtime.containerStats(signal)),
  };
}
