import type { StorageUsage } from '../../api/local-storage.ts';
import type { SignalThresholds } from '../../api/node-pressure.ts';
import { defaultThresholds } from '../../node/kubelet/thresholds.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';

type Read<T> = (signal: AbortSignal) => Promise<T>;

interface Lasting {
  /** A reading that began less than this ago serves other callers, too. */
  readonly lastsMs: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Shares a reading while it lasts. All callers pass the signal of the agent: a shared reading obeys that of the first. */
function shared<T>(read: Read<T>, { lastsMs, clock }: Lasting): Read<T> {
  let last: { readonly value: Promise<T>; readonly atMs: number } | undefined;
  return async (signal) => {
    const atMs = clock.monotonicMs();
    if (last === undefined || atMs - last.atMs >= lastsMs) last = { value: read(signal), atMs };
    const reading = last;
    try {
      return await reading.value;
    } catch (err) {
      // The next caller tries again.
      if (last === reading) last = undefined;
      throw err;
    }
  };
}

/** Reads the usage for several units, which run at once or one after the other; logs values that cannot be, once for each set of them. */
export function sharedUsage(
  read: Read<StorageUsage>,
  { log, ...lasting }: Lasting & { readonly log: Logger },
): Read<StorageUsage> {
  let logged = '';
  return shared(async (signal) => {
    const usage = await read(signal);
    const impossible = usage.impossible.join(', ');
    if (impossible !== '' && impossible !== logged)
      log.warn({ impossible }, 'the kubelet reports impossible values, which count as unknown');
    logged = impossible;
    return usage;
  }, lasting);
}

/** A kubelet's configuration changes only with a restart. */
const readEveryMs = 10 * 60_000;

/** The kubelet's own thresholds, read now and then; the defaults of Kubernetes if it does not show them. */
export function kubeletThresholds(
  read: Read<SignalThresholds>,
  { clock, log }: { readonly clock: Lasting['clock']; readonly log: Logger },
): Read<SignalThresholds> {
  let thresholds = defaultThresholds;
  return shared(
    async (signal) => {
      try {
        thresholds = await read(signal);
      } catch (err) {
        signal.throwIfAborted();
        log.debug({ err: errorLine(err) }, "using the defaults for the kubelet's thresholds");
      }
      return thresholds;
    },
    { lastsMs: readEveryMs, clock },
  );
}
