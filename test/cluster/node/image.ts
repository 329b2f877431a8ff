import { createCipheriv, createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { tar, type TarEntry } from '../../../scripts/tar.ts';

export interface ImageSpec {
  /** Full reference `bed.test/name:tag`; any tag but `latest`, which would be pulled. */
  readonly ref: string;
  /** Further references to the same image. */
  readonly tags?: readonly string[];
  /** The test bed's busybox with its commands; true by default, one layer that all images share. */
  readonly busybox?: boolean;
  /** The layer below the files, for content that many images share. */
  readonly base?: readonly TarEntry[];
  readonly files?: readonly TarEntry[];
  /** A layer of its own: `random` is as large packed as unpacked, `zeros` is packed to a thousandth. */
  readonly fill?: { readonly bytes: number; readonly kind: 'random' | 'zeros' };
  readonly entrypoint?: readonly string[];
  readonly env?: readonly string[];
  readonly user?: string;
  readonly workingDir?: string;
  /** Labels in the image's configuration; CRI reads the labels of the import. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Default: this machine's. */
  readonly architecture?: string;
}

/** The architecture of this machine, and one that it cannot run, as images name them. */
export const [ownArchitecture, otherArchitecture] =
  process.arch === 'arm64' ? (['arm64', 'amd64'] as const) : (['amd64', 'arm64'] as const);

export interface BuiltImage {
  readonly ref: string;
  /** The image ID of CRI: the digest of its configuration. */
  readonly id: string;
  /** The digest of its manifest. */
  readonly digest: string;
  /** Sizes of all layers, packed and unpacked. */
  readonly packedBytes: number;
  readonly unpackedBytes: number;
}

/** The image of every pod sandbox; imported when containerd starts. */
export const pauseImage: ImageSpec = { ref: 'bed.test/pause:1', entrypoint: ['/bin/sleep', '2147483647'] };

/** A shell and the commands of busybox. */
export const busyboxImage: ImageSpec = { ref: 'bed.test/busybox:1', entrypoint: ['/bin/sh'] };

/** So many small images of different content, without a program: for lists, not for running. */
export function tinyImages(count: number, repository = 'bed.test/tiny'): readonly ImageSpec[] {
  const fill = { bytes: 1024, kind: 'random' } as const;
  return Array.from({ length: count }, (_, index) => {
    return { ref: `${repository}:${index + 1}`, busybox: false, fill };
  });
}

/** Writes an OCI archive with one image, for `ctr images import`; equal specs have equal digests. */
export async function image(spec: ImageSpec, out: string): Promise<BuiltImage> {
  const [built] = await images([spec], out);
  if (!built) throw new Error('no image was built');
  return built;
}

/** Writes several images into one archive, shared blobs once. */
export async function images(specs: readonly ImageSpec[], out: string): Promise<readonly BuiltImage[]> {
  const made = specs.map((spec) => ({ spec, ...make(spec) }));
  const all = made.flatMap(({ blobs, manifest }) => [...blobs, manifest]);
  const blobs = new Map(all.map(({ digest, data }) => [digest, data]));
  const index = { schemaVersion: 2, manifests: made.flatMap(({ spec, entry }) => entriesOf(spec, entry)) };
  const files: readonly TarEntry[] = [
    { path: 'oci-layout', data: Buffer.from('{"imageLayoutVersion":"1.0.0"}') },
    { path: 'index.json', data: Buffer.from(JSON.stringify(index)) },
    ...[...blobs].map(([digest, data]) => ({ path: `blobs/${digest.replace(':', '/')}`, data })),
  ];
  const file = await open(out, 'w');
  try {
    for (const piece of tar(files)) await file.writeFile(piece);
  } finally {
    await file.close();
  }
  return made.map((one) => one.built);
}

/** Content by its digest. */
export interface Blob {
  readonly digest: string;
  readonly data: Buffer;
}

interface Layer extends Blob {
  readonly diffId: string;
  readonly mediaType: string;
  readonly unpackedBytes: number;
}

/** The content of an image. */
interface MadeImage {
  readonly built: BuiltImage;
  /** Its layers and configuration. */
  readonly blobs: readonly Blob[];
  readonly manifest: Blob;
  /** Its descriptor in an index. */
  readonly entry: object;
}

const oci = 'application/vnd.oci.image';
export const manifestType = `${oci}.manifest.v1+json`;
export const indexType = `${oci}.index.v1+json`;

/** Builds an image in memory. */
export function make(spec: ImageSpec): MadeImage {
  const layers = layersOf(spec);
  const config = jsonBlob(configOf(spec, layers));
  const manifest = jsonBlob({
    schemaVersion: 2,
    mediaType: manifestType,
    config: { mediaType: `${oci}.config.v1+json`, digest: config.digest, size: config.data.length },
    layers: layers.map(({ mediaType, digest, data }) => ({ mediaType, digest, size: data.length })),
  });
  const entry = { mediaType: manifestType, digest: manifest.digest, size: manifest.data.length };
  const built = {
    ref: spec.ref,
    id: config.digest,
    digest: manifest.digest,
    packedBytes: layers.reduce((total, { data }) => total + data.length, 0),
    unpackedBytes: layers.reduce((total, { unpackedBytes }) => total + unpackedBytes, 0),
  };
  return { built, blobs: [...layers, config], manifest, entry };
}

/** The lines of an image in the archive's index: one for each reference. */
const entriesOf = ({ ref, tags = [] }: ImageSpec, entry: object): readonly object[] =>
  [ref, ...tags].map((name) => ({ ...entry, annotations: named(name) }));

function named(ref: string): Readonly<Record<string, string>> {
  const tag = ref.slice(ref.lastIndexOf(':') + 1);
  return { 'io.containerd.image.name': ref, 'org.opencontainers.image.ref.name': tag };
}

function configOf(spec: ImageSpec, layers: readonly Layer[]): object {
  return {
    architecture: spec.architecture ?? ownArchitecture,
    os: 'linux',
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    // Images of the same layers are different images all the same.
    history: layers.map(() => ({ comment: spec.ref })),
    config: {
      Entrypoint: spec.entrypoint ?? [],
      Env: ['PATH=/usr/local/bin:/bin', ...(spec.env ?? [])],
      User: spec.user ?? '',
      ...(spec.workingDir !== undefined && { WorkingDir: spec.workingDir }),
      Labels: spec.labels ?? {},
    },
  };
}

function layersOf({ ref, busybox = true, base = [], files = [], fill }: ImageSpec): readonly Layer[] {
  const zeros = fill?.kind === 'zeros';
  return [
    ...(busybox ? [busyboxLayer()] : []),
    ...[base, files].filter(({ length }) => length > 0).map((entries) => layer(entries, false)),
    ...(fill
      ? [layer([{ path: 'fill', data: zeros ? Buffer.alloc(fill.bytes) : noise(ref, fill.bytes) }], zeros)]
      : []),
  ];
}

function layer(entries: readonly TarEntry[], packed: boolean): Layer {
  const data = Buffer.concat(tar(entries));
  const diffId = digestOf(data);
  const mediaType = `${oci}.layer.v1.tar`;
  if (!packed) return { data, diffId, digest: diffId, mediaType, unpackedBytes: data.length };
  const gzip = gzipSync(data, { level: 1 });
  return {
    data: gzip,
    diffId,
    digest: digestOf(gzip),
    mediaType: `${mediaType}+gzip`,
    unpackedBytes: data.length,
  };
}

/** The test bed's own busybox, the source of which is in test/cluster/go; only inside a jail. */
export function busyboxProgram(): Buffer {
  const { DUSTPAN_BED_BIN: bin } = process.env;
  if (!bin) throw new Error('images with a busybox are made only inside a jail: npm run test:cluster');
  return readFileSync(join(bin, 'busybox'));
}

const commands = [
  'cat',
  'chmod',
  'dd',
  'ln',
  'ls',
  'mkdir',
  'rm',
  'seq',
  'sh',
  'sleep',
  'touch',
  'true',
  'unshare',
];

function busyboxLayer(): Layer {
  const passwd = 'root:x:0:0::/:/bin/sh\nnonroot:x:65532:65532::/:/bin/sh\n';
  const links = commands.map((name) => ({ path: `bin/${name}`, link: 'busybox' }));
  const program = { path: 'bin/busybox', data: busyboxProgram(), mode: 0o755 };
  const folder = { path: 'tmp', folder: true, mode: 0o1777 } as const;
  return layer([folder, { path: 'etc/passwd', data: Buffer.from(passwd) }, program, ...links], false);
}

/** Bytes that do not compress, the same for the same seed. */
function noise(seed: string, bytes: number): Buffer {
  const key = createHash('sha256').update(seed).digest().subarray(0, 16);
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(bytes));
}

/** The JSON of a value, as a blob. */
export function jsonBlob(value: object): Blob {
  const data = Buffer.from(JSON.stringify(value));
  return { data, digest: digestOf(data) };
}

function digestOf(data: Buffer): string {
  return `sha256:${createHash('sha256').update(data).digest('hex')}`;
}
