import type { ObjectRef } from '../../api/event-refs.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import type { NodeWarning } from './facts.ts';
import { explainNodeWarning } from './words.ts';

/** The node is low on something, or will be soon: what is available, when the thresholds are crossed, and what uses most. */
export const nodePressureAhead = (node: ObjectRef, warning: NodeWarning, occasion: string): EventSpec => ({
  regarding: node,
  type: 'Warning',
  reason: 'NodePressureAhead',
  action: 'WatchNodePressure',
  note: explainNodeWarning(warning).detail,
  // Each signal is a warning of its own, and so is the crossing after the forecast.
  occasion,
});
