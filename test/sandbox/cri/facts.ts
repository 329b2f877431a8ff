import { randomBytes } from 'node:crypto';

export interface SimImage {
  readonly id: string;
  tags: string[];
  digests: string[];
  /** Compressed size, as the runtime reports it. */
  readonly sizeBytes: number;
  pinned: boolean;
  /** An OCI artifact, which CRI-O lists with the images: it is no root file system. */
  readonly isArtifact: boolean;
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
  /** The requested image, and its resolved id. */
  readonly image: string;
  readonly imageId: string;
  state: SimState;
  readonly createdAtNs: bigint;
  finishedAtNs: bigint;
  exitCode: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** '' = no log. */
  readonly logPath: string;
  readonly command: readonly string[];
  readonly mountedImages: readonly string[];
}

/** An id in containerd's form: 64 hexadecimal digits. */
export const newId = (): string => randomBytes(32).toString('hex');
