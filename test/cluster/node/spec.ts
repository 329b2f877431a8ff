import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../servers/command.ts';
import type { ClusterOptions } from '../servers/cluster.ts';
import { kubeconfigFile } from '../servers/credentials.ts';
import { isContainerd17 } from '../programs/parts.ts';
import { pauseImage } from './image.ts';
import { containerdSocket } from './node.ts';
import { pullFrom, registryHosts, registryUrl } from './registry.ts';
import type { PartSpec } from '../servers/part-process.ts';
import type { PartInputs } from '../servers/part-spec.ts';
import { statusOf } from '../servers/probe.ts';

type Spec = Pick<PartSpec, 'command' | 'args' | 'isReady'>;

/** containerd with runc and the CNI bridge, all state on the node's well-known paths. */
export function containerdSpec(inputs: PartInputs): Spec {
  const { dir, bin, options } = inputs;
  if (options.parts.includes('registry')) pullFrom(registryUrl(inputs), { dir, host: '_default' });
  mkdirSync(join(dir, 'cni'), { recursive: true });
  writeFileSync(join(dir, 'cni/10-bridge.conflist'), bridge);
  const folders = { bin, cni: join(dir, 'cni'), registry: registryHosts(dir) };
  const config = isContainerd17() ? containerd17Config : containerdConfig;
  writeFileSync(join(dir, 'containerd.toml'), config(folders, options.ctd));
  const crictl = [join(bin, 'crictl'), '--runtime-endpoint', `unix://${containerdSocket}`];
  return {
    command: 'containerd',
    args: ['--config=containerd.toml'],
    isReady: async () => (await runCommand([...crictl, 'pods', '--quiet'], { env: process.env })).code === 0,
  };
}

/** Directories in containerd's configuration. */
interface Folders {
  readonly bin: string;
  readonly cni: string;
  readonly registry: string;
}

type ContainerdOptions = ClusterOptions['ctd'];

// The score may not be lowered without CAP_SYS_RESOURCE, which would fail every container.
const containerdConfig = ({ bin, cni, registry }: Folders, options: ContainerdOptions): string => `version = 3
${commonConfig(options)}
[plugins.'io.containerd.cri.v1.images']
  snapshotter = 'overlayfs'
  stats_collect_period = ${options?.statsSeconds ?? 10}
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = '${pauseImage.ref}'
  [plugins.'io.containerd.cri.v1.images'.registry]
    config_path = '${registry}'
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['${bin}']
    conf_dir = '${cni}'
`;

/** One plugin has all settings of the CRI in containerd 1.7. */
const containerd17Config = (
  { bin, cni, registry }: Folders,
  options: ContainerdOptions,
): string => `version = 2
${commonConfig(options)}
[plugins.'io.containerd.grpc.v1.cri']
  sandbox_image = '${pauseImage.ref}'
  stats_collect_period = ${options?.statsSeconds ?? 10}
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins.'io.containerd.grpc.v1.cri'.containerd]
    snapshotter = 'overlayfs'
  [plugins.'io.containerd.grpc.v1.cri'.registry]
    config_path = '${registry}'
  [plugins.'io.containerd.grpc.v1.cri'.cni]
    bin_dir = '${bin}'
    conf_dir = '${cni}'
`;

/** The defaults, two to five seconds, are too short on a busy machine: stopping a container fails. */
const timeouts = `[timeouts]
  'io.containerd.timeout.task.state' = '60s'
  'io.containerd.timeout.shim.load' = '60s'
  'io.containerd.timeout.shim.cleanup' = '60s'
  'io.containerd.timeout.shim.shutdown' = '60s'`;

const commonConfig = (
  options: ContainerdOptions,
): string => `root = '${options?.root ?? '/var/lib/containerd'}'
state = '/run/containerd'
[grpc]
  address = '${containerdSocket}'
[debug]
  level = '${options?.logLevel ?? 'info'}'
${timeouts}
[plugins.'io.containerd.metadata.v1.bolt']
  no_sync = true
[plugins.'io.containerd.internal.v1.opt']
  path = '/var/lib/containerd/opt'`;

const ranges = [[{ subnet: '10.98.0.0/24' }]];
const bridge = JSON.stringify({
  cniVersion: '0.4.0',
  name: 'bed',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipMasq: false,
      ipam: { type: 'host-local', ranges, routes: [{ dst: '0.0.0.0/0' }] },
    },
    { type: 'loopback' },
  ],
});

/** A flag of API server and kubelet: features that tests use, off by default before Kubernetes 1.35. */
export const newFeatures = '--feature-gates=ImageVolume=true,KubeletCrashLoopBackOffMax=true';

const healthPort = 10_248;

/** The flags of every kubelet of the tests. */
export const kubeletFlags = (kubeconfig: string, address: string): readonly string[] => [
  '--config=kubelet.json',
  `--kubeconfig=${kubeconfig}`,
  `--node-ip=${address}`,
  '--runtime-cgroups=/',
  '--kubelet-cgroups=/',
  '--v=2',
  newFeatures,
];

/** The kubelet of this jail's node; the option's `config` replaces whole fields of its configuration. */
export function kubeletSpec(inputs: PartInputs): Spec {
  const { dir, options } = inputs;
  const config = { ...kubeletConfig(dir), ...options.kubelet?.config };
  writeFileSync(join(dir, 'kubelet.json'), JSON.stringify(config));
  return {
    command: options.kubelet?.program ?? 'kubelet',
    args: [
      ...kubeletFlags(kubeconfigFile(dir, 'kubelet'), inputs.node?.address ?? ''),
      ...(options.kubelet?.args ?? []),
    ],
    isReady: async () => (await statusOf(`http://127.0.0.1:${healthPort}/healthz`)) === 200,
  };
}

/** Upstream's defaults, without those that depend on the machine's own disk. */
export const evictionHard = { 'memory.available': '100Mi', 'imagefs.available': '15%' };

function kubeletConfig(dir: string): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: '0.0.0.0',
    port: 10_250,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true, cacheTTL: '5s' },
      x509: { clientCAFile: join(dir, 'pki/ca.crt') },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: join(dir, 'pki/kubelet.crt'),
    tlsPrivateKeyFile: join(dir, 'pki/kubelet.key'),
    healthzPort: healthPort,
    failSwapOn: false,
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    // The jail's own folder is the root that it sees.
    cgroupRoot: '/',
    cgroupsPerQOS: true,
    enforceNodeAllocatable: [],
    oomScoreAdj: 0, // lowering it requires CAP_SYS_RESOURCE
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    resolvConf: '/etc/resolv.conf',
    // No DNS server exists; without it every pod gets a MissingClusterDNS Event.
    clusterDNS: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    nodeStatusUpdateFrequency: '5s',
    evictionHard,
    // The default is on the machine's own disk.
    volumePluginDir: '/var/lib/kubelet/volume-plugins',
  };
}
