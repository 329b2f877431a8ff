import type { StorageUsage } from '../../api/local-storage.ts';
import type { SignalThresholds } from '../../api/node-pressure.ts';
import { defaultThresholds } from '../../node/kubelet/thresholds.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';

interface UsageDeps {
  readonly read: (signal: AbortSignal) => Promise<StorageUsage>;
  /** A reading that began less than this ago serves the other units, too. */
  readonly lastsMs: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
}

/**
 * Reads the usage for several units, which run at once or one after the other; logs values that cannot be, once for each set of them. All pass the
 * signal of the agent: a reading that they share obeys that of the first.
 */
export function sharedUsage({ read, lastsMs, clock, log }: UsageDeps) {
  let last: { readonly usage: Promise<StorageUsage>; readonly atMs: number } | undefined;
  let logged = '';
  const readNow = async (signal: AbortSignal): Promise<StorageUsage> => {
    const usage = await read(signal);
    const impossible = usage.impossible.join(', ');
    if (impossible !== '' && impossible !== logged)
      log.warn({ impossible }, 'the kubelet reports impossible values, which count as unknown');
    logged = impossible;
    return usage;
  };
  return async (signal: AbortSignal): Promise<StorageUsage> => {
    const atMs = clock.monotonicMs();
    if (last !== undefined && atMs - last.atMs < lastsMs) return await last.usage;
    const reading = { usage: readNow(signal), atMs };
    last = reading;
    try {
      return await reading.usage;
    } catch (err) {
      // The next unit tries again.
      if (last === reading) last = undefined;
      throw err;
    }
  };
}

interface ThresholdsSource {
  readonly read: (signal: AbortSignal) => Promise<SignalThresholds>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly log: Logger;
}

/** A kubelet's configuration changes only with a restart. */
const readEveryMs = 10 * 60_000;

/** The kubelet's own thresholds, read now and then; the defaults of Kubernetes if it does not show them. */
export function kubeletThresholds({ read, clock, log }: ThresholdsSource) {
  let last: { readonly thresholds: SignalThresholds; readonly atMs: number } | undefined;
  return async (signal: AbortSignal): Promise<SignalThresholds> => {
    const atMs = clock.monotonicMs();
    if (last !== undefined && atMs - last.atMs < readEveryMs) return last.thresholds;
    let thresholds = last?.thresholds ?? defaultThresholds;
    try {
      thresholds = await read(signal);
    } catch (err) {
      signal.throwIfAborted();
      log.debug({ err: errorLine(err) }, "using the defaults for the kubelet's thresholds");
    }
    last = { thresholds, atMs };
    return thresholds;
  };
}
