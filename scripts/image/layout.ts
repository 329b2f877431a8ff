import { memoryEnvironment, memoryFlags } from '../../src/commands/agent/command.ts';

/** Files that the image takes over; `from` may end in `*.js`, then `to` is a folder. */
export interface ImageFile {
  readonly from: string;
  readonly to: string;
  /** In octal. Without it the file is as the build made it. */
  readonly mode?: string;
}

interface ImageLayout {
  readonly workingDir: string;
  readonly user: string;
  readonly entrypoint: readonly string[];
  readonly files: readonly ImageFile[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Where the base image has Node; its name is fixed, distroless has no PATH to it. */
export const nodePath = '/nodejs/bin/node';
const mainPath = '/app/dist/main.js';

/** What is true of the image, whoever builds it: the Dockerfile and `npm run image` are held to this (docs/adr/0015-one-image-two-faces.md). */
export const imageLayout: ImageLayout = {
  workingDir: '/app',
  // As numbers: the kubelet cannot check `runAsNonRoot` against a name.
  user: '65532:65532',
  entrypoint: [nodePath, mainPath],
  files: [
    { from: 'LICENSE', to: '/app/LICENSE', mode: '0644' },
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

/** What a pod has to say as its `command` to run the agent within its memory budget; arguments begin with `agent`. */
export const agentCommandLine: readonly string[] = [nodePath, ...memoryFlags.split(' '), mainPath];

/** The variable that goes with it, as NAME=VALUE. */
export const agentVariable = memoryEnvironment;
