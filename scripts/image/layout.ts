/** Files of the image; if `from` ends in `*.js`, `to` is a folder. */
export interface ImageFile {
  readonly from: string;
  readonly to: string;
  /** Octal; default: the mode of the build. */
  readonly mode?: string;
}

interface ImageLayout {
  readonly workingDir: string;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly files: readonly ImageFile[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Node in the base image; distroless has no PATH. */
export const nodePath = '/nodejs/bin/node';
const mainPath = '/app/dist/main.js';

/** The layout of the image, for the Dockerfile and `npm run image` (docs/adr/0015-one-image-for-controller-and-agent.md). */
export const imageLayout: ImageLayout = {
  workingDir: '/app',
  // Numeric: the kubelet cannot check `runAsNonRoot` against a name.
  user: '65532:65532',
  entrypoint: [nodePath, mainPath],
  files: [
    { from: 'LICENSE', to: '/app/LICENSE', mode: '0644' },
    { from: 'dist/THIRD-PARTY.txt', to: '/app/THIRD-PARTY.txt' },
    { from: 'package.json', to: '/app/package.json', mode: '0644' },
    { from: 'scripts/image/dustpan', to: '/usr/local/bin/dustpan', mode: '0755' },
    { from: 'dist/*.js', to: '/app/dist/' },
  ],
  labels: {
    'org.opencontainers.image.title': 'dustpan',
    'org.opencontainers.image.description': 'Policy-driven garbage collection for Kubernetes',
    'org.opencontainers.image.licenses': 'Apache-2.0',
  },
};
