import type { LeftoverKeepReason, LeftoverRemoveReason } from '../../api/reasons.ts';
import { explainNode, nodeReasons } from '../../gc/reasons/nodes.ts';
import { counted, labelRemoved, timeText } from '../../gc/reasons/words.ts';
import type { Meaning, Why } from '../../gc/words.ts';
import type { KeptLeftover, LeftoverRemoval } from './facts.ts';
import { leftoverFields } from './plan.ts';

const someoneUses =
  'A client of containerd works on it again, a container, an image or a sandbox refers to it, or the field of nodes.leftovers is Report.';

export const leftoverReasons: Readonly<Record<LeftoverRemoveReason | LeftoverKeepReason, Meaning>> = {
  ...nodeReasons,
  InterruptedDownload: {
    meaning:
      'A pull was interrupted: for more than an hour and in two passes neither its downloads nor its layers have changed.',
    change: someoneUses,
    caution: 'The next pull of the image downloads these layers again.',
  },
  UnusedLease: {
    meaning: 'A lease without an expiry belongs to no sandbox, and has not changed for more than an hour.',
    change: someoneUses,
    caution: 'Another client of containerd may have made the lease to keep something on purpose.',
  },
  Unreferenced: {
    meaning: 'Nothing refers to it: containerd deletes it when its collector runs, which dustpan starts.',
    change: someoneUses,
  },
  RuleOff: {
    meaning:
      'The policy of the node does not remove such leftovers: the field of nodes.leftovers is Report or not set.',
    change: 'The policy sets the field of nodes.leftovers to Remove.',
  },
  HeldByOther: {
    meaning:
      'Another client of containerd keeps it on purpose: by the label containerd.io/gc.root, or by a lease with the label containerd.io/gc.flat or beside such a lease.',
    change: 'Never by dustpan: that client removes its label or its lease.',
  },
  SandboxUnknown: {
    meaning: 'The lease has the name of a sandbox that the runtime does not list: it may still be needed.',
    change: 'Never by dustpan: containerd deletes the lease of a sandbox with it.',
  },
  AgeUnknown: {
    meaning: 'containerd does not say when a part of it was made, so it may be younger than an hour.',
    change: 'containerd reports the time.',
  },
  ProgressUnknown: {
    meaning: 'containerd does not report the size of one of its writable snapshots, so it may still grow.',
    change: 'containerd reports the size.',
  },
  InUse: {
    meaning: 'It has changed since the plan: a client of containerd works on it.',
    change: 'It does not change in two passes.',
  },
  Quarantined: {
    meaning: 'Only one pass has found it as it is now.',
    change: 'The next pass finds the same.',
  },
  RemovalFailed: {
    meaning: 'Its removal has failed; dustpan tries again after a pause.',
    change: "The pause has passed. The agent's log has the error of the last attempt.",
  },
  KeepMarked: { meaning: nodeReasons.KeepMarked.meaning, change: labelRemoved },
};

/** Explains one decision. */
export function explainLeftover({
  reason,
  target,
  policy,
  ...decision
}: LeftoverRemoval | KeptLeftover): Why {
  const { leftover } = target;
  const field = `nodes.leftovers.${leftoverFields[leftover.kind]}`;
  const { meaning } = leftoverReasons[reason];
  const since = leftover.sinceMs === undefined ? '' : `, unchanged since ${timeText(leftover.sinceMs)}`;
  const detail = `${meaning} It is kept by ${leftover.holder}${since}.`;
  switch (reason) {
    case 'NoPolicy':
    case 'InvalidPolicy':
    case 'KeepMarked':
    case 'NodeUnknown':
    case 'ClockUnsure':
      return explainNode(reason, policy);
    case 'InterruptedDownload':
    case 'UnusedLease':
    case 'Unreferenced':
      return { detail, field: `${field}=Remove` };
    case 'RuleOff':
      return { detail: meaning, field: `${field} is not Remove` };
    case 'HeldByOther':
    case 'SandboxUnknown':
    case 'AgeUnknown':
      return { detail };
    case 'RemovalFailed':
      return {
        detail: `Its removal has failed ${counted('times' in decision ? (decision.times ?? 0) : 0, 'time')}; the pause before the next attempt doubles with each failure.`,
      };
    case 'ProgressUnknown':
    case 'InUse':
    case 'Quarantined':
      return { detail: meaning };
  }
}
