import { join } from 'node:path';
import { defaultKubeletEndpoint, type KubeletUsageOptions } from '../node/kubelet-source.ts';
import { agentFlags } from './agent-flags.ts';
import { set } from './config.ts';
import type { CommandLine } from './flags.ts';
import type { System } from './system.ts';

/** Where the kubelet of this node is asked what pods use, and why it is believed. */
export type KubeletAccess = Pick<KubeletUsageOptions, 'endpoint' | 'trust'>;

/** What the flags of the kubelet say, of any command that has them. */
export function kubeletAccess(line: CommandLine, env: System['env']): KubeletAccess {
  return {
    endpoint: set(line.value(agentFlags.kubeletEndpoint)) ?? defaultKubeletEndpoint(env['HOST_IP']),
    trust: {
      isInsecure: line.value(agentFlags.kubeletInsecureTls),
      caFile: set(line.value(agentFlags.kubeletCertificateAuthority)),
      ownFile: join(line.value(agentFlags.kubeletRootDir), 'pki/kubelet.crt'),
    },
  };
}
