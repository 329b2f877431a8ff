import { nodeRule } from '../../api/policy/node-governance.ts';
import type { CheckpointsPolicy } from '../../api/policy/policy.ts';
import type { CheckpointFile } from '../../node/storage/checkpoints.ts';
import { ageErrorMs } from '../../runtime/scheduling/jump.ts';
import { sum } from '../../runtime/sum.ts';
import { parseRfc3339 } from '../../runtime/text/rfc3339.ts';
import {
  decide,
  keptBecauseOfWrite,
  keptByNode,
  type Because,
  type CheckpointInventory,
  type CheckpointLimit,
  type ContainerDecision,
  type ContainerGcFacts,
  type ContainerGcPlan,
  type Given,
  type JudgedCheckpoint,
  type KeptBecause,
  type PlanContext,
} from './facts.ts';

/** `checkpoint-POD_NAMESPACE-CONTAINER-TIME.tar` (`CheckpointContainer`, pkg/kubelet/kubelet.go). Both NAMESPACE and CONTAINER may have dashes. */
const nameForm =
  /^checkpoint-([a-z0-9][a-z0-9.-]*_[a-z0-9]+(?:-+[a-z0-9]+)+)-(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d))\.tar$/;

interface Archive {
  readonly file: CheckpointFile;
  /** `POD_NAMESPACE-CONTAINER`. */
  readonly owner: string;
  /** The later of the time in the name and the last write: an archive that was copied, or that took long to write, is not older than it is. */
  readonly sinceMs: number;
}

/** undefined = the kubelet gives no such name to an archive. */
function archiveOf(file: CheckpointFile): Archive | undefined {
  const [, owner = '', time = ''] = nameForm.exec(file.path.slice(file.path.lastIndexOf('/') + 1)) ?? [];
  const namedMs = parseRfc3339(time);
  return file.isFile && namedMs !== undefined
    ? { file, owner, sinceMs: Math.max(namedMs, file.writtenMs) }
    : undefined;
}

/** Decides about the entries of the kubelet's directory of checkpoints, oldest first. */
export function planCheckpoints(
  facts: ContainerGcFacts,
  { governance, ...given }: Given,
): readonly ContainerDecision<JudgedCheckpoint>[] {
  const { checkpoints } = facts;
  if (checkpoints === undefined) return [];
  const governed = nodeRule(governance, 'checkpoints');
  const archives = checkpoints.files.flatMap((file) => archiveOf(file) ?? []).toSorted(byAge);
  const strangers = checkpoints.files.filter((file) => archiveOf(file) === undefined);
  const decided = (
    file: CheckpointFile,
    because: Because,
    owner = '',
  ): ContainerDecision<JudgedCheckpoint> => {
    const target = { kind: 'Checkpoint', path: file.path, pod: undefined, file, owner } as const;
    return decide({ target, policy: governed.policy, bytes: file.bytes }, because);
  };
  const others = strangers.map((file) => decided(file, { reason: 'NotKubelets' }));
  if (governed.kind === 'keep')
    return [...archives.map(({ file, owner }) => decided(file, keptByNode(governed), owner)), ...others];
  const { rule } = governed;
  const context = { ...given, facts, rule };
  const held = new Map(archives.map((archive) => [archive, heldBecause(archive, context)]));
  const limits = limitsOver(archives, held, context);
  const because = (archive: Archive): Because => {
    const limit = limits.get(archive);
    if (limit === undefined) return { reason: 'UnderLimit', eligibleAt: expiry(archive, context) };
    const kept = held.get(archive);
    if (kept !== undefined) return kept;
    return checkpoints.isReadOnly ? { reason: 'ReadOnly' } : { reason: 'OldCheckpoint', limit };
  };
  return [...archives.map((archive) => decided(archive.file, because(archive), archive.owner)), ...others];
}

type Context = Pick<PlanContext, 'facts' | 'now' | 'periodMs'> & { readonly rule: CheckpointsPolicy };

/** The kubelet gives the runtime two minutes for most calls, and a checkpoint its timeout parameter. The runtime writes without long pauses. */
const leastMs = 600_000;

/** Whether nobody writes it any more. Until then it may be incomplete, or its time is wrong, so no older archive is removed in favour of it. */
const isSettled = ({ sinceMs }: Archive, context: Context): boolean =>
  keptBecauseOfWrite(sinceMs, leastMs, context)?.reason !== 'TooYoung';

/** Before there was a kubelet that stores checkpoints (1.25). A node without a battery for its clock starts in 1970. */
const firstMs = Date.UTC(2022, 0);

/** Why an archive over a limit is kept: first what no time ends. */
function heldBecause({ file, owner, sinceMs }: Archive, context: Context): KeptBecause | undefined {
  const needed = neededBecause(file.path, owner, context.facts);
  if (needed !== undefined) return needed;
  return sinceMs < firstMs ? { reason: 'ClockUnsure' } : keptBecauseOfWrite(sinceMs, leastMs, context);
}

