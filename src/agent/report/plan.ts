import { metaTime } from '../../runtime/text/rfc3339.ts';
import { shortQuantityText } from '../../runtime/text/size-text.ts';
import type {
  NodeGCReportStatus,
  NodeGCReportStatusContainersLastRemovedItem,
  NodeGCReportStatusImages,
  NodeGCReportStatusImagesLastRemovedItem,
  NodeGCReportStatusLargestOffender,
  NodeGCReportStatusUnit,
} from '../../api/gen/nodegcreport.gen.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import {
  lastOfEach,
  type CountAndBytes,
  type ImageInventory,
  type Offender,
  type RemovedKind,
  type RemovedObject,
} from '../../api/report/node-pass.ts';
import type { PodRef } from '../../api/pod-ref.ts';
import type { MountedImageDisk } from '../../node/disk/filesystem.ts';
import { bounds, bytes, count, cut, percent } from './bounds.ts';
import { planConditions } from './conditions.ts';
import type { ReportFacts, UnitPasses } from './facts.ts';
import { orphansOf } from './orphans.ts';
import { storageOf } from './storage.ts';

/** Decides the whole status of a node's report, always within the bounds of crds/. `previous` is the written report. */
export function planReport(
  facts: ReportFacts,
  previous: NodeGCReportStatus | undefined,
  now: Date,
): NodeGCReportStatus {
  const { images, containers, storage } = facts;
  const offenders = [images, containers, storage].flatMap((inventory) => inventory?.offenders ?? []);
  return {
    reportTime: metaTime(now),
    agentVersion: cut(facts.agentVersion, bounds.versionText),
    ...planStorage(facts, now),
    conditions: planConditions(facts, previous?.conditions ?? [], now),
    ...inventoriesOf(facts, previous?.containers?.lastRemoved ?? []),
    units: unitsOf(facts),
    largestOffenders: largest(offenders),
  };
}

/** Decides the part of the status about the policy, local storage and node pressure. */
export function planStorage(
  { governance, storage, pressure }: Pick<ReportFacts, 'governance' | 'storage' | 'pressure'>,
  now: Date,
): NodeGCReportStatus {
  return {
    ...policyOf(governance),
    ...((storage ?? pressure) && storageOf({ storage, pressure }, governance.policy, now)),
  };
}

/** A fact that is not known has no field. */
function inventoriesOf(facts: ReportFacts, reported: readonly RemovedItem[]): NodeGCReportStatus {
  const { runtime, images, containers, lastRemoved, imageDisk, orphans, snapshots } = facts;
  const ofImages = {
    ...(images && imagesOf(images)),
    ...withLastRemoved(lastRemoved.images.slice(0, bounds.removedImages).map(removedImageOf)),
  };
  const ofContainers = {
    ...(containers && mapValues(containers.containers, count)),
    ...withLastRemoved(continued(lastRemoved.others.map(removedObjectOf), reported)),
  };
  const isEmpty = (part: object): boolean => Object.keys(part).length === 0;
  return {
    ...(runtime && { runtime: mapValues(runtime, (text) => cut(text, bounds.versionText)) }),
    ...(imageDisk && { imageFileSystem: diskOf(imageDisk) }),
    ...(!isEmpty(ofImages) && { images: ofImages }),
    ...(!isEmpty(ofContainers) && { containers: ofContainers }),
    ...(containers && {
      sandboxes: mapValues(containers.sandboxes, count),
      logs: mapValues(containers.logs, bytes),
    }),
    ...((orphans ?? snapshots) && { orphans: orphansOf(facts) }),
  };
}

type RemovedItem = NodeGCReportStatusContainersLastRemovedItem;

/** The removals of this agent, then those that an agent before it reported. */
function continued(own: readonly RemovedItem[], reported: readonly RemovedItem[]): RemovedItem[] {
  const keyOf = ({ kind, id, time }: RemovedItem): string => `${kind} ${id} ${time}`;
  const known = new Set(own.map(keyOf));
  return lastOfEach([...own, ...reported.filter((one) => !known.has(keyOf(one)))]);
}

/** Nothing where none was removed. */
const withLastRemoved = <R>(lastRemoved: R[]): { lastRemoved?: R[] } =>
  lastRemoved.length > 0 ? { lastRemoved } : {};

function policyOf({ policy }: NodeGovernance): Pick<NodeGCReportStatus, 'policy'> {
  if (policy === undefined || policy.name === '') return {};
  const { name, uid, generation } = policy;
  const mode = 'problems' in policy ? {} : { mode: policy.mode };
  return { policy: { name, uid, observedGeneration: bytes(generation), ...mode } };
}

