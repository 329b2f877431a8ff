import { notSocket } from '../../process/config.ts';
import { LenientCommand, text, type OptionsOf } from '../../process/option.ts';
import type { Load, System } from '../../process/system.ts';

const about = `Removes the pins that dustpan has set on images in containerd on this node, and no others: the kubelet may then remove these images. An agent does it itself when its DaemonSet is deleted. This is for a node on which none could, because it was down or the API server was. A running agent pins images again if a policy in mode Enforce keeps them.

Examples:
  # on a node, as root
  dustpan unpin

  # where this program is not at hand, the same with containerd's own
  ctr -n k8s.io images ls -q 'labels."gc.dustpan.dev/pinned"' |
    xargs -I NAME ctr -n k8s.io images label NAME \\
    io.cri-containerd.pinned= gc.dustpan.dev/pinned=`;

const unpinOptions = () =>
  new LenientCommand('unpin')
    .summary('removes the pins of dustpan from the images of this node')
    .description(about)
    .option(
      '--cri-socket <SOCKET>',
      'Unix socket of the container runtime. Not set: the first that responds of containerd, k3s, MicroK8s and k0s.',
      text(notSocket),
    );

export type UnpinConfig = OptionsOf<typeof unpinOptions>;

export const unpinCommand = (system: System, load: Load<[UnpinConfig, System]>) =>
  unpinOptions().action(async (options) => {
    const run = await load();
    system.exitCode = await run(options, system);
  });
