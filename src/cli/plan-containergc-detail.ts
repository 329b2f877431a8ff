import type { ContainerGcObject, ContainerGcPlan, Decision } from '../agent/containergc/facts.ts';
import { unitOf, units } from '../agent/containergc/limits.ts';
import { podOf } from '../agent/containergc/naming.ts';
import { createdMs } from '../agent/containergc/order.ts';
import type { PodEnd } from '../agent/containergc/pods.ts';
import { KEEP_LABEL } from '../api/matching.ts';
import type { ContainerGcPolicy, InvalidPolicy } from '../api/policy.ts';
import type { ContainerKeepReason, ContainerRemoveReason } from '../api/reasons.ts';
import type { RuntimeContainer } from '../cri/runtime.ts';
import { formatDuration } from '../runtime/duration.ts';
import type { Told } from './plan-document.ts';
import { invalidTold, ordinal, plainly, timeText } from './plan-words.ts';

export interface ContainerContext {
  readonly node: string;
  /** undefined = no policy says anything about containers here. */
  readonly policy: ContainerGcPolicy | undefined;
  /** Set when one that cannot be followed may govern the node. */
  readonly invalid: InvalidPolicy | undefined;
  readonly dead: DeadContainers;
  /** Why pods are over that the API still has, by UID. */
  readonly ends: ReadonlyMap<string, PodEnd | undefined>;
}

/** The dead containers that the limits look at. */
interface DeadContainers {
  readonly total: number;
  /** Dead attempts of the same container of the same pod, and the place among them, from 1 for the newest. */
  of(container: RuntimeContainer): { readonly place: number; readonly attempts: number };
}

/** Why a container, a sandbox or a log goes or stays. */
export function containerTold(one: Decision, context: ContainerContext): Told {
  return one.verdict === 'Remove' ? removed[one.reason](one, context) : kept[one.reason](one, context);
}

/** What the plan's verdicts tell of the containers that its limits looked at. */
export function deadContainers({ removals, kept: stays }: ContainerGcPlan): DeadContainers {
  const dead = [...removals, ...stays].flatMap((one) =>
    one.object.kind === 'container' && isLimited(one) ? [one.object.container] : [],
  );
  const byUnit = new Map(units(dead).map((unit) => [unit[0] === undefined ? '' : unitOf(unit[0]), unit]));
  return {
    total: dead.length,
    of: (container) => {
      const unit = byUnit.get(unitOf(container)) ?? [];
      return { place: unit.indexOf(container) + 1, attempts: unit.length };
    },
  };
}

function isLimited({ object, reason }: Decision): boolean {
  if (object.kind !== 'container') return false;
  if (reason === 'Quarantined') return object.container.state !== 'Unknown';
  return reason === 'DeadContainer' || reason === 'NewestAttempt' || reason === 'UnderLimit';
}

type Telling = (one: Decision, context: ContainerContext) => Told;
const told =
  (detail: string, field: string | null = null): Telling =>
  () => ({ detail, field });

const removed: Readonly<Record<ContainerRemoveReason, Telling>> = {
  PodGone: ({ object }, { ends }) => ({
    detail: `It is not running, and ${podText(object)} ${endText(object, ends)}.`,
    field: 'nodes.containerGC',
  }),
  DeadContainer: deadContainer,
  Sandbox: ({ object, ...one }, { ends }) => ({
    detail:
      'because' in one && one.because === 'superseded'
        ? `It is not ready and without containers, and ${podText(object)} has a newer one.`
        : `It is not ready and without containers, and ${podText(object)} ${endText(object, ends)}.`,
    field: 'nodes.containerGC.sandboxes=true',
  }),
  OrphanedLogs: ({ object }, { ends }) => ({
    detail: `It holds logs of ${podText(object).replace(/^its/, 'a')}, which ${endText(object, ends)}, and no container of it is left.`,
    field: 'nodes.containerGC.logs.orphanedDirectories=true',
  }),
  BrokenLink: told('It leads to a log that does not exist.', 'nodes.containerGC.logs.brokenLinks=true'),
  RotatedLog: (_, { policy }) => ({
    detail: `There are more rotated logs than may stay, and it is among the oldest.`,
    field: rotatedField(policy),
  }),
};