/** Why what the pods and containers of the node name is kept; a runtime restores a container whose image is the path of an archive. */
export function neededBecause(
  path: string,
  owner: string,
  { pods, containers }: Pick<ContainerGcFacts, 'pods' | 'containers'>,
): KeptBecause | undefined {
  if (pods === undefined) return { reason: 'PodsUnknown' };
  if (containers === undefined) return { reason: 'ContainersUnknown' };
  const isOptedOut = pods.some(
    (pod) => pod.isOptedOut === true && owner.startsWith(`${[pod.name, pod.namespace].join('_')}-`),
  );
  if (isOptedOut) return { reason: 'KeepMarked', on: 'pod' };
  const isNamedBy = namesArchive(path);
  const isImage =
    pods.some(({ images }) => images === undefined || images.some(isNamedBy)) ||
    containers.some(({ imageId, imageRef }) => isNamedBy(imageId) || isNamedBy(imageRef));
  return isImage ? { reason: 'InUse' } : undefined;
}

/** By the name of the file: the same directory may have another path by a link. */
function namesArchive(path: string): (image: string) => boolean {
  const end = path.slice(path.lastIndexOf('/'));
  return (image) => image.endsWith(end);
}

/** When the age alone makes it due; undefined = never. */
function expiry(
  { sinceMs }: Pick<Archive, 'sinceMs'>,
  { rule: { maxAgeMs }, facts: { jumps = [] } }: Context,
): Date | undefined {
  return maxAgeMs === undefined ? undefined : new Date(sinceMs + maxAgeMs + ageErrorMs(sinceMs, jumps));
}

/** The limit that each archive exceeds. The bytes of those that are kept for another reason count. */
function limitsOver(
  oldestFirst: readonly Archive[],
  held: ReadonlyMap<Archive, KeptBecause | undefined>,
  context: Context,
): ReadonlyMap<Archive, CheckpointLimit> {
  const { maxBytes = Infinity } = context.rule;
  const limits = overAgeOrNumber(oldestFirst, context);
  const goes = (archive: Archive): boolean => limits.has(archive) && held.get(archive) === undefined;
  let bytes = sum(oldestFirst.filter((one) => !goes(one)).map(({ file }) => file.bytes));
  const newest = oldestFirst.findLastIndex((one) => isSettled(one, context));
  for (const archive of oldestFirst.slice(0, Math.max(0, newest))) {
    if (bytes <= maxBytes) break;
    if (limits.has(archive)) continue;
    limits.set(archive, 'maxBytes');
    if (goes(archive)) bytes -= archive.file.bytes;
  }
  return limits;
}

function overAgeOrNumber(oldestFirst: readonly Archive[], context: Context): Map<Archive, CheckpointLimit> {
  const { maxPerPod = Infinity } = context.rule;
  const limits = new Map<Archive, CheckpointLimit>();
  const newer = new Map<string, number>();
  for (const archive of oldestFirst.toReversed()) {
    const { owner } = archive;
    const rank = newer.get(owner) ?? 0;
    if (isSettled(archive, context)) newer.set(owner, rank + 1);
    const dueAt = expiry(archive, context);
    if (dueAt !== undefined && dueAt <= context.now) limits.set(archive, 'maxAge');
    else if (rank >= maxPerPod) limits.set(archive, 'maxPerPod');
  }
  return limits;
}

/** Oldest first, then by path, so that two plans do not differ without a reason. */
const byAge = (a: Archive, b: Archive): number =>
  a.sinceMs - b.sinceMs || (a.file.path < b.file.path ? -1 : 1);

/** Counts the archives of the last listing; undefined = not all entries were read. */
export function checkpointInventory(
  { checkpoints }: Pick<ContainerGcFacts, 'checkpoints'>,
  { removals, kept }: Pick<ContainerGcPlan, 'removals' | 'kept'>,
): CheckpointInventory | undefined {
  if (checkpoints?.complete !== true) return undefined;
  const filesOf = (decisions: readonly ContainerDecision[]): readonly CheckpointFile[] =>
    decisions.flatMap(({ target }) => (target.kind === 'Checkpoint' ? [target.file] : []));
  const bytesOf = (files: readonly CheckpointFile[]): number => sum(files.map(({ bytes }) => bytes));
  const due = filesOf(removals);
  const left = filesOf(kept.filter(({ reason }) => reason !== 'NotKubelets'));
  return {
    total: due.length + left.length,
    bytes: bytesOf([...due, ...left]),
    removable: due.length,
    removableBytes: bytesOf(due),
    isReadOnly: kept.some(({ target, reason }) => target.kind === 'Checkpoint' && reason === 'ReadOnly'),
    isApart: checkpoints.isApart,
  };
}
