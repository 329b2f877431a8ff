import { imageIndex } from '../../api/image-index.ts';
import { parseImageReference, repositoryOf } from '../../api/image-reference.ts';
import type { RuntimeImage } from '../../cri/runtime.ts';
import { nearest } from '../../runtime/text/nearest.ts';
import type { NodePart, PlanFacts } from '../../snapshot/plan-facts.ts';
import { shortId } from '../../process/table.ts';
import type { NodeQuestion } from './question.ts';
import { ambiguous, askedObject, missing, namesOf, unread, type Target } from './found.ts';

/** Finds an image on each node that has it: by a name as in the spec of a pod, by a digest, or by the beginning of its id. */
export function findImage(question: NodeQuestion, facts: PlanFacts): Target {
  const { text } = question;
  const known = facts.parts.filter(({ images }) => images !== undefined);
  if (known.length === 0) return unread(`the images of ${namesOf(facts.parts)} are not known`);
  const found = known.map((part) => ({ part, ids: idsOf(text, part.images ?? []) }));
  const ids = new Set(found.flatMap((part) => part.ids));
  if (ids.size === 0) {
    const message = `there is no image ${text} on ${namesOf(known)}`;
    const others = facts.parts.filter(({ images }) => images === undefined);
    return others.length === 0
      ? missing(`${message}${hint(text, known)}`)
      : unread(`${message}; those of ${namesOf(others)} are not known`);
  }
  const byId = [...ids].filter((id) => isBeginning(text, id));
  if (byId.length > 1)
    return ambiguous(
      text,
      byId.map((id) => describe(id, known)),
    );
  return {
    kind: 'found',
    object: askedObject(question),
    facts: { ...facts, parts: found.filter((part) => part.ids.length > 0).map(({ part }) => part) },
    only: (object) => object.kind === 'Image' && ids.has(object.id ?? ''),
  };
}

function idsOf(text: string, images: readonly RuntimeImage[]): readonly string[] {
  const named = imageIndex(images).idsOf(text);
  if (named.length > 0) return named;
  return images.flatMap(({ id }) => (isBeginning(text, id) ? [id] : []));
}

const idForm = /^(sha256:)?[0-9a-f]{4,}$/;
const bare = (id: string): string => id.replace(/^sha256:/, '');
export const isBeginning = (text: string, id: string): boolean =>
  idForm.test(text) && bare(id).startsWith(bare(text));

function describe(id: string, parts: readonly NodePart[]): string {
  const image = parts.flatMap(({ images = [] }) => images).find((listed) => listed.id === id);
  const name = image?.tags[0] ?? image?.digests[0];
  return `${shortId(id)}${name === undefined ? '' : ` (${name})`}`;
}

/** Shorter texts occur in every name. */
const minGuessed = 3;

/** Most often, the tag is missing or wrong. */
function hint(text: string, parts: readonly NodePart[]): string {
  const tags = [...new Set(parts.flatMap(({ images = [] }) => images.flatMap((image) => image.tags)))];
  const wanted = parseImageReference(text);
  const siblings = tags.filter((tag) => {
    const reference = parseImageReference(tag);
    return (
      wanted !== undefined && reference !== undefined && repositoryOf(reference) === repositoryOf(wanted)
    );
  });
  const alike =
    siblings.length > 0 ? siblings : tags.filter((tag) => text.length >= minGuessed && tag.includes(text));
  const guess = alike.length > 0 ? alike.slice(0, 3).join(' or ') : nearest(text, tags);
  return guess === undefined
    ? '; dustpan plan --kept lists those that are there'
    : `; did you mean ${guess}?`;
}
