import { kubeFlags, logFlags, notAbsolute, notSubdomain, serverFlags } from './controller-flags.ts';
import { boolFlag, durationFlag, intFlag, numberFlag, stringFlag } from './flag-types.ts';

const second = 1_000;

const notSocket = (text: string): string | undefined =>
  /^(unix:\/\/)?\//.test(text)
    ? undefined
    : `${JSON.stringify(text)} is not a socket such as /run/containerd/containerd.sock or unix:///run/crio/crio.sock`;

const notHttps = (text: string): string | undefined =>
  URL.canParse(text) && /^https:\/\/[^/?#@]+\/?$/.test(text)
    ? undefined
    : `${JSON.stringify(text)} is not a URL such as https://10.0.0.7:10250`;

const directory = (name: string, path: string, help: string) =>
  stringFlag({ name, default: path, placeholder: 'DIRECTORY', check: notAbsolute, help });

/** Of `dustpan agent`, by topic. */
export const agentFlags = {
  nodeName: stringFlag({
    name: 'node-name',
    placeholder: 'NAME',
    default: '',
    check: notSubdomain,
    help: 'The Node object of the machine this runs on. Not set: $NODE_NAME. Required.',
  }),
  criSocket: stringFlag({
    name: 'cri-socket',
    placeholder: 'SOCKET',
    default: '',
    check: notSocket,
    help: 'The unix socket of the container runtime. Not set: the first that exists of containerd, CRI-O, cri-dockerd, k3s and microk8s.',
  }),
  runtimeRequestTimeout: durationFlag({
    name: 'runtime-request-timeout',
    default: '2m',
    min: second,
    help: 'How long to wait for an answer of the container runtime, a graceful stop of a container not counted.',
  }),
  imageGcPeriod: durationFlag({
    name: 'image-gc-period',
    default: '5m',
    min: second,
    help: 'How long to wait between two passes over the images.',
  }),
  containerGcPeriod: durationFlag({
    name: 'container-gc-period',
    default: '1m',
    min: second,
    help: 'How long to wait between two passes over containers, sandboxes and logs.',
  }),
  localStoragePeriod: durationFlag({
    name: 'local-storage-period',
    default: '10s',
    min: second,
    help: 'How long to wait between two looks at what pods use of local storage, where a policy has localStorageEviction.',
  }),
  localStoragePodMetrics: boolFlag({
    name: 'local-storage-pod-metrics',
    default: 'false',
    help: 'Also serve a metric of what each pod uses, of the 256 that use most. Without it there are only sums of the node.',
  }),
  kubeletEndpoint: stringFlag({
    name: 'kubelet-endpoint',
    placeholder: 'URL',
    default: '',
    check: notHttps,
    help: 'Where the kubelet of this node listens, for localStorageEviction. Not set: https://$HOST_IP:10250, and 127.0.0.1 without HOST_IP.',
  }),
  kubeletCertificateAuthority: stringFlag({
    name: 'kubelet-certificate-authority',
    placeholder: 'FILE',
    default: '',
    check: notAbsolute,
    help: "The CA of the kubelet's serving certificate. Not set: the cluster's CA, or the certificate that the kubelet signed for itself, pki/kubelet.crt below --kubelet-root-dir.",
  }),
  kubeletInsecureTls: boolFlag({
    name: 'kubelet-insecure-tls',
    default: 'false',
    help: "Do not verify the kubelet's serving certificate. Whoever answers in its place is given the agent's token, and could have pods evicted.",
  }),
  stateDir: directory(
    'state-dir',
    '/var/lib/dustpan',
    'Where it is written down when each image was seen first and used last, so that a restart forgets nothing.',
  ),
  podLogsDir: directory('pod-logs-dir', '/var/log/pods', "The kubelet's log directories, one a pod."),
  containerLogsDir: directory(
    'container-logs-dir',
    '/var/log/containers',
    "The kubelet's links to the logs of containers.",
  ),
  kubeletRootDir: directory(
    'kubelet-root-dir',
    '/var/lib/kubelet',
    "The kubelet's own directory: what pods that are gone left there is reported, never removed.",
  ),
  kubeconfig: kubeFlags.kubeconfig,
  context: kubeFlags.context,
  kubeApiQps: numberFlag({
    name: 'kube-api-qps',
    default: '5',
    help: 'Most requests per second to the API server on average. 0 = no limit.',
  }),
  kubeApiBurst: intFlag({
    name: 'kube-api-burst',
    default: '10',
    min: 1,
    help: 'Most requests at once, on top of --kube-api-qps.',
  }),
  ...serverFlags,
  ...logFlags,
};
