import { quickPatches } from './kubelet-quick.ts';
import type { Patch } from './patched-module.ts';

/** The parts of a test bed. */
export type Part = 'etcd' | 'api' | 'kcm' | 'sched' | 'ctd' | 'kubelet' | 'registry' | 'prometheus';

/** Separate Go modules below test/cluster/go, as their dependencies conflict; kubelet-quick and eviction-order are built with kubernetes. */
export type Group =
  | 'etcd'
  | 'containerd'
  | 'containerd-1.7'
  | 'runc'
  | 'busybox'
  | 'kubernetes'
  | 'kubelet-quick'
  | 'eviction-order'
  | 'tools'
  | 'registry'
  | 'prometheus';

export interface Program {
  readonly name: string;
  readonly group: Group;
  readonly package: string;
  /** The module in go.mod that has this program's version. */
  readonly module: string;
  /** Arguments that print the version; without them, a program found on the machine is never used. */
  readonly versionArgs?: readonly string[];
}

type Source = Pick<Program, 'group' | 'module'> & { readonly folder: string };

const etcd: Source = { group: 'etcd', module: 'go.etcd.io/etcd/server/v3', folder: '' };
const kubernetes: Source = { group: 'kubernetes', module: 'k8s.io/kubernetes', folder: '/cmd/' };
const quick: Program = {
  name: 'kubelet-quick',
  group: 'kubelet-quick',
  module: kubernetes.module,
  package: `${kubernetes.module}/cmd/kubelet`,
};
/** Ranks pods by functions of the kubelet that it does not export. */
const evictionOrder: Program = {
  name: 'eviction-order',
  group: 'eviction-order',
  module: kubernetes.module,
  package: '../eviction-order/eviction-order.go',
};
const containerds = {
  containerd: 'github.com/containerd/containerd/v2',
  'containerd-1.7': 'github.com/containerd/containerd',
} as const;
const runc: Source = { group: 'runc', module: 'github.com/opencontainers/runc', folder: '' };
const busybox: Source = { group: 'busybox', module: 'dustpan.dev/test/busybox', folder: '' };
const uroot: Source = { group: 'busybox', module: 'github.com/u-root/u-root', folder: '/cmds/core/' };
const helm: Source = { group: 'tools', module: 'helm.sh/helm/v4', folder: '/cmd/' };
const actionlint: Source = { group: 'tools', module: 'github.com/rhysd/actionlint', folder: '/cmd/' };
const criTools: Source = { group: 'tools', module: 'sigs.k8s.io/cri-tools', folder: '/cmd/' };
const cni: Source = {
  group: 'tools',
  module: 'github.com/containernetworking/plugins',
  folder: '/plugins/main/',
};
const distribution: Source = {
  group: 'registry',
  module: 'github.com/distribution/distribution/v3',
  folder: '/cmd/',
};
const prometheus: Source = {
  group: 'prometheus',
  module: 'github.com/prometheus/prometheus',
  folder: '/cmd/',
};

function program(source: Source, name: string, versionArgs?: readonly string[]): Program {
  const { group, module, folder } = source;
  const path = folder === '' ? module : `${module}${folder}${name}`;
  return { name, group, module, package: path, ...(versionArgs && { versionArgs }) };
}

const version = ['--version'];
const programs: Readonly<Record<Exclude<Part, 'ctd'>, readonly Program[]>> = {
  etcd: [program(etcd, 'etcd', version)],
  api: [
    program(kubernetes, 'kube-apiserver', version),
    program(kubernetes, 'kubectl', ['version', '--client']),
    program(helm, 'helm', ['version', '--short']),
    program(actionlint, 'actionlint'),
  ],
  kcm: [program(kubernetes, 'kube-controller-manager', version)],
  sched: [program(kubernetes, 'kube-scheduler', version)],
  kubelet: [program(kubernetes, 'kubelet', version), quick, evictionOrder],
  // It does not know its version.
  registry: [program(distribution, 'registry')],
  // Other builds may lack Kubernetes discovery without notice: always our own build.
  prometheus: [program(prometheus, 'prometheus'), program(prometheus, 'promtool')],
};

