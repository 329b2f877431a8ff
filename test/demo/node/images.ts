export const registry = 'registry.example.com';

/** Images of the pods on the node. */
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
  /** Hours ago; undefined = the agent has not seen it before. */
  readonly detected?: number;
  /** Hours ago; undefined = never. */
  readonly used?: number;
  readonly pinned?: boolean;
  /** Without a disk, images that Space would remove are kept: BelowThreshold. */
  readonly removedFor?: 'Age' | 'Space';
  readonly keptFor?: string;
}

const many = (count: number, name: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => `${registry}/${name(index + 1)}`);

/** The images of the node, 61 MiB, with their expected outcome. */
export const imageKinds: readonly ImageKind[] = [
  { group: 'image of the running web pod', tags: [image.web], sizeMiB: 14, keptFor: 'InUse' },
  { group: 'image of the crash loop', tags: [image.worker], sizeMiB: 9, keptFor: 'InUse' },
  { group: 'image of a static pod', tags: [image.proxy], sizeMiB: 5, keptFor: 'InUse' },
  {
    ...{ group: 'image of a pod that is still starting', tags: [image.api], sizeMiB: 8 },
    ...{ detected: 100, keptFor: 'BoundPod' },
  },
  {
    ...{ group: 'image the runtime has pinned', tags: ['registry.k8s.io/pause:3.10'], sizeMiB: 1 },
    ...{ detected: 900, pinned: true, keptFor: 'Pinned' },
  },
  {
    ...{ group: 'image on the keep list', tags: [`${registry}/base/jdk:21`], sizeMiB: 6 },
    ...{ detected: 900, keptFor: 'KeepListed' },
  },
  {
    group: 'image pulled a moment ago',
    tags: [`${registry}/tools/debug:v1`],
    sizeMiB: 3,
    keptFor: 'TooYoung',
  },
  {
    ...{ group: 'images unused for 12 days', tags: many(2, (i) => `shop/web:v${i}`), sizeMiB: 2.5 },
    ...{ detected: 720, used: 288, removedFor: 'Age' },
  },
  {
    ...{ group: 'images never used, here for 3 days', tags: many(3, (i) => `ci/build:${i}`), sizeMiB: 3 },
    ...{ detected: 72, removedFor: 'Space' },
  },
  {
    ...{ group: 'images last used yesterday', tags: many(2, (i) => `batch/report:v${i}`), sizeMiB: 0.5 },
    ...{ detected: 500, used: 24, keptFor: 'BelowThreshold' },
  },
];
