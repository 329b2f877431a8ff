import { imageIndex } from '../../api/image-index.ts';
import type { RemovedImage } from '../../api/report/node-pass.ts';
import { imageReasons } from '../../gc/reasons/images.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import { firstOf } from '../cli/table.ts';
import { isBeginning } from './image.ts';

/** The images that dustpan removed from a node. */
export interface RemovedFrom {
  /** The node. */
  readonly name: string;
  readonly removed: readonly RemovedImage[];
}

const maxNodes = 3;

/** Says when, where and why dustpan removed an image, latest first, in one line; undefined = no node has a record of it. */
export function removedText(text: string, nodes: readonly RemovedFrom[]): string | undefined {
  const removals = nodes
    .flatMap(({ name, removed }) =>
      removed.filter((one) => isNamed(text, one)).map((one) => ({ name, ...one })),
    )
    .sort((a, b) => b.atMs - a.atMs);
  if (removals.length === 0) return undefined;
  const texts = removals.map(
    ({ name, atMs, what }) =>
      `from ${name} at ${metaTime(new Date(atMs))}${what === undefined ? '' : ` (${what.reason}, GCPolicy ${what.policy})`}`,
  );
  const reasons = new Set(removals.flatMap(({ what }) => (what === undefined ? [] : [what.reason])));
  const meanings = [...reasons]
    .flatMap((reason) => meaningOf[reason] ?? [])
    .map(({ meaning }) => ` ${meaning}`);
  return `image ${text} is gone: dustpan removed it ${firstOf(texts, maxNodes)}.${meanings.join('')}`;
}

const meaningOf: Readonly<Partial<Record<string, { readonly meaning: string }>>> = imageReasons;

function isNamed(text: string, { digest: id, what }: RemovedImage): boolean {
  const name = what?.name;
  const names = name === undefined ? {} : name.includes('@') ? { digests: [name] } : { tags: [name] };
  return (
    isBeginning(text, id) || imageIndex([{ id, tags: [], digests: [], ...names }]).idsOf(text).length > 0
  );
}