/** Whether DUSTPAN_CONTAINERD selects containerd 1.7; throws on a version that is not here. */
export function isContainerd17(env: NodeJS.ProcessEnv = process.env): boolean {
  const minor = env['DUSTPAN_CONTAINERD'] ?? '';
  if (!['', '1.7', '2.4'].includes(minor))
    throw new Error(`DUSTPAN_CONTAINERD=${minor}: no such version here; use 1.7 or 2.4`);
  return minor === '1.7';
}

function ctdPrograms(): readonly Program[] {
  const group = isContainerd17() ? 'containerd-1.7' : 'containerd';
  const containerd: Source = { group, module: containerds[group], folder: '/cmd/' };
  return [
    program(containerd, 'containerd', version),
    program(containerd, 'containerd-shim-runc-v2', ['-v']),
    program(containerd, 'ctr', version),
    program(runc, 'runc', version),
    // The contents of the test images.
    program(busybox, 'busybox'),
    program(criTools, 'crictl', version),
    program(cni, 'bridge'),
    program(cni, 'loopback'),
    program({ ...cni, folder: '/plugins/ipam/' }, 'host-local'),
  ];
}

/** Every jail has a network. Not from the machine: its `ip` may be another program, or none. */
const ip = program(uroot, 'ip');

/** The programs that these parts, their jail and their tests run. */
export function programsOf(parts: readonly Part[]): readonly Program[] {
  return [ip, ...[...new Set(parts)].flatMap((part) => (part === 'ctd' ? ctdPrograms() : programs[part]))];
}

/** Whether a C compiler is needed: runc joins namespaces in C, before Go has threads. */
export function needsCompiler(group: Group): boolean {
  return group === 'runc';
}

const seccompFile = 'libcontainer/seccomp/seccomp_unsupported.go';

/** Seccomp profiles in a runc that is built without libseccomp: our own code compiles and loads them. */
const seccompPatches: readonly Patch[] = [
  { file: seccompFile, from: '\t"errors"\n', to: '\t"errors"\n\n\t"dustpan.dev/test/runc/filter"\n' },
  {
    file: seccompFile,
    from: '\t\treturn -1, ErrSeccompNotEnabled\n',
    to: '\t\treturn -1, filter.Load(config)\n',
  },
  { file: seccompFile, from: 'const Enabled = false\n', to: 'const Enabled = true\n' },
];

/** The changes to the published module before it is built. */
export function patchesOf(group: Group): readonly Patch[] {
  if (group === 'kubelet-quick') return quickPatches;
  return group === 'runc' ? seccompPatches : [];
}

interface BuildFlags {
  readonly tags: string;
  readonly ldflags: string;
}

/** Build flags of a group; `pinned` gives a module's version, which the linker writes into programs that would not know it. */
export function buildFlags(group: Group, pinned: (module: string) => string): BuildFlags {
  const flags = (tags: string, values: readonly string[]): BuildFlags => {
    return { tags, ldflags: ['-s -w', ...values.map((value) => `-X ${value}`)].join(' ') };
  };
  switch (group) {
    case 'etcd':
    case 'busybox':
    case 'runc':
    case 'registry':
      return flags('', []);
    case 'containerd':
    case 'containerd-1.7': {
      const module = containerds[group];
      const number = pinned(module).slice(1);
      return flags('no_btrfs no_devmapper no_zfs no_aufs', [`${module}/version.Version=${number}`]);
    }
    case 'kubernetes':
    case 'kubelet-quick':
    case 'eviction-order':
      return flags('', kubernetesVersion(pinned(kubernetes.module)));
    case 'tools':
      return flags('', [`${helm.module}/internal/version.version=${pinned(helm.module)}`]);
    case 'prometheus':
      return flags('netgo,remove_all_sd,enable_kubernetes_sd', []);
  }
}

function kubernetesVersion(version: string): readonly string[] {
  const [major = '', minor = ''] = version.slice(1).split('.');
  const values = [`gitVersion=${version}`, `gitMajor=${major}`, `gitMinor=${minor}`];
  return values.map((value) => `k8s.io/component-base/version.${value}`);
}
