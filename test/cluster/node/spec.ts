import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from '../servers/command.ts';
import { kubeconfigFile } from '../servers/credentials.ts';
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
  writeFileSync(join(dir, 'containerd.toml'), containerdConfig(dir, bin));
  // Merged over the first file.
  writeFileSync(join(dir, 'containerd-test.toml'), `version = 3\n${options.ctd?.config ?? ''}\n`);
  const crictl = [join(bin, 'crictl'), '--runtime-endpoint', `unix://${containerdSocket}`];
  return {
    command: 'containerd',
    args: ['--config=containerd.toml'],
    isReady: async () => (await runCommand([...crictl, 'pods', '--quiet'], { env: process.env })).code === 0,
  };
}

function containerdConfig(dir: string, bin: string): string {
  // The score may not be lowered without CAP_SYS_RESOURCE, which would fail every container.
  return `version = 3
root = '/var/lib/containerd'
state = '/run/containerd'
imports = ['${dir}/containerd-test.toml']
[grpc]
  address = '${containerdSocket}'
[plugins.'io.containerd.metadata.v1.bolt']
  no_sync = true
[plugins.'io.containerd.internal.v1.opt']
  path = '/var/lib/containerd/opt'
[plugins.'io.containerd.cri.v1.images']
  snapshotter = 'overlayfs'
  [plugins.'io.containerd.cri.v1.images'.pinned_images]
    sandbox = 'bed.test/pause:1'
  [plugins.'io.containerd.cri.v1.images'.registry]
    config_path = '${registryHosts(dir)}'
[plugins.'io.containerd.cri.v1.runtime']
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins.'io.containerd.cri.v1.runtime'.cni]
    bin_dirs = ['${bin}']
    conf_dir = '${dir}/cni'
`;
}

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
