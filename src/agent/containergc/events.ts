import type { EventSpec, ObjectRef } from '../../kube/recorder.ts';

/** What a failed pass has to tell. */
interface FailedPass {
  /** One line. */
  readonly message: string;
  readonly planned: number;
  readonly removed: number;
  readonly failed: number;
}

/** On the Node, at every failed pass, as the kubelet does (upstream.md 3.1): the error, and our figures. */
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
