import type { Command } from './command.ts';

/** The environment that several commands read, as each tells of it in its help. */
export const variables = {
  kubeconfig: { name: 'KUBECONFIG, HOME', help: 'Where the kubeconfig is, as for kubectl.' },
  server: {
    name: 'KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT',
    help: 'The API server, set by Kubernetes in every pod.',
  },
  nodeName: { name: 'NODE_NAME', help: 'The node, for --node-name.' },
  hostIp: { name: 'HOST_IP', help: 'The address of the node, for --kubelet-endpoint.' },
  noColor: { name: 'NO_COLOR', help: 'Set to anything: no colours on a terminal.' },
} satisfies Readonly<Record<string, Command['environment'][number]>>;
