import { agentFlags } from './agent-flags.ts';
import { kubeFlags, logFlags } from './controller-flags.ts';
import { boolFlag } from './flag-types.ts';
import { planFlags } from './plan-flags.ts';

/** Of `dustpan snapshot`, by topic. */
export const snapshotFlags = {
  force: boolFlag({
    name: 'force',
    default: 'false',
    help: 'Replace the snapshot that is in DIR. A directory with anything else in it is never replaced.',
  }),
  criSocket: {
    ...agentFlags.criSocket,
    help: 'On a node: the unix socket of its container runtime, so that its images, containers and logs are written too.',
  },
  nodeName: {
    ...agentFlags.nodeName,
    help: 'With --cri-socket: the Node object of the machine this runs on. Not set: $NODE_NAME.',
  },
  stateDir: agentFlags.stateDir,
  podLogsDir: {
    ...agentFlags.podLogsDir,
    help: "The kubelet's log directories, one a pod. Wherever they are, in a snapshot they stand below /var/log/pods.",
  },
  containerLogsDir: {
    ...agentFlags.containerLogsDir,
    help: "The kubelet's links to the logs of containers; likewise.",
  },
  kubeletRootDir: {
    ...agentFlags.kubeletRootDir,
    help: "The kubelet's own directory, on the node's own file system; the certificate that it signed for itself is below it.",
  },
  kubeletEndpoint: planFlags.kubeletEndpoint,
  kubeletCertificateAuthority: planFlags.kubeletCertificateAuthority,
  kubeletInsecureTls: planFlags.kubeletInsecureTls,
  kubeconfig: kubeFlags.kubeconfig,
  context: kubeFlags.context,
  verbosity: logFlags.verbosity,
};
