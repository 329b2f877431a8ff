import { imageIndex } from '../../api/image-index.ts';
import { containerReasons } from '../../agent/containergc/words.ts';
import { imageReasons } from '../../agent/imagegc/words.ts';
import { leftoverReasons } from '../../agent/leftovers/words.ts';
import { podReasons } from '../../controllers/podgc/words.ts';
import type { RemovedObject } from '../../kube/cache/removed-objects.ts';
import type { Collection } from '../../kube/events/collected-events.ts';
import type { RemovedImage } from '../../node/disk/state-format.ts';
import { isAtOrBelow } from '../../node/storage/mounts.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import type { PlanObject } from '../plan/document.ts';
import type { AskedPod } from './found.ts';
import { isBeginning } from './image.ts';
import type { NodeQuestion } from './question.ts';

/** One record that dustpan removed the object, as `why -o json` prints it: fields are added, never renamed. */
export interface Removal {
  readonly verdict: 'Delete' | 'Remove' | 'Evict';
  readonly at: string;
  readonly object: Exclude<PlanObject, { kind: 'Pod' }> | AskedPod;
  /** null = it was not recorded. */
  readonly reason: string | null;
  /** null = it was not recorded. */
  readonly policy: string | null;
  readonly bytes: number | null;
  /** The meaning of the reason for any object; null = unknown. */
  readonly sentence: string | null;
  readonly evidence: string;
}

export interface RemovedFrom {
  readonly name: string;
  readonly removed: readonly RemovedObject[];
}

/** A removal as the state file of a node records it. */
export function removedImage({ digest, atMs, what }: RemovedImage): RemovedObject {
  const { name, reason = '', policy = '' } = what ?? {};
  return { kind: 'Image', id: digest, name, pod: undefined, reason, policy, bytes: undefined, atMs };
}

/** The removals of an object, latest first, as the nodes recorded them. */
export function removalsOf(question: NodeQuestion, nodes: readonly RemovedFrom[]): readonly Removal[] {
  return nodes
    .filter(({ name }) => (question.node ?? name) === name)
    .flatMap(({ name: node, removed }) =>
      removed.filter((object) => isNamed(question, object)).map((object) => ({ ...object, node })),
    )
    .toSorted((a, b) => b.atMs - a.atMs)
    .map((object) => removalOf(object, question));
}

const isPath = (text: string): boolean => text.startsWith('/');

/** What is below a removed directory was removed with it. */
function isNamed(question: NodeQuestion, { kind, id, name }: RemovedObject): boolean {
  const { text } = question;
  if (question.kind === 'node') return false;
  if (question.kind === 'image') return kind === 'Image' && isImage(text, id, name);
  if (kind === 'Image') return false;
  if (kind === 'Leftover') return text === id;
  return isPath(text) ? isAtOrBelow(text, id) : id.startsWith(text);
}

function isImage(text: string, id: string, name: string | undefined): boolean {
  const names = name === undefined ? {} : name.includes('@') ? { digests: [name] } : { tags: [name] };
  return (
    isBeginning(text, id) || imageIndex([{ id, tags: [], digests: [], ...names }]).idsOf(text).length > 0
  );
}

type RemovedThere = RemovedObject & { readonly node: string };

function removalOf(removed: RemovedThere, { text }: NodeQuestion): Removal {
  const { kind, id, reason, policy, bytes = null, atMs, node } = removed;
  const meanings: Meanings =
    kind === 'Image' ? imageReasons : kind === 'Leftover' ? leftoverReasons : containerReasons;
  const isInside = isPath(id) && text !== id;
  return {
    verdict: 'Remove',
    at: metaTime(new Date(atMs)),
    object: objectOf(removed),
    reason: reason || null,
    policy: policy || null,
    bytes,
    sentence: meanings[reason]?.meaning ?? null,
    evidence: `${isInside ? `It contained ${text}. ` : ''}The agent of ${node} recorded the removal.`,
  };
}

function objectOf({ kind, id, name, pod, node }: RemovedThere): Removal['object'] {
  const named = name === undefined ? {} : { name };
  const owned =
    pod?.namespace === undefined || pod.name === undefined ? {} : { pod: `${pod.namespace}/${pod.name}` };
  return { kind, node, ...(isPath(id) ? { path: id } : { id }), ...named, ...owned };
}

type Meanings = Readonly<Partial<Record<string, { readonly meaning: string }>>>;

export function podRemovalOf({ verb, at, reason, policy, owner, note }: Collection, pod: AskedPod): Removal {
  const meanings: Meanings = podReasons;
  return {
    verdict: verb === 'deleted' ? 'Delete' : 'Evict',
    at: at.replace(/\.\d+/, ''),
    object: pod,
    reason: reason ?? null,
    policy: policy ?? null,
    bytes: null,
    sentence: reason === undefined ? null : (meanings[reason]?.meaning ?? null),
    evidence: `Event on ${owner.kind} ${owner.name}: ${note}`,
  };
}
