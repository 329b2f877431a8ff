import { globMatcher } from '../runtime/text/glob.ts';

/** The id and the names of an image. */
export interface NamedImage {
  /** The digest of its configuration, `sha256:…`. */
  readonly id: string;
  /** References with a tag. */
  readonly tags: readonly string[];
  /** References with a digest. */
  readonly digests: readonly string[];
}

/** A parsed reference: `registry:5000/a/b:tag@sha256:…`. */
export interface ImageReference {
  /** Host with port; default `docker.io`. */
  readonly domain: string;
  /** The path after the domain, including `library/`. */
  readonly path: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
  /** False: the registry is the default, and a runtime with search registries may use another. */
  readonly isQualified: boolean;
}

const defaultDomain = 'docker.io';
/** Docker's old name of its own registry. */
const oldDefaultDomain = 'index.docker.io';

/**
 * Parses a reference by the rules of distribution: the first component is a registry only with a dot, a port, an upper-case letter, or as
 * `localhost`. undefined = not a reference.
 */
export function parseImageReference(text: string): ImageReference | undefined {
  const { name, tag, digest } = split(text.trim());
  if (!isName(name) || tag === '' || digest === '') return undefined;
  const { domain, path } = splitDomain(name);
  if (path.includes(':')) return undefined;
  const isDefault = domain === undefined || domain === oldDefaultDomain || domain === defaultDomain;
  return {
    domain: isDefault ? defaultDomain : domain,
    path: isDefault && !path.includes('/') ? `library/${path}` : path,
    tag,
    digest,
    isQualified: domain !== undefined,
  };
}

const isName = (name: string): boolean =>
  name !== '' && !name.startsWith('/') && !name.endsWith('/') && !/[\s<>@]/.test(name);

