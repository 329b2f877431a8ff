import type { EventSpec, ObjectRef } from '../../kube/events/recorder.ts';

interface FailedPass {
  /** One line. */
  readonly message: string;
  readonly planned: number;
  readonly removed: number;
  readonly failed: number;
}

/** An Event on the Node at each failed pass, as the kubelet records one (`StartGarbageCollection`, pkg/kubelet/kubelet.go): the error and the counts of the pass. */
export const containerGcFailed = (
  node: ObjectRef,
  { message, planned, removed, failed }: FailedPass,
): EventSpec => ({
  regarding: node,
  type: 'Warning',
  reason: 'ContainerGCFailed',
  action: 'ContainerGC',
  note: `${message}; of ${planned} planned removals ${removed} were done and ${failed} failed`,
});
