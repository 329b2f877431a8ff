export const registry = 'registry.example.com';

/** Of the pods on the node. */
export const image = {
  web: `${registry}/shop/web:v7`,
  worker: `${registry}/shop/worker:v3`,
  api: `${registry}/shop/api:v2`,
  proxy: 'registry.k8s.io/kube-proxy:v1.36.0',
};

interface ImageKind {
  readonly group: string;
  readonly tags: readonly string[];
  readonly sizeMiB: number;
  /** Hours ago; absent = the agent sees it for the first time. */
  readonly detected?: number;
  /** Hours ago; absent = never. */
  readonly used?: number;
  readonly pinned?: boolean;
  /** What goes for space stays where the node has no disk of its own: BelowThreshold. */
  readonly goes?: 'Age' | 'Space';
  readonly stays?: string;
}

const many = (count: number, name: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => `${registry}/${name(index + 1)}`);

/** The images of the node, 61 MiB of them, by what a reader should expect. */
export const imageKinds: readonly ImageKind[] = [
  { group: 'image of the running web pod', tags: [image.web], sizeMiB: 14, stays: 'InUse' },
  { group: 'image of the crash loop', tags: [image.worker], sizeMiB: 9, stays: 'InUse' },
  { group: 'image of a static pod', tags: [image.proxy], sizeMiB: 5, stays: 'InUse' },
  {
    ...{ group: 'image of a pod that is still starting', tags: [image.api], sizeMiB: 8 },
    ...{ detected: 100, stays: 'BoundPod' },
  },
  {
    ...{ group: 'image the runtime has pinned', tags: ['registry.k8s.io/pause:3.10'], sizeMiB: 1 },
    ...{ detected: 900, pinned: true, stays: 'Pinned' },
  },
  {
    ...{ group: 'image on the keep list', tags: [`${registry}/base/jdk:21`], sizeMiB: 6 },
    ...{ detected: 900, stays: 'KeepListed' },
  },
  { group: 'image pulled a moment ago', tags: [`${registry}/tools/debug:v1`], sizeMiB: 3, stays: 'TooYoung' },
  {
    ...{ group: 'images unused for 12 days', tags: many(2, (i) => `shop/web:v${i}`), sizeMiB: 2.5 },
    ...{ detected: 720, used: 288, goes: 'Age' },
  },
  {
    ...{ group: 'images never used, here for 3 days', tags: many(3, (i) => `ci/build:${i}`), sizeMiB: 3 },
    ...{ detected: 72, goes: 'Space' },
  },
  {
    ...{ group: 'images last used yesterday', tags: many(2, (i) => `batch/report:v${i}`), sizeMiB: 0.5 },
    ...{ detected: 500, used: 24, stays: 'BelowThreshold' },
  },
];
