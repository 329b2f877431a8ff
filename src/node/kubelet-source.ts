import type { PodStorageUsage, StorageUsage } from '../api/local-storage.ts';
import type { Clock } from '../runtime/clock.ts';
import { KubeletClient, type KubeletClientOptions } from './kubelet-client.ts';
import { KubeletError } from './kubelet-error.ts';
import { SummaryScanner } from './kubelet-scanner.ts';
import { isImageFsDedicated, podUsageOf } from './kubelet-summary.ts';

const path = '/stats/summary';

export interface KubeletUsageOptions extends KubeletClientOptions {
  readonly clock: Pick<Clock, 'now'>;
}

/** What pods use by this node's kubelet; it needs `get` on `nodes/stats` and nothing else. Rejects with KubeletError. */
export class KubeletUsage {
  readonly #client: KubeletClient;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(options: KubeletUsageOptions) {
    this.#client = new KubeletClient(options);
    this.#clock = options.clock;
  }

  /** By the UIDs that the kubelet has: of a static pod that is its mirror's `configHash`. Volumes are as old as the kubelet's last walk. */
  async usage(signal: AbortSignal): Promise<StorageUsage> {
    let pods = new Map<string, PodStorageUsage>();
    let scanner = new SummaryScanner(() => undefined);
    const start = (): ((chunk: Buffer) => void) => {
      const found = (pods = new Map<string, PodStorageUsage>());
      const scan = (scanner = new SummaryScanner((pod) => {
        for (const [uid, usage] of podUsageOf(pod)) found.set(uid, usage);
      }));
      return (chunk) => {
        scan.push(chunk);
      };
    };
    await this.#client.get(path, start, signal);
    const dedicatedImageFs = isImageFsDedicated(nodeOf(scanner));
    return { atMs: this.#clock.now().getTime(), dedicatedImageFs, pods };
  }

  /** The answer as it is, for `stats.json` of a snapshot. */
  async summary(signal: AbortSignal): Promise<Buffer> {
    let parts: Buffer[] = [];
    const start = (): ((chunk: Buffer) => void) => {
      const found: Buffer[] = (parts = []);
      return (chunk) => void found.push(chunk);
    };
    await this.#client.get(path, start, signal);
    return Buffer.concat(parts);
  }

  /** Gives the connection back. */
  close(): void {
    this.#client.close();
  }
}

/** Without it an answer is no summary, but perhaps another server's. */
function nodeOf(scanner: SummaryScanner): object {
  const wrong = (cause?: unknown): KubeletError =>
    new KubeletError(`the kubelet's answer is no stats summary (${path})`, 'malformed', { cause });
  const envelope = tried(() => scanner.finish(), wrong);
  if (typeof envelope !== 'object' || envelope === null || !('node' in envelope)) throw wrong();
  const { node } = envelope;
  if (typeof node !== 'object' || node === null) throw wrong();
  return node;
}

function tried<T>(act: () => T, wrong: (cause: unknown) => Error): T {
  try {
    return act();
  } catch (cause) {
    throw wrong(cause);
  }
}
