import { bytesOfImage, freedByAll } from '../../agent/imagegc/space.ts';
import { isInodes } from '../../api/node-pressure.ts';
import type { Decision, PlanDocument } from '../../evaluation/plan/document.ts';
import { objectKey } from '../../evaluation/plan/changes.ts';
import { sum } from '../../runtime/sum.ts';
import type { IsShown } from '../../evaluation/plan/filter.ts';
import { stuckIn } from '../../evaluation/plan/stuck.ts';
import { unknownOf } from '../../evaluation/plan/unknown.ts';
import { counted } from '../../gc/reasons/words.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import { shortSizeText } from '../../runtime/text/size-text.ts';
import type { NodePart, PlanFacts } from '../../snapshot/plan-facts.ts';
import { usageData } from './usage.ts';

/** What happens to the objects of one policy, namespace, node or reason. */
export interface Share {
  readonly name: string;
  readonly remove: number;
  /** Of the removals, as far as sizes are known. */
  readonly bytes: number;
  readonly warn: number;
  /** Kept, and only time is missing. */
  readonly waiting: number;
  readonly keep: number;
  /** Whether there may be more of them: a part of the plan is not known. */
  readonly partial: boolean;
}

/** `?` for a 0 and `≥ 3` for a 3 of which a part is not known. */
export function countText({ partial }: Share, count: number): string {
  if (!partial) return String(count);
  return count === 0 ? '?' : `≥ ${count}`;
}

export function freedText(share: Share): string {
  const { bytes, partial } = share;
  if (!partial) return shortSizeText(bytes);
  return bytes === 0 ? '?' : `≥ ${shortSizeText(bytes)}`;
}

interface DiskUse {
  readonly node: string;
  /** Such as `imagefs`. */
  readonly name: string;
  readonly unit: 'bytes' | 'inodes';
  readonly capacity: number;
  readonly available: number;
}

/** An image or a pod's logs. */
export interface Large {
  readonly name: string;
  readonly bytes: number;
  readonly nodes: number;
  /** On how many of the nodes it would be removed. */
  readonly removedOn: number;
}

/** The figures of a report; its table has the decisions of the plan. */
export type ReportData = ReturnType<typeof reportData>;

const dueDays = 7;

/** Computes the figures of a report from a plan that lists kept objects too. Disks and images do not belong to a pod: all are shown. */
export function reportData(
  { decisions, generatedAt, unknown }: PlanDocument,
  facts: PlanFacts,
  isShown: IsShown = () => true,
) {
  const now = new Date(generatedAt);
  return {
    now,
    total: shareOf('', decisions, unknown.length > 0),
    /** undefined = no node has a report. */
    usage: usageData(facts, now),
    byPolicy: shares(
      decisions,
      ({ policy }) => policy ?? 'no policy',
      (name) => unknown.some(({ policy }) => policy === name),
    ),
    byNamespace: shares(decisions, namespaceOf, () => unknown.length > 0),
    byNode: shares(
      decisions,
      ({ object }) => object.node ?? undefined,
      (name) => unknown.some(({ what, nodes }) => what !== 'nodes' || (nodes?.includes(name) ?? true)),
    ),
    // A reason to keep has no removals, whatever is unknown.
    byReason: shares(
      decisions,
      ({ reason }) => reason,
      () => false,
    ),
    /** Fullest first. */
    disks: facts.parts.flatMap(disksOf).toSorted((a, b) => usedShare(b) - usedShare(a)),
    images: largestImages(facts.parts, removedKeys(decisions)),
    logs: largestLogs(facts.parts, isShown),
    /** The next days (UTC) on which something becomes due, such as `2026-01-16`, in order. */
    due: dueOf(decisions, facts.parts, now),
    /** Pods that make no progress, those of the longest time first. */
    stuck: stuckIn(facts, decisions, now, (pod) => isShown(nameOf(pod))).map(({ pod, view }) => ({
      name: nameOf(pod),
      ...view,
    })),
  };
}

const nameOf = ({ namespace, name }: Pick<PodFacts, 'namespace' | 'name'>): string => `${namespace}/${name}`;

/** From 0 to 1. */
export const usedShare = ({ capacity, available }: DiskUse): number =>
  capacity === 0 ? 0 : 1 - available / capacity;

function namespaceOf({ object }: Decision): string | undefined {
  if (object.kind === 'Pod') return object.namespace;
  return object.pod?.split('/')[0];
}

/** Most removals first. Decisions without a key are in no share. */
function shares(
  decisions: readonly Decision[],
  keyOf: (decision: Decision) => string | undefined,
  isPartial: (name: string) => boolean,
): readonly Share[] {
  const groups = Map.groupBy(decisions, keyOf);
  return [...groups]
    .flatMap(([name, list]) => (name === undefined ? [] : [shareOf(name, list, isPartial(name))]))
    .toSorted((a, b) => b.remove - a.remove || b.keep - a.keep || (a.name < b.name ? -1 : 1));
}

/** Returns what happens to an object, in one word. */
export function fateOf({ order, verdict, eligibleAt }: Decision): 'remove' | 'warn' | 'wait' | 'keep' {
  if (order !== null) return 'remove';
  if (verdict === 'Warn') return 'warn';
  return eligibleAt === null ? 'keep' : 'wait';
}

