import type { ContainerRuntime } from '../../cri/runtime.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';

/** The kubelet's names for these calls, as in its metrics. */
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

export interface RuntimeCall {
  readonly operation: RuntimeOperation;
  readonly ok: boolean;
  readonly seconds: number;
}

/** Wraps a runtime; calls `record` at the end of each call, also of an aborted one. */
export function recordedRuntime(
  runtime: ContainerRuntime,
  clock: Pick<Clock, 'monotonicMs'>,
  record: (call: RuntimeCall) => void,
): ContainerRuntime {
  const recorded = async <T>(operation: RuntimeOperation, call: Promise<T>): Promise<T> => {
    const startMs = clock.monotonicMs();
    let ok = false;
    try {
      const value = await call;
      ok = true;
      return value;
    } finally {
      record({ operation, ok, seconds: (clock.monotonicMs() - startMs) / 1_000 });
    }
  };
  return {
    version: (signal) => recorded('version', runtime.version(signal)),
    checkReady: (signal) => recorded('status', runtime.checkReady(signal)),
    sandboxImage: (signal) => recorded('status', runtime.sandboxImage(signal)),
    listImages: (signal) => recorded('list_images', runtime.listImages(signal)),
    imageStatus: (reference, signal) => recorded('image_status', runtime.imageStatus(reference, signal)),
    imageLayers: (id, signal) => recorded('image_status', runtime.imageLayers(id, signal)),
    removeImage: (id, signal) => recorded('remove_image', runtime.removeImage(id, signal)),
    fileSystems: (signal) => recorded('image_fs_info', runtime.fileSystems(signal)),
    listContainers: (signal) => recorded('list_containers', runtime.listContainers(signal)),
    containerStatus: (id, signal) => recorded('container_status', runtime.containerStatus(id, signal)),
    stopContainer: (id, timeoutSeconds, signal) =>
      recorded('stop_container', runtime.stopContainer(id, timeoutSeconds, signal)),
    removeContainer: (id, signal) => recorded('remove_container', runtime.removeContainer(id, signal)),
    listSandboxes: (signal) => recorded('list_podsandbox', runtime.listSandboxes(signal)),
    sandboxStatus: (id, signal) => recorded('podsandbox_status', runtime.sandboxStatus(id, signal)),
    stopSandbox: (id, signal) => recorded('stop_podsandbox', runtime.stopSandbox(id, signal)),
    removeSandbox: (id, signal) => recorded('remove_podsandbox', runtime.removeSandbox(id, signal)),
    containerStats: (signal) => recorded('list_container_stats', runtime.containerStats(signal)),
  };
}
