import { createHash, randomUUID } from 'node:crypto';
import type { SimImage } from './facts.ts';

/** What a test says of an image; the rest is made up. */
export interface ImageSpec {
  readonly id?: string;
  /** Whole references or short ones (`nginx`). */
  readonly tags?: readonly string[];
  readonly digests?: readonly string[];
  readonly sizeBytes?: number;
  readonly pinned?: boolean;
  readonly runtimeHandler?: string;
}

const defaultSizeBytes = 10_000_000;

/** `nginx` → `docker.io/library/nginx:latest`, as runtimes name it. */
function wholeReference(reference: string): string {
  const [name = '', digest] = reference.split('@');
  const parts = name.split('/');
  const [first = ''] = parts;
  const hasHost = parts.length > 1 && (/[.:]/.test(first) || first === 'localhost');
  const path = hasHost ? name : `docker.io/${parts.length === 1 ? 'library/' : ''}${name}`;
  if (digest !== undefined) return `${path}@${digest}`;
  return path.slice(path.lastIndexOf('/')).includes(':') ? path : `${path}:latest`;
}

/** The images of the node. One id may stand in it twice, as with some runtimes, when it is added twice. */
export class ImageStore {
  #images: SimImage[] = [];

  get all(): readonly SimImage[] {
    return this.#images;
  }

  /** A tag that another image has moves to this one, as with a pull. */
  add(spec: ImageSpec): SimImage {
    const image: SimImage = {
      id: spec.id ?? `sha256:${createHash('sha256').update(randomUUID()).digest('hex')}`,
      tags: [],
      digests: [...(spec.digests ?? [])],
      sizeBytes: spec.sizeBytes ?? defaultSizeBytes,
      pinned: spec.pinned ?? false,
      runtimeHandler: spec.runtimeHandler ?? '',
    };
    this.#images.push(image);
    for (const tag of spec.tags ?? []) this.tag(image, tag);
    return image;
  }

  tag(image: SimImage, tag: string): void {
    const whole = wholeReference(tag);
    for (const other of this.#images) {
      if (other.id !== image.id) other.tags = other.tags.filter((name) => name !== whole);
    }
    if (!image.tags.includes(whole)) image.tags.push(whole);
  }

  /** By id, cut id, tag or digest. */
  resolve(reference: string): SimImage | undefined {
    if (reference === '') return undefined;
    const named = this.#images.find(({ id }) => id === reference);
    if (named !== undefined) return named;
    const whole = wholeReference(reference);
    const byName = this.#images.find(({ tags, digests }) => tags.includes(whole) || digests.includes(whole));
    return byName ?? this.#byCutId(reference);
  }

  /** All entries of an id go, with all names. */
  remove(id: string): void {
    this.#images = this.#images.filter((image) => image.id !== id);
  }

  #byCutId(reference: string): SimImage | undefined {
    const digits = reference.replace(/^sha256:/, '');
    if (!/^[0-9a-f]{3,64}$/.test(digits)) return undefined;
    const hits = this.#images.filter(({ id }) => id.replace(/^sha256:/, '').startsWith(digits));
    return new Set(hits.map(({ id }) => id)).size === 1 ? hits[0] : undefined;
  }
}
