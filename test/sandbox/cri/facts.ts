import { randomBytes } from 'node:crypto';

/** An image of the simulated node. */
export interface SimImage {
  readonly id: string;
  tags: string[];
  digests: string[];
  /** As the runtime reports it: packed. */
  readonly sizeBytes: number;
  pinned: boolean;
  readonly runtimeHandler: string;
}

export interface SimSandbox {
  readonly id: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly attempt: number;
  ready: boolean;
  readonly createdAtNs: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly runtimeHandler: string;
  /** '' = its containers have no logs. */
  readonly logDirectory: string;
}

export type SimState = 'Created' | 'Running' | 'Exited' | 'Unknown';

export interface SimContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly name: string;
  readonly attempt: number;
  /** As it was asked for, and what it was resolved to. */
  readonly image: string;
  readonly imageId: string;
  state: SimState;
  readonly createdAtNs: bigint;
  finishedAtNs: bigint;
  exitCode: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** '' = it has no log. */
  readonly logPath: string;
  readonly command: readonly string[];
  readonly mountedImages: readonly string[];
  /** undefined = the runtime has no figure for it. */
  writableBytes: number | undefined;
}

/** An id as containerd makes them: 64 hexadecimal digits. */
export const newId = (): string => randomBytes(32).toString('hex');

/** The one thing with this id, or with an id that begins so; as containerd, which takes cut ids. */
export function byId<T extends { readonly id: string }>(all: Iterable<T>, id: string): T | undefined {
  if (id === '') return undefined;
  const hits = [...all].filter((one) => one.id.startsWith(id));
  return hits.find((one) => one.id === id) ?? (hits.length === 1 ? hits[0] : undefined);
}
