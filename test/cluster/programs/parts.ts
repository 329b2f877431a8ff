/** The parts of a test bed. */
export type Part = 'etcd' | 'api' | 'kcm' | 'sched' | 'ctd' | 'kubelet' | 'proxy' | 'prometheus';

/** Separate Go modules below test/cluster/go, as their dependencies conflict; kubelet-quick is built from kubernetes. */
export type Group = 'etcd' | 'containerd' | 'kubernetes' | 'kubelet-quick' | 'tools' | 'prometheus';

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
const containerd: Source = {
  group: 'containerd',
  module: 'github.com/containerd/containerd/v2',
  folder: '/cmd/',
};
const helm: Source = { group: 'tools', module: 'helm.sh/helm/v4', folder: '/cmd/' };
const criTools: Source = { group: 'tools', module: 'sigs.k8s.io/cri-tools', folder: '/cmd/' };
const cni: Source = {
  group: 'tools',
  module: 'github.com/containernetworking/plugins',
  folder: '/plugins/main/',
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
const programs: Readonly<Record<Part, readonly Program[]>> = {
  etcd: [program(etcd, 'etcd', version)],
  api: [
    program(kubernetes, 'kube-apiserver', version),
    program(kubernetes, 'kubectl', ['version', '--client']),
    program(helm, 'helm', ['version', '--short']),
  ],
  kcm: [program(kubernetes, 'kube-controller-manager', version)],
  sched: [program(kubernetes, 'kube-scheduler', version)],
  ctd: [
    program(containerd, 'containerd', version),
    program(containerd, 'containerd-shim-runc-v2', ['-v']),
    program(containerd, 'ctr', version),
    program(criTools, 'crictl', version),
    program(cni, 'bridge'),
    program(cni, 'loopback'),
    program({ ...cni, folder: '/plugins/ipam/' }, 'host-local'),
  ],
  kubelet: [program(kubernetes, 'kubelet', version), quick],
  proxy: [program(kubernetes, 'kube-proxy', version)],
  // Other builds may lack Kubernetes discovery without notice: always our own build.
  prometheus: [program(prometheus, 'prometheus'), program(prometheus, 'promtool')],
};

/** The programs these parts and their tests run. */
export function programsOf(parts: readonly Part[]): readonly Program[] {
  return [...new Set(parts)].flatMap((part) => programs[part]);
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
      return flags('', []);
    case 'containerd': {
      const number = pinned(containerd.module).slice(1);
      return flags('no_btrfs no_devmapper no_zfs no_aufs', [
        `${containerd.module}/version.Version=${number}`,
      ]);
    }
    case 'kubernetes':
    case 'kubelet-quick':
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
