import type { ObjectRef } from '../../api/event-refs.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';

/** A disk of the node fills up although everything collectable is removed by then. */
export const diskFillsDespiteCollection = (node: ObjectRef, note: string): EventSpec => ({
  regarding: node,
  type: 'Warning',
  reason: 'DiskFillsDespiteCollection',
  action: 'ForecastDiskUsage',
  note,
});
