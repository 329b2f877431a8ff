import { parseImageReference } from '../../../src/api/image-reference.ts';
import {
  indexType,
  jsonBlob,
  make,
  manifestType,
  otherArchitecture,
  ownArchitecture,
  type Blob,
  type BuiltImage,
  type ImageSpec,
} from './image.ts';

/** Pushes an image by the API of distribution under its reference and its further tags, as `docker push` does; `url` is the registry. */
export async function push(url: string, spec: ImageSpec): Promise<BuiltImage> {
  const { built, blobs, manifest } = make(spec);
  for (const ref of [spec.ref, ...(spec.tags ?? [])]) {
    const { repository, tag } = placeOf(url, ref);
    for (const blob of blobs) await pushBlob(repository, blob);
    await pushManifest(repository, { ...manifest, name: tag, type: manifestType });
  }
  return built;
}

/** An image for two architectures. */
interface PushedIndex {
  /** The digest of the index. */
  readonly digest: string;
  /** The image for this machine. */
  readonly own: BuiltImage;
  readonly other: BuiltImage;
}

/** Pushes an index of two images: one for this machine, and one that it cannot run. */
export async function pushIndex(url: string, spec: ImageSpec): Promise<PushedIndex> {
  const { repository, tag } = placeOf(url, spec.ref);
  const made = [ownArchitecture, otherArchitecture].map((architecture) => ({
    platform: { os: 'linux', architecture },
    ...make({ ...spec, architecture }),
  }));
  for (const { blobs, manifest } of made) {
    for (const blob of blobs) await pushBlob(repository, blob);
    await pushManifest(repository, { ...manifest, name: manifest.digest, type: manifestType });
  }
  const index = jsonBlob({
    schemaVersion: 2,
    mediaType: indexType,
    manifests: made.map(({ entry, platform }) => ({ ...entry, platform })),
  });
  await pushManifest(repository, { ...index, name: tag, type: indexType });
  const [own, other] = made.map(({ built }) => built);
  if (!own || !other) throw new Error('no images were built');
  return { digest: index.digest, own, other };
}

interface Place {
  /** URL of the repository. */
  readonly repository: string;
  readonly tag: string;
}

/** The one registry of a jail serves the images of all: only the path counts. */
function placeOf(url: string, ref: string): Place {
  const { path = '', tag = 'latest' } = parseImageReference(ref) ?? {};
  return { repository: `${url}/v2/${path}`, tag };
}

async function pushBlob(repository: string, { digest, data }: Blob): Promise<void> {
  const { headers } = await send(`${repository}/blobs/uploads/`, { method: 'POST' });
  const upload = new URL(headers.get('location') ?? '', repository);
  upload.searchParams.set('digest', digest);
  await send(upload, { method: 'PUT', body: new Uint8Array(data) });
}

interface Manifest extends Blob {
  /** A tag or its digest. */
  readonly name: string;
  readonly type: string;
}

async function pushManifest(repository: string, { name, type, data }: Manifest): Promise<void> {
  const headers = { 'content-type': type };
  await send(`${repository}/manifests/${name}`, { method: 'PUT', headers, body: new Uint8Array(data) });
}

async function send(url: string | URL, request: RequestInit): Promise<Response> {
  const response = await fetch(url, request);
  const text = await response.text();
  if (!response.ok)
    throw new Error(`${request.method ?? ''} ${url.toString()}: ${response.status} ${text.trim()}`);
  return response;
}
