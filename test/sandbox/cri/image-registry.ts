import { normaliseReference, parseImageReference, repositoryOf } from '../../../src/api/image-reference.ts';

/** An image of a registry. */
export interface PushedImage {
  readonly id: string;
  /** The digest of its manifest, or of the index that has its manifest. */
  readonly digest: string;
}

/** The images that a simulated runtime can pull, of every registry. */
export class ImageRegistry {
  readonly #images = new Map<string, PushedImage>();

  /** Names an image by a tag and by its digest, and moves the tag from another image. */
  push(reference: string, image: PushedImage): void {
    const parsed = parseImageReference(reference);
    if (parsed === undefined) throw new Error(`not a reference: ${reference}`);
    this.#images.set(normaliseReference(reference), image);
    this.#images.set(`${repositoryOf(parsed)}@${image.digest}`, image);
  }

  find(reference: string): PushedImage | undefined {
    return this.#images.get(normaliseReference(reference));
  }
}
