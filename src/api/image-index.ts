import { oncePer } from '../runtime/once-per.ts';
import {
  canonicalReference,
  parseImageReference,
  repositoryOf,
  type ImageReference,
  type NamedImage,
} from './image-reference.ts';

/** Finds images by any text that may name one: an id, the beginning of an id, a tag, a digest. */
export interface ImageIndex {
  /** The ids of all images. */
  readonly ids: ReadonlySet<string>;
  /** Returns the ids of all images that the text may name, in doubt one too many. */
  idsOf(text: string): readonly string[];
  /**
   * The same for the reference of an image in use, '' for none: unless it is a listed id or digest, the image may be any that has no digest.
   */
  idsInUse(reference: string): readonly string[];
}

/** Builds an index of these images, once for each list. Each is parsed once. */
export const imageIndex = oncePer((images: readonly NamedImage[]): ImageIndex => {
  const maps = new Names();
  for (const image of images) maps.add(image);
  return {
    ids: maps.ids,
    idsOf: (text) => maps.find(text),
    idsInUse: (reference) => maps.findInUse(reference),
  };
});

/** The length that Docker shows: long enough to be no accident. */
const bareId = /^[0-9a-f]{12,}$/;
const idWithAlgorithm = /^sha256:[0-9a-f]+$/;
/** CRI-O lists ids without this prefix. */
const algorithm = 'sha256:';
const withoutAlgorithm = (id: string): string => (id.startsWith(algorithm) ? id.slice(algorithm.length) : id);
/** How the old Docker runtime wrote image references. */
const scheme = /^[a-z]+(-[a-z]+)*:\/\//;

type Ids = Map<string, Set<string>>;

class Names {
  readonly ids = new Set<string>();
  /** Names as the runtime writes them, and normalised. */
  readonly #byName: Ids = new Map();
  /** Keyed by the digest alone, because the same image may come from a mirror with another name. */
  readonly #byDigest: Ids = new Map();
  readonly #undigested = new Set<string>();
  /** Images without a known digest, by repository: a digest may name one of them. */
  readonly #withoutDigest: Ids = new Map();
  /** Keyed by path and tag or digest, in any registry. */
  readonly #byPath: Ids = new Map();
  /** Images without a known digest, by path. */
  readonly #byPathWithoutDigest: Ids = new Map();

  add({ id, tags, digests }: NamedImage): void {
    this.ids.add(id);
    put(this.#byDigest, algorithm + withoutAlgorithm(id), id);
    if (digests.length === 0) this.#undigested.add(id);
    for (const name of [...tags, ...digests]) {
      put(this.#byName, name, id);
      const reference = parseImageReference(name);
      if (reference === undefined) continue;
      put(this.#byName, canonicalReference(reference), id);
      put(this.#byPath, pathOf(reference), id);
      if (reference.digest !== undefined) put(this.#byDigest, reference.digest, id);
      else if (digests.length === 0) {
        put(this.#withoutDigest, repositoryOf(reference), id);
        put(this.#byPathWithoutDigest, barePath(reference), id);
      }
    }
  }

  find(given: string): readonly string[] {
    const text = bare(given);
    if (text === '') return [];
    const digested = this.#byDigest.get(text) ?? [];
    const found = new Set([...this.#byId(text), ...digested, ...(this.#byName.get(text) ?? [])]);
    const reference = parseImageReference(text);
    if (reference === undefined) return [...found];
    for (const id of this.#exact(reference)) found.add(id);
    if (!reference.isQualified) for (const id of this.#inAnyRegistry(reference)) found.add(id);
    return [...found];
  }

  findInUse(given: string): readonly string[] {
    const text = bare(given);
    const found = this.find(text);
    if (text === '') return found;
    const isListed = this.#byId(text).length > 0 || this.#byDigest.has(digestIn(text));
    return isListed ? found : [...found, ...this.#undigested];
  }

  #byId(text: string): readonly string[] {
    if (this.ids.has(text)) return [text];
    if (!idWithAlgorithm.test(text) && !bareId.test(text)) return [];
    const start = withoutAlgorithm(text);
    return [...this.ids].filter((id) => withoutAlgorithm(id).startsWith(start));
  }

  #exact(reference: ImageReference): readonly string[] {
    if (reference.digest === undefined) return [...(this.#byName.get(canonicalReference(reference)) ?? [])];
    return [
      ...(this.#byDigest.get(reference.digest) ?? []),
      ...(this.#withoutDigest.get(repositoryOf(reference)) ?? []),
    ];
  }

  /** CRI-O completes a short name from the search registries of its configuration, so the image may be in any registry. */
  #inAnyRegistry(reference: ImageReference): readonly string[] {
    const named = this.#byPath.get(pathOf(reference)) ?? [];
    if (reference.digest === undefined) return [...named];
    return [...named, ...(this.#byPathWithoutDigest.get(barePath(reference)) ?? [])];
  }
}

const bare = (text: string): string => text.trim().replace(scheme, '');

/** Of `name@digest`, or the digest alone. */
const digestIn = (reference: string): string => reference.slice(reference.indexOf('@') + 1);

function put(map: Ids, key: string, id: string): void {
  const ids = map.get(key);
  if (ids === undefined) map.set(key, new Set([id]));
  else ids.add(id);
}

function pathOf(reference: ImageReference): string {
  const { tag = 'latest', digest } = reference;
  return `${barePath(reference)}${digest === undefined ? `:${tag}` : `@${digest}`}`;
}

/** The path without the `library/` that docker.io adds to a single component. */
const barePath = ({ path }: ImageReference): string =>
  path.startsWith('library/') ? path.slice('library/'.length) : path;
