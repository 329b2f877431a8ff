import type { Cluster } from '../servers/cluster.ts';
import { criResponse, crictl } from '../node/crictl.ts';
import { push, pushIndex } from '../node/push.ts';

/** A registry that is named in references; containerd pulls from the jail's in its place. */
export const host = 'registry.test:5000';

/** One way to write a reference: with the tag, the digest, or both. */
type Way = 'tag' | 'digest' | 'both';

interface Form {
  readonly pulledBy: readonly Way[];
  readonly namedBy: Way;
  /** The registry in references; '' = none. */
  readonly registry?: '';
  /** The digest is that of an index, or that of this machine's image in an index. */
  readonly of?: 'index' | 'platform';
  /** Further tags that are pulled; the last one is named. */
  readonly tags?: readonly string[];
}

/** The forms of references that pods have, each for an image of its own. */
const forms: Readonly<Record<string, Form>> = {
  tag: { pulledBy: ['tag'], namedBy: 'tag' },
  digest: { pulledBy: ['digest'], namedBy: 'digest' },
  both: { pulledBy: ['both'], namedBy: 'both' },
  'tag-by-digest': { pulledBy: ['tag'], namedBy: 'digest' },
  'tag-by-both': { pulledBy: ['tag'], namedBy: 'both' },
  'digest-by-both': { pulledBy: ['digest'], namedBy: 'both' },
  'digest-and-tag': { pulledBy: ['digest', 'tag'], namedBy: 'tag' },
  'two-tags': { pulledBy: ['tag'], namedBy: 'tag', tags: ['2', '3'] },
  index: { pulledBy: ['tag'], namedBy: 'tag', of: 'index' },
  'index-by-digest': { pulledBy: ['tag'], namedBy: 'digest', of: 'index' },
  platform: { pulledBy: ['digest'], namedBy: 'digest', of: 'platform' },
  short: { pulledBy: ['tag'], namedBy: 'tag', registry: '' },
  'short-digest': { pulledBy: ['tag'], namedBy: 'digest', registry: '' },
};

interface PulledImage {
  readonly id: string;
  /** As a user writes it. */
  readonly reference: string;
  /** Tags, then digests, as the runtime should list them. */
  readonly names: readonly string[];
}

/** By the name of the form. */
export type PulledImages = Readonly<Record<string, PulledImage>>;

/** Pushes an image of each form below this prefix, and pulls it by CRI. */
export async function pullAll(cluster: Cluster, prefix: string): Promise<PulledImages> {
  const pulled: Record<string, PulledImage> = {};
  for (const [name, form] of Object.entries(forms))
    pulled[name] = await pull(cluster, `${prefix}/${name}`, form);
  return pulled;
}

export function formOf(images: PulledImages, name: string): PulledImage {
  const image = images[name];
  if (image === undefined) throw new Error(`no form ${name}`);
  return image;
}

async function pull(cluster: Cluster, path: string, form: Form): Promise<PulledImage> {
  const { pulledBy, namedBy, registry = `${host}/`, of, tags = [] } = form;
  const repository = `${registry}${path}`;
  const { id, digest } = await pushAs(cluster.registryUrl, `${repository}:1`, { of, tags });
  const written = (way: Way, tag = '1'): string =>
    `${repository}${way === 'digest' ? '' : `:${tag}`}${way === 'tag' ? '' : `@${digest}`}`;
  for (const way of pulledBy) await crictl(cluster, 'pull', written(way));
  for (const tag of tags) await crictl(cluster, 'pull', written('tag', tag));
  const listed = registry === '' ? `docker.io/${path}` : repository;
  const listedTags = pulledBy.includes('tag') ? ['1', ...tags] : [];
  return {
    id,
    reference: written(namedBy, tags.at(-1)),
    names: [...listedTags.map((tag) => `${listed}:${tag}`), `${listed}@${digest}`],
  };
}

async function pushAs(
  url: string,
  ref: string,
  { of, tags }: { readonly of: Form['of']; readonly tags: readonly string[] },
): Promise<{ readonly id: string; readonly digest: string }> {
  if (of === undefined) return await push(url, { ref, tags: tags.map((tag) => ref.replace(/1$/, tag)) });
  const { own, digest } = await pushIndex(url, { ref });
  return { id: own.id, digest: of === 'index' ? digest : own.digest };
}

/** The names of each image by its id: tags, then digests. */
export async function imageNames(cluster: Cluster): Promise<Readonly<Record<string, readonly string[]>>> {
  interface Listing {
    readonly images: { id: string; repoTags: string[]; repoDigests: string[] }[];
  }
  const { images } = await criResponse<Listing>(cluster, 'images');
  return Object.fromEntries(
    images.map(({ id, repoTags, repoDigests }) => [id, [...repoTags.sort(), ...repoDigests.sort()]]),
  );
}