const kept: Readonly<Record<ContainerKeepReason, Telling>> = {
  Running: ({ object }) => plainly(object.kind === 'sandbox' ? 'It is ready.' : 'It is running.'),
  NotKubelets: told('The kubelet did not make it: it carries none of its labels or names.'),
  StaticPod: ({ object }) =>
    plainly(`It belongs to ${podText(object)}, a static one, which is the business of the kubelet alone.`),
  UnknownState: ({ object }) =>
    plainly(`The runtime cannot tell its state, and ${podText(object)} is not known to be gone.`),
  TooYoung: tooYoung,
  NewestAttempt: ({ object }, { policy }) => ({
    detail: `It is the newest dead attempt of ${containerText(object)}: somebody may want to read its log, and without it the kubelet may run the container of an unfinished pod again.`,
    field: perContainerField(policy),
  }),
  NewestSandbox: ({ object }) =>
    plainly(`It is the newest sandbox of ${podText(object)}, which still exists.`),
  UnderLimit: underLimit,
  InUse: ({ object }) => plainly(inUse[object.kind](object)),
  Quarantined: ({ object }, { ends }) =>
    plainly(
      endOf(object, ends) === undefined
        ? `It looks as if ${podText(object)} is gone, but that was seen only once, here just now.`
        : `It looks as if nothing runs of ${podText(object)}, which ${endText(object, ends)}, but that was seen only once, here just now.`,
    ),
  PodsUnknown: told('The pods of the node are not known, and so none is gone.'),
  ContainersUnknown: told('The containers or the sandboxes of the node are not known.'),
  ClockUnsure: told('The clock has jumped: ages cannot be told.'),
  NoPolicy: told('No GCPolicy says anything about this node.'),
  InvalidPolicy: (_, { invalid }) =>
    invalid === undefined
      ? plainly('A policy that cannot be followed may govern this node, so nothing on it is touched.')
      : invalidTold(invalid, 'this node'),
  // Of a node that is marked no rule is looked at.
  KeepMarked: ({ object }, { node, policy }) => ({
    detail: `The label ${KEEP_LABEL} is "true" on ${policy === undefined ? `node ${node}` : podText(object)}.`,
    field: `metadata.labels["${KEEP_LABEL}"]=true`,
  }),
  NodeUnknown: told('The node or the policies are not known.'),
  RuleOff: ({ object }, { policy }) => ({
    detail: `The policy of the node has no rule for ${thingsText[object.kind]}.`,
    field: policy === undefined ? 'nodes.containerGC is not set' : ruleField[object.kind],
  }),
};

const thingsText: Readonly<Record<ContainerGcObject['kind'], string>> = {
  container: 'containers',
  sandbox: 'sandboxes',
  logDirectory: 'log directories of pods that are gone',
  logLink: 'broken links',
  logFile: 'rotated logs',
};

const ruleField: Readonly<Record<ContainerGcObject['kind'], string>> = {
  container: 'nodes.containerGC',
  sandbox: 'nodes.containerGC.sandboxes=false',
  logDirectory: 'nodes.containerGC.logs.orphanedDirectories is off',
  logLink: 'nodes.containerGC.logs.brokenLinks is off',
  logFile: 'nodes.containerGC.logs.maxRotatedPerContainer and maxBytesPerPod are not set',
};

const inUse: Readonly<Record<ContainerGcObject['kind'], (object: ContainerGcObject) => string>> = {
  container: () => 'Something that stays needs it.',
  sandbox: () => 'A container that stays belongs to it.',
  logDirectory: (object) =>
    `It holds the logs of ${podText(object)}, which exists or has a container that stays.`,
  logLink: () => 'It leads to a log that exists, or its container may still write one.',
  logFile: () => 'Something that stays needs it.',
};

function deadContainer({ object }: Decision, { policy, dead }: ContainerContext): Told {
  const { maxPerPodContainer = Infinity, maxContainers = 0 } = policy ?? {};
  const { place, attempts } = attemptsOf(object, dead);
  if (place > maxPerPodContainer)
    return {
      detail: `It is ${placeText(place, attempts)} of ${containerText(object)}, and ${mayStay(maxPerPodContainer)}.`,
      field: perContainerField(policy),
    };
  return {
    detail: `Of the ${dead.total} dead containers on the node ${mayStay(maxContainers)}, and it is among the oldest.`,
    field: `nodes.containerGC.maxContainers=${maxContainers}`,
  };
}

