import type { Command } from './command.ts';
import { variables } from './variables.ts';
import { whyConfig, whyFlags } from './why-config.ts';

export const whyCommand: Command = {
  name: 'why',
  summary: 'explains why one pod, image or container goes or stays',
  description:
    'Says of one object what the controller or the agent would do with it and why: the verdict and its reason, the figures, the policy and ' +
    'the field of it that decides, when time alone would change the verdict, and what else would. NAME is NAMESPACE/NAME of a pod (NAME alone: ' +
    'in the current namespace), a reference or an id of an image, an id of a container or a sandbox, or the path of a log; of an id its ' +
    'beginning is enough. Nothing is touched. It plans as the command plan does, from the cluster or a snapshot; images and containers are seen on their ' +
    'node only, with --cri-socket, or in a snapshot that was taken there.',
  operands: ['pod|image|container', 'NAME'],
  flags: whyFlags,
  environment: [variables.kubeconfig, variables.nodeName, variables.hostIp],
  examples: [
    { what: 'why is this pod still there?', line: 'dustpan why pod batch/report-28' },
    {
      what: 'what would become of it under another policy',
      line: 'dustpan why pod batch/report-28 --policy=policy.yaml',
    },
    {
      what: 'on a node: why does this image not go?',
      line: 'dustpan why image nginx:1.25 --cri-socket=/run/containerd/containerd.sock',
    },
    { what: 'from a snapshot', line: 'dustpan why container 4f2ac9 --snapshot=./snapshot' },
  ],
  run: async (line, system) => {
    const config = whyConfig(line, system);
    const { runWhy } = await import('./why.ts');
    return runWhy(config, system);
  },
};