function diskOf(disk: MountedImageDisk): NonNullable<NodeGCReportStatus['imageFileSystem']> {
  const { inodes, inodesFree } = disk;
  return {
    mountpoint: cut(disk.mountpoint, bounds.mountpoint),
    usedPercent: percent(disk.usedPercent),
    capacityBytes: bytes(disk.capacityBytes),
    availableBytes: bytes(disk.availableBytes),
    usedBytes: bytes(disk.usedBytes),
    usedInodes: bytes(disk.inodesUsed),
    ...(inodes !== undefined && { inodes: bytes(inodes) }),
    ...(inodesFree !== undefined && { availableInodes: bytes(inodesFree) }),
  };
}

function imagesOf(inventory: ImageInventory): NodeGCReportStatusImages {
  const { total, inUse, pinned, kept, removable } = inventory;
  return {
    ...mapValues({ total, inUse, pinned, kept }, bounded),
    removable: { ...bounded(removable), size: shortQuantityText(bytes(removable.bytes)) },
  };
}

const removedImageOf = (image: RemovedObject<'Image'>): NodeGCReportStatusImagesLastRemovedItem =>
  removedOf(image, { id: bounds.removedImageId, name: bounds.removedImageName });

function removedObjectOf(removed: RemovedObject<RemovedKind>): RemovedItem {
  const { kind, pod, bytes: size } = removed;
  return {
    kind,
    ...removedOf(removed, { id: bounds.removedPath, name: bounds.containerName }),
    ...(pod && { pod: podOf(pod) }),
    ...(size !== undefined && { bytes: bytes(size) }),
  };
}

/** The fields that every removed object has. */
const removedOf = (
  { id, name, reason, policy, atMs }: RemovedObject,
  longest: { readonly id: number; readonly name: number },
): NodeGCReportStatusImagesLastRemovedItem => ({
  id: cut(id, longest.id),
  ...(name !== undefined && { name: cut(name, longest.name) }),
  time: metaTime(new Date(atMs)),
  reason: cut(reason, bounds.reason),
  policy: cut(policy, bounds.podName),
});

const podOf = ({ uid, namespace, name }: PodRef) => ({
  ...(namespace !== undefined && { namespace: cut(namespace, bounds.namespace) }),
  ...(name !== undefined && { name: cut(name, bounds.podName) }),
  uid: cut(uid, bounds.podUid),
});

const bounded = (value: CountAndBytes): { count: number; bytes: number } => ({
  count: count(value.count),
  bytes: bytes(value.bytes),
});

/** Each unit that has run since the agent started, with the totals of the agent before; then the others, as that agent reported them. */
function unitsOf({ passes, earlierUnits, startedAt }: ReportFacts): NodeGCReportStatusUnit[] {
  const earlier = new Map(earlierUnits.map((unit) => [unit.name, unit]));
  const own = passes.map((unit) => {
    const before = earlier.get(unit.last.unit);
    earlier.delete(unit.last.unit);
    // The totals of an agent that did not report since when they count are not continued.
    return unitOf(unit, before?.totalsSince === undefined ? undefined : before, startedAt);
  });
  return [...own, ...earlier.values()];
}

function unitOf(
  { last, removedTotal, freedBytesTotal }: UnitPasses,
  before: NodeGCReportStatusUnit | undefined,
  startedAt: Date,
): NodeGCReportStatusUnit {
  return {
    name: last.unit,
    lastPassTime: metaTime(last.at),
    result: last.result,
    removed: count(last.removed),
    freedBytes: bytes(last.freedBytes),
    errors: count(last.errors),
    removedTotal: bytes((before?.removedTotal ?? 0) + removedTotal),
    freedBytesTotal: bytes((before?.freedBytesTotal ?? 0) + freedBytesTotal),
    totalsSince: before?.totalsSince ?? metaTime(startedAt),
    ...(last.message !== undefined && { message: cut(last.message, bounds.unitMessage) }),
  };
}

function largest(offenders: readonly Offender[]): NodeGCReportStatusLargestOffender[] {
  return offenders.toSorted(bySize).slice(0, bounds.offenders).map(offenderOf);
}

/** Equal sizes have a fixed order, so that two reports do not differ without a reason. */
function bySize(a: Offender, b: Offender): number {
  if (a.bytes !== b.bytes) return b.bytes - a.bytes;
  return (a.id ?? a.name ?? '') < (b.id ?? b.name ?? '') ? -1 : 1;
}

function offenderOf({ kind, id, name, namespace, reason, bytes: size }: Offender) {
  return {
    kind,
    bytes: bytes(size),
    ...(id !== undefined && { id: cut(id, bounds.offenderId) }),
    ...(name !== undefined && { name: cut(name, bounds.offenderName) }),
    ...(namespace !== undefined && { namespace: cut(namespace, bounds.namespace) }),
    ...(reason !== undefined && { reason: cut(reason, bounds.reason) }),
  };
}

function mapValues<K extends string, A, B>(
  object: Readonly<Record<K, A>>,
  map: (value: A) => B,
): Record<K, B>;
function mapValues<A, B>(object: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value)]));
}
