import { unpinAll } from '../../agent/imagegc/act.ts';
import { ContainerdClient } from '../../containerd/client.ts';
import { servesCri } from '../../cri/probe.ts';
import { findSocket } from '../../cri/sockets.ts';
import { counted } from '../../gc/reasons/words.ts';
import { exitCode } from '../../process/exit.ts';
import { stopSignal, type System } from '../../process/system.ts';
import { printable } from '../../runtime/text/printable.ts';
import type { UnpinConfig } from './command.ts';

/** Removes all pins of dustpan on this node. */
export async function runUnpin({ criSocket }: UnpinConfig, { stdout }: System): Promise<number> {
  const signal = stopSignal(() => undefined);
  const containerd = new ContainerdClient({
    socket: await findSocket({ configured: criSocket, servesCri }, signal),
  });
  try {
    const names = await unpinAll(containerd, signal);
    if (names === undefined) stdout('The runtime is not containerd: dustpan pins nothing there.\n');
    else {
      for (const name of names) stdout(`unpinned ${printable(name)}\n`);
      stdout(`${counted(names.length, 'name')} of images had a pin of dustpan.\n`);
    }
    return exitCode.ok;
  } finally {
    containerd.close();
  }
}
