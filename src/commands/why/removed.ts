import { imageIndex } from '../../api/image-index.ts';
import type { PodRef } from '../../api/pod-ref.ts';
import type { RemovedObject } from '../../api/report/node-pass.ts';
import { containerReasons } from '../../gc/reasons/containers.ts';
import { imageReasons } from '../../gc/reasons/images.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import { shortSizeText } from '../../runtime/text/size-text.ts';
import { firstOf } from '../cli/table.ts';
import { isAtOrBelow } from './container.ts';
import { isBeginning } from './image.ts';
import type { NodeQuestion } from './question.ts';
import { kindText } from './table.ts';

/** The objects that dustpan removed from a node. */
export interface RemovedFrom {
  /** The node. */
  readonly name: string;
  readonly removed: readonly RemovedObject[];
}

const maxRemovals = 3;

/** Says when, where and why dustpan removed an object, latest first, in one line; undefined = no node has a record of it. */
export function removedText(question: NodeQuestion, nodes: readonly RemovedFrom[]): string | undefined {
  const removals = nodes
    .flatMap(({ name: node, removed }) =>
      removed.filter((one) => isNamed(question, one)).map((one) => ({ ...one, node })),
    )
    .sort((a, b) => b.atMs - a.atMs);
  const [latest] = removals;
  if (latest === undefined) return undefined;
  const texts = removals.map(
    (one) => `from ${one.node} at ${metaTime(new Date(one.atMs))}${detailText(one)}`,
  );
  const meanings = new Set(removals.flatMap((one) => meaningOf(one)?.meaning ?? []));
  const subject = isPath(question) ? question.text : `${nounOf(latest)} ${question.text}`;
  return [`${subject} is gone: dustpan removed it ${firstOf(texts, maxRemovals)}.`, ...meanings].join(' ');
}

const isPath = ({ text }: NodeQuestion): boolean => text.startsWith('/');

/** What is below a removed directory was removed with it. */
function isNamed(question: NodeQuestion, { kind, id, name }: RemovedObject): boolean {
  const { text } = question;
  if (question.kind === 'image') return kind === 'Image' && isImage(text, id, name);
  if (kind === 'Image') return false;
  return isPath(question) ? isAtOrBelow(text, id) : id.startsWith(text);
}

function isImage(text: string, id: string, name: string | undefined): boolean {
  const names = name === undefined ? {} : name.includes('@') ? { digests: [name] } : { tags: [name] };
  return (
    isBeginning(text, id) || imageIndex([{ id, tags: [], digests: [], ...names }]).idsOf(text).length > 0
  );
}

const nounOf = ({ kind }: RemovedObject): string => kindText[kind].toLowerCase();

/** ` (container main of pod web/api, DeadContainer, GCPolicy nodes)`; '' = nothing is known. */
function detailText(removed: RemovedObject): string {
  const { kind, bytes, reason, policy } = removed;
  const details = [
    ...(kind === 'Image' ? [] : [ownerText(removed)]),
    ...(bytes === undefined ? [] : [shortSizeText(bytes)]),
    ...(reason === '' ? [] : [reason, `GCPolicy ${policy}`]),
  ];
  return details.length === 0 ? '' : ` (${details.join(', ')})`;
}

function ownerText(removed: RemovedObject): string {
  const { name, pod } = removed;
  return [
    nounOf(removed),
    ...(name === undefined ? [] : [name]),
    ...(pod === undefined ? [] : ['of pod', podName(pod)]),
  ].join(' ');
}

const podName = ({ uid, namespace, name }: PodRef): string =>
  namespace === undefined || name === undefined ? uid : `${namespace}/${name}`;

type Meanings = Readonly<Partial<Record<string, { readonly meaning: string }>>>;

function meaningOf({ kind, reason }: RemovedObject): Meanings[string] {
  const meanings: Meanings = kind === 'Image' ? imageReasons : containerReasons;
  return meanings[reason];
}
