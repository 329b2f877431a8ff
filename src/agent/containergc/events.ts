import type { ObjectRef } from '../../api/event-refs.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import type { RaisedWarning } from './large-logs.ts';
import type { Outcome } from './report.ts';
import { largeLogClause } from './words.ts';

/** An Event on the Node at each failed pass, as the kubelet records one (`StartGarbageCollection`, pkg/kubelet/kubelet.go): the error in one line, and the counts of the pass. */
export const containerGcFailed = (
  node: ObjectRef,
  message: string,
  { planned, removed, failed }: Pick<Outcome, 'planned' | 'removed' | 'failed'>,
): EventSpec => ({
  regarding: node,
  type: 'Warning',
  reason: 'ContainerGCFailed',
  action: 'ContainerGC',
  note: `${message}; of ${planned} planned removals ${removed.length} were done and ${failed.length} failed`,
});

/**
 * A Warning on the pod of a container whose current log is too large, once for each crossing: size, growth, file. A static pod has the
 * UID that the kubelet gives it, as in the kubelet's Events: `kubectl describe` shows these for its mirror.
 */
export function logTooLarge({ warning: { target }, growthBytesPerMinute: growth }: RaisedWarning): EventSpec {
  const { uid, namespace, name = '' } = target.pod;
  const growthText =
    growth === undefined ? 'It does not grow now' : `It grows by ${sizeText(growth)} a minute`;
  return {
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
    type: 'Warning',
    reason: 'LogTooLarge',
    action: 'WatchLogs',
    note: `${largeLogClause(target)}. ${growthText}. The file is ${target.logPath}: its rotation failed or is off, or too slow. dustpan never cuts it.`,
    // Each container is a series of its own.
    occasion: target.id,
  };
}