interface Parts {
  readonly name: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

/** A colon before the last slash belongs to a port, else to a tag. */
function split(text: string): Parts {
  const at = text.indexOf('@');
  const named = at < 0 ? text : text.slice(0, at);
  const digest = at < 0 ? undefined : text.slice(at + 1).toLowerCase();
  const colon = named.lastIndexOf(':');
  if (colon <= named.lastIndexOf('/')) return { name: named, tag: undefined, digest };
  return { name: named.slice(0, colon), tag: named.slice(colon + 1), digest };
}

function splitDomain(name: string): { readonly domain: string | undefined; readonly path: string } {
  const slash = name.indexOf('/');
  if (slash < 0) return { domain: undefined, path: name };
  const first = name.slice(0, slash);
  const isDomain = /[.:A-Z]/.test(first) || first === 'localhost';
  return isDomain ? { domain: first, path: name.slice(slash + 1) } : { domain: undefined, path: name };
}

/** Registry and path. */
export const repositoryOf = ({ domain, path }: Pick<ImageReference, 'domain' | 'path'>): string =>
  `${domain}/${path}`;

/** Full reference with registry and tag: `nginx` = `docker.io/library/nginx:latest`. A digest takes precedence over a tag, as in a runtime's pull. */
export function canonicalReference(reference: ImageReference): string {
  const { tag = 'latest', digest } = reference;
  return `${repositoryOf(reference)}${digest === undefined ? `:${tag}` : `@${digest}`}`;
}

/** The canonical form; other texts remain unchanged. */
export function normaliseReference(text: string): string {
  const parsed = parseImageReference(text);
  return parsed === undefined ? text : canonicalReference(parsed);
}

/** All names that a pattern may match: tags and digests, normalised and as the runtime writes them, and the id. */
function references({ tags, digests, id }: NamedImage): readonly string[] {
  const names = [...tags, ...digests];
  return [...new Set([...names.map(normaliseReference), ...names, id])];
}

/**
 * Returns a function that finds the first of the patterns that matches an image; -1 = none. A pattern matches whole references, as written and
 * normalised as names are: `nginx:*` and `docker.io/nginx:*` match every tag of docker.io/library/nginx and nothing of `nginx-extra`. Without tag or
 * digest it matches all tags and digests of its repository.
 */
export function firstPattern(patterns: readonly string[]): (image: NamedImage) => number {
  const rules = patterns.map(patternMatcher);
  return (image) => {
    if (rules.length === 0) return -1;
    const names = references(image);
    return rules.findIndex((matches) => names.some(matches));
  };
}

/** A name of an image, and the first pattern that selects it; -1 = none. */
interface SelectedName {
  readonly name: string;
  readonly index: number;
}

interface ImageSelection {
  /** The first pattern that matches a name of the image; -1 = none. */
  readonly index: number;
  /** The names that patterns must select; of an image without names its id. */
  readonly names: readonly SelectedName[];
  /** A name of the image that no pattern selects; undefined = the patterns select the image. */
  readonly unmatched: string | undefined;
}

/**
 * Returns a function that finds whether patterns select an image: they must match all of its names. A pattern with a whole digest covers the tags of
 * the repository, one with a wildcard in its digest does not; tags cover the digests of theirs. Only a whole id selects an image by its id: `*` must
 * not select one without names.
 */
export function imageSelection(patterns: readonly string[]): (image: NamedImage) => ImageSelection {
  const rules = patterns.map(patternMatcher);
  const isOfDigest = patterns.map((pattern) => wholeDigest.test(pattern));
  return ({ id, tags, digests }) => {
    const ofId = patterns.indexOf(id);
    if (ofId >= 0 || tags.length + digests.length === 0) return selection(ofId, [{ name: id, index: ofId }]);
    const named = [...tags, ...digests].map((name) => matchedName(name, rules));
    const ofDigests = named.slice(tags.length);
    const tagged = new Set(named.slice(0, tags.length).map(({ repository }) => repository));
    const names = named.filter((one, i) => i < tags.length || !tagged.has(one.repository));
    return selection(
      first(named.flatMap(({ matches }) => matches)),
      names.map(({ name, repository, matches }) => {
        const covering = ofDigests.flatMap((one) =>
          one.repository === repository ? one.matches.filter((index) => isOfDigest[index] === true) : [],
        );
        return { name, index: first([...matches, ...covering]) };
      }),
    );
  };
}

const selection = (index: number, names: readonly SelectedName[]): ImageSelection => ({
  index,
  names,
  unmatched: names.find((one) => one.index < 0)?.name,
});

const first = (indexes: readonly number[]): number => (indexes.length === 0 ? -1 : Math.min(...indexes));

/** A name of an image with its repository and all patterns that match it. */
function matchedName(name: string, rules: readonly ((name: string) => boolean)[]) {
  const reference = parseImageReference(name);
  const whole = reference === undefined ? name : canonicalReference(reference);
  const matches = rules.flatMap((matches, index) => (matches(name) || matches(whole) ? [index] : []));
  return { name, repository: reference === undefined ? name : repositoryOf(reference), matches };
}

/**
 * Returns a function that checks whether an image may have had a tag that the pattern matches: it has no tag now, and is of such a repository. A pull of
 * the same tag takes it from the older image.
 */
export function formerTag(pattern: string): (image: NamedImage) => boolean {
  const { tag, digest } = parseImageReference(pattern) ?? {};
  if (tag === undefined || digest !== undefined) return () => false;
  const isOfRepository = patternMatcher(pattern.trim().slice(0, -tag.length - 1));
  return ({ tags, digests }) =>
    tags.length === 0 &&
    digests.some((name) => isOfRepository(name) || isOfRepository(normaliseReference(name)));
}

/** Returns a function that checks whether a reference, as in the spec of a pod, matches a pattern. */
export function referenceMatcher(pattern: string): (reference: string) => boolean {
  const matches = patternMatcher(pattern);
  return (reference) => matches(reference) || matches(normaliseReference(reference));
}

/** At the end of a pattern: it names one image. */
const wholeDigest = /@\w+:[\da-f]{64,}$/i;

/** Whether a pattern is the name of one repository, without tag and digest: it matches all of them. */
export function isRepository(pattern: string): boolean {
  const { tag, digest } = parseImageReference(pattern) ?? { tag: '' };
  return tag === undefined && digest === undefined && !/[*?]/.test(pattern);
}

/** The patterns that match none of the images. */
export function patternsWithoutImage(
  patterns: readonly string[],
  images: readonly NamedImage[],
): readonly string[] {
  const names = [...new Set(images.flatMap(references))];
  return patterns.filter((pattern) => !names.some(patternMatcher(pattern)));
}

/** The patterns that select a name of none of the images, each alone. A wildcard digest selects no image that has tags. */
export function patternsThatSelectNone(
  patterns: readonly string[],
  images: readonly NamedImage[],
): readonly string[] {
  // Quick, so that the rest compares few patterns.
  const matchingNone = new Set(patternsWithoutImage(patterns, images));
  return patterns.filter((pattern) => {
    if (matchingNone.has(pattern)) return true;
    const selectionOf = imageSelection([pattern]);
    return !images.some((image) => selectionOf(image).names.some(({ index }) => index >= 0));
  });
}

function patternMatcher(pattern: string): (name: string) => boolean {
  const matchers = formsOf(pattern).map(globMatcher);
  return (name) => matchers.some((matches) => matches(name));
}

function formsOf(pattern: string): readonly string[] {
  const reference = parseImageReference(pattern);
  if (reference === undefined) return [pattern];
  const { tag, digest } = reference;
  if (tag !== undefined || digest !== undefined) return [pattern, canonicalReference(reference)];
  // `*/app` names that path in any registry, not one of docker.io alone.
  const names = [pattern.trim(), repositoryOf(reference)];
  return [pattern, ...names.flatMap((name) => [`${name}:*`, `${name}@*`])];
}
