import { quantityText } from '../runtime/quantity-text.ts';
import { sizeText } from '../runtime/size-text.ts';
import type { EvictionRequest, StorageExcess, StorageLimit } from './local-storage.ts';

/** What a message about an eviction is made from; an EvictionRequest with `limitOfBytes` has it all. */
type ExceededLimit = Pick<StorageExcess, 'signal' | 'subject' | 'usedBytes' | 'limit'>;

/** A limit of which only the bytes are known, in the form that is shorter: `100Mi`, `2G`. */
export function limitOfBytes(bytes: number): StorageLimit {
  const [binary, decimal] = [quantityText(bytes), quantityText(bytes, 'decimal')];
  return { bytes, text: decimal.length < binary.length ? decimal : binary };
}

/**
 * Why a pod is evicted, in upstream's words (upstream.md 4.2), then the figures. A limit that is not exceeded yet, as the policy evicts below
 * 100 percent of it, is not said to be.
 */
export function evictionMessage(excess: ExceededLimit, evictAtPercent = 100): string {
  const isOver = excess.usedBytes > excess.limit.bytes;
  return `${upstreamWords(excess, isOver ? '' : `${evictAtPercent} % of `)}It uses ${figures(excess)}.`;
}

/** The same of a request, which has the limit in bytes alone. */
export const requestMessage = (request: EvictionRequest, evictAtPercent?: number): string =>
  evictionMessage(
    { ...request, usedBytes: request.observedBytes, limit: limitOfBytes(request.limitBytes) },
    evictAtPercent,
  );

/** What is used of which limit: `Usage of EmptyDir volume "tmp" is 85.0 MiB, 85 % of the limit 100Mi`; no full stop. */
export const usageClause = (excess: ExceededLimit): string => `${subjectOf(excess)} is ${figures(excess)}`;

function upstreamWords({ signal, subject = '', limit: { text } }: ExceededLimit, part: string): string {
  switch (signal) {
    case 'emptydirfs.limit':
      return `Usage of EmptyDir volume "${subject}" exceeds ${part}the limit "${text}". `;
    case 'ephemeralpodfs.limit':
      return `Pod ephemeral local storage usage exceeds ${part}the total limit of containers ${text}. `;
    case 'ephemeralcontainerfs.limit':
      return `Container ${subject} exceeded ${part}its local ephemeral storage limit "${text}". `;
  }
}

function subjectOf({ signal, subject = '' }: ExceededLimit): string {
  switch (signal) {
    case 'emptydirfs.limit':
      return `Usage of EmptyDir volume "${subject}"`;
    case 'ephemeralpodfs.limit':
      return 'Ephemeral local storage usage of the pod';
    case 'ephemeralcontainerfs.limit':
      return `Local ephemeral storage usage of container ${subject}`;
  }
}

/** `130 MiB, 130 % of the limit 100Mi`; of a limit of 0 everything is too much. */
function figures({ usedBytes, limit }: ExceededLimit): string {
  const part = limit.bytes > 0 ? `${Math.floor((100 * usedBytes) / limit.bytes)} % of` : 'with';
  return `${sizeText(usedBytes)}, ${part} the limit ${limit.text}`;
}
