import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImageSpec } from '../../test/cluster/node/image.ts';
import { appFiles, nodeFiles } from './contents.ts';
import { imageLayout } from './layout.ts';

interface DustpanImageOptions {
  /** The repository with its build in dist/. */
  readonly root: string;
  /** Default: the full form of `dustpan:VERSION`, the chart's default. */
  readonly ref?: string;
  readonly tags?: readonly string[];
}

/**
 * dustpan's image for this machine's architecture, with the layout of the Dockerfile and this machine's Node. The same Node and the same build
 * give the same digest.
 */
export function dustpanImage({ root, ref, tags = [] }: DustpanImageOptions): ImageSpec {
  const version = versionOf(root);
  const { workingDir, user, entrypoint, files, labels } = imageLayout;
  return {
    ref: ref ?? `docker.io/library/dustpan:${version}`,
    tags,
    busybox: false,
    base: nodeFiles(),
    files: appFiles(root, files),
    workingDir,
    user,
    entrypoint,
    labels: { ...labels, 'org.opencontainers.image.version': version },
  };
}

function versionOf(root: string): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  return version;
}
