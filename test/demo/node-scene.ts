import { lstatSync } from 'node:fs';
import type { CriSandbox } from '../sandbox/cri/server.ts';
import type { NodeMess } from './node-mess.ts';
import type { NodeView } from './node-view.ts';
import type { LogLine } from './program.ts';

/** The simulated node and what looks at it. */
export interface Scene {
  readonly cri: CriSandbox;
  readonly mess: NodeMess;
  readonly view: NodeView;
  readonly hasDisk: boolean;
  readonly path: (name: string) => string;
}

/** For a person. */
export const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

/** Which thing a line of the agent's log is about. */
export const idOf = ({ image, container, sandbox, path }: LogLine): string =>
  image ?? container ?? sandbox ?? path ?? '';

/** Whether the thing is on the node: seen in the runtime itself or on the disk, past the agent. */
export function isPresent({ runtime }: CriSandbox, id: string): boolean {
  if (id.startsWith('/')) return lstatSync(id, { throwIfNoEntry: false }) !== undefined;
  if (id.startsWith('sha256:')) return runtime.images.all.some((image) => image.id === id);
  return runtime.pods.containers.has(id) || runtime.pods.sandboxes.has(id);
}
