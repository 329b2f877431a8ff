import { largeLogClause } from '../../gc/reasons/container-warnings.ts';
import type { EventSpec, ObjectRef } from '../../kube/events/recorder.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import type { RaisedWarning } from './large-logs.ts';

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

/**
 * A Warning on the pod of a container whose current log is too large, once for each crossing: size, growth, file. A static pod has the
 * UID that the kubelet gives it, as in the kubelet's Events: `kubectl describe` shows these for its mirror.
 */
export function logTooLarge({
  warning: { target, evidence },
  growthBytesPerMinute: growth,
}: RaisedWarning): EventSpec {
  const { uid, namespace, name = '' } = target.pod;
  const growthText =
    growth === undefined ? 'It does not grow now' : `It grows by ${sizeText(growth)} a minute`;
  return {
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
    type: 'Warning',
    reason: 'LogTooLarge',
    action: 'WatchLogs',
    note: `${largeLogClause(evidence)}. ${growthText}. The file is ${evidence.path}: its rotation failed or is off, or too slow. dustpan never cuts it.`,
    // Each container is a series of its own.
    occasion: target.id,
  };
}
