import { createHash, randomUUID } from 'node:crypto';
import { normaliseReference, parseImageReference, repositoryOf } from '../../../src/api/image-reference.ts';
import type { Flavour } from './flavour.ts';
import type { SimImage } from './facts.ts';

export interface ImageSpec {
  readonly id?: string;
  /** Full references or short ones (`nginx`). */
  readonly tags?: readonly string[];
  readonly digests?: readonly string[];
  readonly sizeBytes?: number;
  readonly pinned?: boolean;
  readonly isArtifact?: boolean;
}

const defaultSizeBytes = 10_000_000;

const newDigest = (): string => `sha256:${createHash('sha256').update(randomUUID()).digest('hex')}`;

/** The images of the node. An id that is added twice is listed twice, as in some runtimes. */
export class ImageStore {
  #images: SimImage[] = [];
  readonly #flavour: Flavour;

  constructor(flavour: Flavour) {
    this.#flavour = flavour;
  }

  get all(): readonly SimImage[] {
    return this.#images;
  }

  /** Moves a tag from another image to this one, like a pull. */
  add(spec: ImageSpec): SimImage {
    const digest = newDigest();
    const image: SimImage = {
      id: this.#idOf(spec.id ?? (spec.isArtifact === true ? digest : newDigest())),
      tags: [],
      digests: [...(spec.digests ?? (this.#flavour === 'cri-o' ? digestNames(spec.tags, digest) : []))],
      sizeBytes: spec.sizeBytes ?? defaultSizeBytes,
      pinned: spec.pinned ?? false,
      isArtifact: spec.isArtifact ?? false,
    };
    this.#images.push(image);
    for (const tag of spec.tags ?? []) this.#tag(image, tag);
    return image;
  }

  #tag(image: SimImage, tag: string): void {
    const whole = normaliseReference(tag);
    for (const other of this.#images) {
      if (other.id !== image.id) other.tags = other.tags.filter((name) => name !== whole);
    }
    if (!image.tags.includes(whole)) image.tags.push(whole);
  }

  /** Finds an image by id, tag or digest. */
  resolve(reference: string): SimImage | undefined {
    if (reference === '') return undefined;
    const named = this.#images.find(({ id }) => id === reference);
    if (named !== undefined) return named;
    const whole = normaliseReference(reference);
    return this.#images.find(({ tags, digests }) => tags.includes(whole) || digests.includes(whole));
  }

  /** Removes all entries of an id. */
  remove(id: string): void {
    this.#images = this.#images.filter((image) => image.id !== id);
  }

  removeEntry(entry: SimImage): void {
    this.#images = this.#images.filter((image) => image !== entry);
  }

  /** CRI-O lists ids without their algorithm. */
  #idOf(id: string): string {
    return this.#flavour === 'cri-o' ? id.replace(/^sha256:/, '') : id;
  }
}

/** CRI-O names an image by its digest in each repository of its tags, even if no registry has it there. */
function digestNames(tags: readonly string[] = [], digest: string): readonly string[] {
  const repositories = tags.flatMap((tag) => {
    const parsed = parseImageReference(tag);
    return parsed === undefined ? [] : [repositoryOf(parsed)];
  });
  return [...new Set(repositories)].map((repository) => `${repository}@${digest}`);
}
