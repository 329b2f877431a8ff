import { parseRfc3339 } from '../runtime/rfc3339.ts';
import { agentFlags } from './agent-flags.ts';
import { kubeFlags, logFlags } from './controller-flags.ts';
import { boolFlag, listFlag, stringFlag } from './flag-types.ts';
import { outputFlag } from './output.ts';

const notTime = (text: string): string | undefined =>
  parseRfc3339(text) === undefined
    ? `${JSON.stringify(text)} is not an RFC 3339 time such as 2026-01-15T12:00:00Z`
    : undefined;

/** How the kubelet of this node is asked what pods use. */
const kubeletFlags = {
  kubeletRootDir: {
    ...agentFlags.kubeletRootDir,
    help: "The kubelet's own directory: the certificate that it signed for itself is below it.",
  },
  kubeletEndpoint: {
    ...agentFlags.kubeletEndpoint,
    help: 'On a node: where its kubelet listens, for what pods use of local storage. Not set: https://$HOST_IP:10250, and 127.0.0.1 without HOST_IP.',
  },
  kubeletCertificateAuthority: agentFlags.kubeletCertificateAuthority,
  kubeletInsecureTls: {
    ...agentFlags.kubeletInsecureTls,
    help: "Do not verify the kubelet's serving certificate. Whoever answers in its place is given your token.",
  },
};

/** Of `dustpan plan`, by topic. */
export const planFlags = {
  policy: listFlag({
    name: 'policy',
    placeholder: 'FILE',
    help: 'A file with GCPolicies, JSON or YAML, instead of those of the snapshot or the cluster. May be given several times.',
  }),
  snapshot: stringFlag({
    name: 'snapshot',
    placeholder: 'DIRECTORY',
    default: '',
    help: 'Plan from a snapshot, without a cluster. Not set: from the cluster as it is now.',
  }),
  now: stringFlag({
    name: 'now',
    placeholder: 'TIME',
    default: '',
    check: notTime,
    help: 'The time to plan for, as in 2026-01-15T12:00:00Z. Not set: now.',
  }),
  kept: boolFlag({ name: 'kept', default: 'false', help: 'List what stays too, each with its reason.' }),
  assumeElapsed: boolFlag({
    name: 'assume-quarantine-elapsed',
    default: 'false',
    help: 'Plan as if every quarantine were over: missing nodes missed long enough, gone pods seen gone twice.',
  }),
  output: outputFlag,
  // Not made anew: they keep their checks.
  nodeName: {
    ...agentFlags.nodeName,
    help: 'With --cri-socket: the Node object of the machine this runs on. Not set: $NODE_NAME.',
  },
  criSocket: {
    ...agentFlags.criSocket,
    help: 'On a node: the unix socket of its container runtime, so that its images and containers are planned too.',
  },
  stateDir: agentFlags.stateDir,
  podLogsDir: agentFlags.podLogsDir,
  containerLogsDir: agentFlags.containerLogsDir,
  ...kubeletFlags,
  kubeconfig: kubeFlags.kubeconfig,
  context: kubeFlags.context,
  verbosity: logFlags.verbosity,
};