function shareOf(name: string, decisions: readonly Decision[], partial: boolean): Share {
  const counts = { remove: 0, warn: 0, wait: 0, keep: 0 };
  let bytes = 0;
  for (const decision of decisions) {
    const fate = fateOf(decision);
    counts[fate] += 1;
    if (fate === 'remove') bytes += decision.bytes ?? 0;
  }
  const { wait: waiting, ...others } = counts;
  return { name, ...others, waiting, bytes, partial };
}

function disksOf({ name: node, usage, disk }: NodePart): readonly DiskUse[] {
  const readings = (usage?.signals ?? []).filter(({ signal }) => signal !== 'memory.available');
  if (readings.length > 0)
    return readings.map(({ signal, available, capacity }) => ({
      node,
      name: signal.split('.')[0] ?? '',
      available,
      capacity,
      unit: isInodes(signal) ? 'inodes' : 'bytes',
    }));
  if (disk === undefined) return [];
  const { capacityBytes: capacity, availableBytes: available, inodes, inodesFree } = disk;
  const ofImages = { node, name: 'imagefs' };
  const bytes = { ...ofImages, unit: 'bytes' as const, capacity, available };
  return inodes === undefined || inodesFree === undefined
    ? [bytes]
    : [bytes, { ...ofImages, unit: 'inodes', capacity: inodes, available: inodesFree }];
}

const removedKeys = (decisions: readonly Decision[]): ReadonlySet<string> =>
  new Set(decisions.flatMap(({ order, object }) => (order === null ? [] : [objectKey(object)])));

const largest = 20;

function largestImages(parts: readonly NodePart[], removed: ReadonlySet<string>): readonly Large[] {
  const images = new Map<string, Large>();
  for (const { name: node, images: list = [], space } of parts)
    for (const image of list) {
      const { id, tags, digests } = image;
      const bytes = bytesOfImage(image, space);
      const known = images.get(id) ?? {
        name: tags[0] ?? digests[0] ?? id,
        bytes,
        nodes: 0,
        removedOn: 0,
      };
      const isRemoved = removed.has(objectKey({ kind: 'Image', id, node }));
      const removedOn = known.removedOn + (isRemoved ? 1 : 0);
      images.set(id, { ...known, nodes: known.nodes + 1, removedOn });
    }
  return [...images.values()].toSorted((a, b) => b.bytes - a.bytes).slice(0, largest);
}

const logsOf = ({ name: node, logs }: NodePart) =>
  (logs?.entries ?? []).map((entry) => ({ ...entry, node, root: `${logs?.roots.pods ?? ''}/` }));

function largestLogs(parts: readonly NodePart[], isShown: IsShown): readonly Large[] {
  const logs = new Map<string, number>();
  for (const { node, root, path, bytes } of parts.flatMap(logsOf)) {
    const directory = path.slice(root.length).split('/')[0] ?? '';
    const name = `${directory} on ${node}`;
    const [namespace = '', pod = ''] = directory.split('_');
    if (path.startsWith(root) && isShown(`${namespace}/${pod}`))
      logs.set(name, (logs.get(name) ?? 0) + bytes);
  }
  return [...logs]
    .map(([name, bytes]) => ({ name, bytes, nodes: 1, removedOn: 0 }))
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, largest);
}

/** Of images with shared layers what their removal frees, after those that are removed or due before. */
function dueOf(decisions: readonly Decision[], parts: readonly NodePart[], now: Date) {
  const until = now.getTime() + dueDays * 86_400_000;
  const waiting = decisions.filter(
    ({ order, eligibleAt }) => order === null && eligibleAt !== null && Date.parse(eligibleAt) <= until,
  );
  const gone = decisions.filter(({ order }) => order !== null);
  return [...Map.groupBy(waiting, ({ eligibleAt }) => (eligibleAt ?? '').slice(0, 10))]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, list]) => {
      const bytes = freedBy(list, gone, parts);
      gone.push(...list);
      return { day, objects: list.length, bytes };
    });
}

function freedBy(list: readonly Decision[], gone: readonly Decision[], parts: readonly NodePart[]): number {
  const spaces = new Map(parts.map(({ name, space }) => [name, space]));
  const imagesOn = (some: readonly Decision[], node: string) =>
    some.flatMap(({ object, bytes }) =>
      object.kind === 'Image' && object.node === node
        ? [{ target: { id: object.id ?? '' }, bytes: bytes ?? 0 }]
        : [],
    );
  const byNode = Map.groupBy(list, ({ object }) => (object.kind === 'Image' ? object.node : undefined));
  return sum(
    [...byNode].map(([node, some]) => {
      if (node === undefined) return sum(some.map(({ bytes }) => bytes ?? 0));
      const before = new Set(imagesOn(gone, node).map(({ target }) => target.id));
      return freedByAll(imagesOn(some, node), spaces.get(node), before);
    }),
  );
}

export const policyTexts = (plan: PlanDocument): readonly string[] =>
  plan.policies.map(({ name, mode, planned }) => {
    const unknown = unknownOf(plan, name);
    if (unknown !== undefined && planned === 0) return `${name}, in mode ${mode}: ${unknown}.`;
    const removals = `${unknown === undefined ? '' : 'at least '}${counted(planned, 'removal')}`;
    return `${name}, in mode ${mode}: ${removals}${mode === 'DryRun' ? ', none is carried out' : ''}.`;
  });
