import { isObject } from '../../api/json.ts';
import { unknownDevices, type DiskDevices } from '../../api/file-system.ts';
import type { StorageUsage } from '../../api/local-storage.ts';
import type { SignalThresholds } from '../../api/node-pressure.ts';
import { JsonItems } from '../../kube/codec/json-items.ts';
import { asObject, parseJson } from '../../kube/codec/json.ts';
import { createTransport, type HttpTransport } from '../../kube/http/http-transport.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { KubeletError, kubeletError } from './error.ts';
import { reportedPod, usageOf, type ReportedPod } from './summary.ts';
import { configuredThresholds } from './thresholds.ts';
import { KubeletCredentials, type KubeletAddress } from './trust.ts';

const summaryPath = '/stats/summary';
const configPath = '/configz';

/** The kubelet has measured before: it needs a second or two for a summary. */
const defaultTimeoutMs = 10_000;
/** Twenty times the summary of a full node. */
const defaultMaxBytes = 32 * 1024 * 1024;

export interface KubeletUsageOptions extends KubeletAddress {
  readonly clock: Clock;
  /** Reads the devices of the file systems, which the kubelet does not report; default: they are unknown. */
  readonly devices?: ((signal: AbortSignal) => Promise<DiskDevices>) | undefined;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

/** Reads the storage usage of the pods from this node's kubelet. Needs only `get` on `nodes/stats`. Rejects with KubeletError. */
export class KubeletUsage {
  readonly #options: KubeletUsageOptions;
  readonly #credentials: KubeletCredentials;
  readonly #transport: HttpTransport;

  constructor(options: KubeletUsageOptions) {
    const { clock } = options;
    this.#options = options;
    this.#credentials = new KubeletCredentials(options);
    const { endpoint } = this.#credentials;
    this.#transport = createTransport({ endpoint, auth: this.#credentials, clock });
  }

  /** Usage keyed by the kubelet's pod UID; for a static pod, by the `configHash` of its mirror. Volumes are as old as the kubelet's last measurement. */
  async usage(signal: AbortSignal): Promise<StorageUsage> {
    const { clock, devices } = this.#options;
    const pods: ReportedPod[] = [];
    const summary = new JsonItems('pods', (pod) => pods.push(...reportedPod(parseJson(pod))));
    for await (const chunk of this.#read(summaryPath, signal))
      parsed("the kubelet's response is not JSON", () => summary.push(chunk));
    const reported = { node: nodeOf(summary.rest), pods };
    return usageOf(reported, clock.now().getTime(), (await devices?.(signal)) ?? unknownDevices);
  }

  /** Returns the summary unchanged, for `stats.json` of a snapshot. */
  async summary(signal: AbortSignal): Promise<Buffer> {
    return await this.#whole(summaryPath, signal);
  }

  /** The thresholds at which the kubelet evicts pods. Needs `get` on `nodes/configz`, before Kubernetes 1.33 on `nodes/proxy`. */
  async thresholds(signal: AbortSignal): Promise<SignalThresholds> {
    const text = await this.#whole(configPath, signal);
    const configz = parsed(
      "the kubelet's response is not JSON",
      (): unknown => JSON.parse(text.toString()),
      configPath,
    );
    const thresholds = configuredThresholds(configz);
    if (thresholds !== undefined) return thresholds;
    throw new KubeletError(`the kubelet's response is not a configuration (${configPath})`, 'malformed');
  }

  async #whole(path: string, signal: AbortSignal): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const chunk of this.#read(path, signal)) chunks.push(chunk);
    return Buffer.concat(chunks);
  }

  close(): void {
    this.#transport.close();
  }

  async *#read(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
    const { endpoint, timeoutMs = defaultTimeoutMs, maxBytes = defaultMaxBytes } = this.#options;
    let sizeBytes = 0;
    try {
      for await (const chunk of this.#transport.stream({ method: 'GET', path, timeoutMs }, signal)) {
        sizeBytes += chunk.length;
        if (sizeBytes > maxBytes)
          throw new KubeletError(
            `the kubelet's response is longer than ${maxBytes} bytes (${path})`,
            'malformed',
          );
        yield chunk;
      }
    } catch (err) {
      signal.throwIfAborted();
      const { tried, names } = this.#credentials;
      throw kubeletError(err, { endpoint, path, timeoutMs, tried, names });
    }
  }
}

/** Returns the field `node`: a response without it is not a stats summary. */
function nodeOf(summary: Buffer): object {
  const wrong = "the kubelet's response is not a stats summary";
  const { node } = asObject(parsed(wrong, () => parseJson(summary)));
  if (isObject(node)) return node;
  throw new KubeletError(`${wrong} (${summaryPath})`, 'malformed');
}

function parsed<T>(wrong: string, parse: () => T, path = summaryPath): T {
  try {
    return parse();
  } catch (cause) {
    throw new KubeletError(`${wrong} (${path})`, 'malformed', { cause });
  }
}
