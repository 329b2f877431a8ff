import {
  parseAmount,
  thresholdSignals,
  type Amount,
  type SignalThresholds,
  type ThresholdSignal,
} from '../../api/node-pressure.ts';
import { isObject } from '../../api/json.ts';
import { asObject } from '../../kube/codec/json.ts';

/** Upstream's hard thresholds on Linux (pkg/kubelet/apis/config/v1beta1/defaults_linux.go). */
const defaultTexts: Readonly<Record<ThresholdSignal, string>> = {
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
  'memory.available': '100Mi',
};

/** For a kubelet that does not show its configuration. */
export const defaultThresholds: SignalThresholds = thresholdsOf(defaultTexts);

/** Reads the thresholds from the kubelet's `/configz`: of a hard and a soft one the first that is crossed. undefined = no configuration. */
export function configuredThresholds(configz: unknown): SignalThresholds | undefined {
  const { kubeletconfig: config } = asObject(configz);
  if (!isObject(config)) return undefined;
  const { evictionHard, evictionSoft } = config;
  const [hard, soft] = [thresholdsOf(asObject(evictionHard)), thresholdsOf(asObject(evictionSoft))];
  return new Map(
    thresholdSignals.flatMap((signal): (readonly [ThresholdSignal, Amount])[] => {
      const amount = larger(hard.get(signal), soft.get(signal));
      return amount === undefined ? [] : [[signal, amount]];
    }),
  );
}

function thresholdsOf(texts: Readonly<Partial<Record<ThresholdSignal, unknown>>>): SignalThresholds {
  const amounts = new Map<ThresholdSignal, Amount>();
  for (const signal of thresholdSignals) {
    const text = texts[signal];
    const amount = typeof text === 'string' ? parseAmount(text) : undefined;
    if (amount !== undefined) amounts.set(signal, amount);
  }
  return amounts;
}

/** Amounts of the same kind; a percentage and a quantity cannot be compared without the capacity: then the hard one counts. */
function larger(hard: Amount | undefined, soft: Amount | undefined): Amount | undefined {
  if (hard === undefined || soft === undefined) return hard ?? soft;
  return hard.kind === soft.kind && sizeOf(soft) > sizeOf(hard) ? soft : hard;
}

const sizeOf = (amount: Amount): number => (amount.kind === 'percent' ? amount.percent : amount.value);
