import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Startable, ClusterOptions } from './cluster.ts';
import { kubeconfigFile, tokenOf } from './credentials.ts';
import type { ClusterNode } from '../node/node.ts';
import { registrySpec } from '../node/registry.ts';
import { containerdSpec, newFeatures, kubeletSpec } from '../node/spec.ts';
import type { PartSpec } from './part-process.ts';
import { statusOf } from './probe.ts';

/** The inputs of the parts' command lines. */
export interface PartInputs {
  readonly dir: string;
  readonly bin: string;
  readonly ca: string;
  readonly ports: Readonly<Record<'etcd' | 'peer' | 'api' | 'kcm' | 'sched' | 'registry', number>>;
  /** Set when containerd is one of the parts. */
  readonly node?: ClusterNode;
  readonly options: ClusterOptions;
}

/** How one part is started and when it counts as ready. */
export function partSpec(part: Startable, inputs: PartInputs): PartSpec {
  const { dir, bin } = inputs;
  const spec = specs[part](inputs);
  return {
    name: part,
    cwd: dir,
    logFile: join(dir, 'log', `${part}.log`),
    ...spec,
    command: join(bin, spec.command),
  };
}

type Spec = Pick<PartSpec, 'command' | 'args' | 'env' | 'isReady'>;

const specs: Readonly<Record<Startable, (inputs: PartInputs) => Spec>> = {
  etcd: etcdSpec,
  api: apiSpec,
  kcm: kcmSpec,
  sched: schedSpec,
  ctd: containerdSpec,
  kubelet: kubeletSpec,
  registry: registrySpec,
};

function etcdSpec({ ports }: PartInputs): Spec {
  const client = `http://127.0.0.1:${ports.etcd}`;
  const peer = `http://127.0.0.1:${ports.peer}`;
  return {
    command: 'etcd',
    args: [
      '--data-dir=etcd',
      '--unsafe-no-fsync',
      '--quota-backend-bytes=8589934592',
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
    ],
    isReady: async () => (await statusOf(`${client}/health`)) === 200,
  };
}

function apiSpec(inputs: PartInputs): Spec {
  const { dir, ports, options } = inputs;
  const url = `https://127.0.0.1:${ports.api}`;
  return {
    command: 'kube-apiserver',
    args: [
      `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
      // Pods reach it on the service address.
      `--bind-address=${options.parts.includes('kubelet') ? '0.0.0.0' : '127.0.0.1'}`,
      `--secure-port=${ports.api}`,
      // It refuses to guess one where there is no route, and to advertise 127.0.0.1.
      '--advertise-address=10.97.0.1',
      '--service-cluster-ip-range=10.96.0.0/16',
      '--tls-cert-file=pki/server.crt',
      '--tls-private-key-file=pki/server.key',
      '--client-ca-file=pki/ca.crt',
      '--token-auth-file=tokens.csv',
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--service-account-issuer=https://kubernetes.default.svc',
      '--service-account-signing-key-file=pki/sa.key',
      '--service-account-key-file=pki/sa.key',
      '--allow-privileged',
      newFeatures,
      ...(options.parts.includes('kubelet') ? kubeletClientArgs : []),
      ...(makesServiceAccounts(options) ? [] : ['--disable-admission-plugins=ServiceAccount']),
      ...(options.api?.audit === false ? [] : auditArgs),
      ...(options.api?.args ?? []),
    ],
    env: options.api?.env ?? {},
    isReady: async () => {
      // A test may have renewed it.
      const ca = await readFile(join(dir, 'pki/ca.crt'), 'utf8');
      return (await statusOf(`${url}/readyz`, { ca, token: tokenOf('admin') })) === 200;
    },
  };
}

const auditArgs = [
  '--audit-policy-file=audit.yaml',
  '--audit-log-path=log/audit.log',
  '--audit-log-maxsize=200',
];

const kubeletClientArgs = [
  '--kubelet-client-certificate=pki/api-client.crt',
  '--kubelet-client-key=pki/api-client.key',
  '--kubelet-certificate-authority=pki/ca.crt',
  '--kubelet-preferred-address-types=InternalIP',
];

/** Without the service account "default", admission would refuse every pod. */
export function makesServiceAccounts({ parts, kcm }: ClusterOptions): boolean {
  const controllers = kcm?.controllers ?? defaultControllers;
  return parts.includes('kcm') && /(^|,)(\*|serviceaccount)/.test(controllers);
}

/** Who lifts the taint of a node that has become ready. */
export function liftsTaints({ parts, kcm }: ClusterOptions): boolean {
  const controllers = kcm?.controllers ?? defaultControllers;
  return parts.includes('kcm') && /(^|,)(\*|node-?lifecycle)/.test(controllers);
}

/** All controllers except the one that dustpan replaces. */
const defaultControllers = '*,-pod-garbage-collector-controller';

function kcmSpec({ dir, ports, options, ca }: PartInputs): Spec {
  const kubeconfig = kubeconfigFile(dir, 'kcm');
  return {
    command: 'kube-controller-manager',
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${ports.kcm}`,
      '--tls-cert-file=pki/server.crt',
      '--tls-private-key-file=pki/server.key',
      '--leader-elect=false',
      '--use-service-account-credentials',
      '--service-account-private-key-file=pki/sa.key',
      '--root-ca-file=pki/ca.crt',
      '--cluster-signing-cert-file=pki/ca.crt',
      '--cluster-signing-key-file=pki/ca.key',
      `--controllers=${options.kcm?.controllers ?? defaultControllers}`,
      '--node-monitor-period=1s',
      // With the defaults, the forty service accounts of its controllers take four seconds.
      '--kube-api-qps=200',
      '--kube-api-burst=400',
      ...(options.kcm?.args ?? []),
    ],
    isReady: async () => (await statusOf(`https://127.0.0.1:${ports.kcm}/healthz`, { ca })) === 200,
  };
}

function schedSpec({ dir, ports, options, ca }: PartInputs): Spec {
  const kubeconfig = kubeconfigFile(dir, 'sched');
  return {
    command: 'kube-scheduler',
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--authentication-kubeconfig=${kubeconfig}`,
      `--authorization-kubeconfig=${kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${ports.sched}`,
      '--tls-cert-file=pki/server.crt',
      '--tls-private-key-file=pki/server.key',
      '--leader-elect=false',
      ...(options.sched?.args ?? []),
    ],
    isReady: async () => (await statusOf(`https://127.0.0.1:${ports.sched}/healthz`, { ca })) === 200,
  };
}
