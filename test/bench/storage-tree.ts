import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A kubelet's directory with one emptyDir in each pod. */
export interface StorageTree {
  readonly kubelet: string;
  /** UIDs of the pods. */
  readonly pods: readonly string[];
  /** The volumes, in the order of their pods. */
  readonly volumes: readonly string[];
}

export const volumeName = 'data';

/** What pods leave: mostly small files, 50 in a directory, ten directories in one; every fourth empty. */
const filesPerDirectory = 50;
const directoriesPerDirectory = 10;
const sizes = [1, 3_000, 0, 9_000];
/** One file in so many has a second name, is a hole, or has a link beside it. */
const [linkedEvery, sparseEvery, symlinkEvery] = [97, 499, 89];
const holeBytes = 2 ** 30;

/** Writes so many files, spread over the pods, below an empty directory. */
export function writeTree(root: string, { files, pods }: { files: number; pods: number }): StorageTree {
  const kubelet = join(root, 'kubelet');
  const uids = Array.from(
    { length: pods },
    (_, i) => `5f0c0000-0000-4000-8000-${String(i).padStart(12, '0')}`,
  );
  const volumes = uids.map((uid) =>
    join(kubelet, 'pods', uid, 'volumes/kubernetes.io~empty-dir', volumeName),
  );
  volumes.forEach((volume, i) => {
    fill(volume, Math.floor(files / pods) + (i < files % pods ? 1 : 0));
  });
  return { kubelet, pods: uids, volumes };
}

function fill(volume: string, files: number): void {
  let directory = volume;
  for (let i = 0; i < files; i++) {
    if (i % filesPerDirectory === 0) {
      directory = join(volume, ...directoriesOf(Math.floor(i / filesPerDirectory)));
      mkdirSync(directory, { recursive: true });
    }
    writeOne(join(directory, `file ${i}`), i);
  }
}

const directoriesOf = (n: number): readonly string[] => [
  `d${Math.floor(n / directoriesPerDirectory)}`,
  `d${n % directoriesPerDirectory}`,
];

function writeOne(path: string, i: number): void {
  writeFileSync(path, Buffer.alloc(sizes[i % sizes.length] ?? 0, 1));
  if (i % linkedEvery === 0) linkSync(path, `${path} again`);
  if (i % sparseEvery === 0) truncateSync(path, holeBytes);
  if (i % symlinkEvery === 0) symlinkSync('/', `${path} link`);
}