function placeText(place: number, attempts: number): string {
  if (attempts === 1) return 'the only dead attempt';
  if (place === 1) return `the newest of the ${attempts} dead attempts`;
  const age = place === attempts ? 'oldest' : `${ordinal(attempts - place + 1)} oldest`;
  return `the ${age} of the ${attempts} dead attempts`;
}

function underLimit({ object }: Decision, { policy, dead }: ContainerContext): Told {
  if (object.kind !== 'container')
    return { detail: 'The rotated logs beside it are within the limits.', field: rotatedField(policy) };
  const { place, attempts } = attemptsOf(object, dead);
  const fields = [
    perContainerField(policy),
    `nodes.containerGC.maxContainers=${shown(policy?.maxContainers)}`,
  ];
  return {
    detail: `It is ${placeText(place, attempts)} of ${containerText(object)}, and ${mayStay(policy?.maxPerPodContainer)}.`,
    field: fields.join(', '),
  };
}

const attemptsOf = (object: ContainerGcObject, dead: DeadContainers): ReturnType<DeadContainers['of']> =>
  object.kind === 'container' ? dead.of(object.container) : { place: 1, attempts: 1 };

function mayStay(limit: number | undefined): string {
  if (limit === undefined || limit === Infinity) return 'any number may stay';
  if (limit === 0) return 'none may stay';
  return limit === 1 ? 'one may stay' : `${limit} may stay`;
}

function tooYoung(one: Decision, { policy }: ContainerContext): Told {
  const { object } = one;
  const eligibleAt = one.verdict === 'Keep' ? one.eligibleAt : undefined;
  if (object.kind !== 'container' || eligibleAt === undefined)
    return plainly('It has not been here for long enough.');
  const createdAtMs = createdMs(object.container);
  const stayMs = eligibleAt.getTime() - createdAtMs;
  const minimumMs = policy?.minimumAgeMs ?? 0;
  const stays = `It was created at ${timeText(createdAtMs)}, and stays for ${formatDuration(stayMs)} at least`;
  return stayMs > minimumMs
    ? plainly(`${stays}, for it may be about to start.`)
    : { detail: `${stays}.`, field: `nodes.containerGC.minimumAge=${formatDuration(minimumMs)}` };
}

const shown = (limit: number | undefined): number => limit ?? -1;
const perContainerField = (policy: ContainerGcPolicy | undefined): string =>
  `nodes.containerGC.maxPerPodContainer=${shown(policy?.maxPerPodContainer)}`;

function rotatedField(policy: ContainerGcPolicy | undefined): string | null {
  const { maxRotatedPerContainer, maxBytesPerPod } = policy?.logs ?? {};
  const path = 'nodes.containerGC.logs.';
  const fields = [
    ...(maxRotatedPerContainer === undefined
      ? []
      : [`${path}maxRotatedPerContainer=${maxRotatedPerContainer}`]),
    ...(maxBytesPerPod === undefined ? [] : [`${path}maxBytesPerPod=${maxBytesPerPod}`]),
  ];
  return fields.length === 0 ? null : fields.join(', ');
}

type Ends = ContainerContext['ends'];

const endOf = (object: ContainerGcObject, ends: Ends): PodEnd | undefined =>
  ends.get(podOf({ object })?.uid ?? '');

/** What has become of a pod of which everything goes. */
function endText(object: ContainerGcObject, ends: Ends): string {
  switch (endOf(object, ends)) {
    case 'Evicted':
      return 'was evicted';
    case 'Deleted':
      return 'was deleted longer than its grace period ago';
    case undefined:
      return 'is gone';
  }
}

/** `pod web/api`, or `its pod` where that is not known. */
function podText(object: ContainerGcObject): string {
  const { namespace, name } = podOf({ object }) ?? {};
  return namespace === undefined || name === undefined ? 'its pod' : `pod ${namespace}/${name}`;
}

const containerText = (object: ContainerGcObject): string =>
  object.kind === 'container' ? `container ${object.container.name} of ${podText(object)}` : podText(object);
