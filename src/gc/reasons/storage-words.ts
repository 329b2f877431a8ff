import type { StorageExcess, StorageLimit } from '../../api/local-storage.ts';
import { quantityText } from '../../runtime/text/quantity.ts';
import { sizeText } from '../../runtime/text/size-text.ts';

/** An exceeded limit and its usage. */
export type ExceededLimit = Pick<StorageExcess, 'signal' | 'subject' | 'usedBytes' | 'limit'>;

/** Returns a limit in bytes with its shorter text: `100Mi` or `2G`. */
export function limitOfBytes(bytes: number): StorageLimit {
  const [binary, decimal] = [quantityText(bytes), quantityText(bytes, 'decimal')];
  return { bytes, text: decimal.length < binary.length ? decimal : binary };
}

/**
 * Explains an eviction: first the kubelet's message (pkg/kubelet/eviction/helpers.go), then the usage. If the policy evicts below 100 percent,
 * the message names that percentage, because the limit itself is not exceeded.
 */
export function evictionMessage(excess: ExceededLimit, evictAtPercent = 100): string {
  const isOver = excess.usedBytes > excess.limit.bytes;
  return `${kubeletWords(excess, isOver ? '' : `${evictAtPercent} % of `)}It uses ${usageOf(excess)}.`;
}

/** `Usage of EmptyDir volume "tmp" is 85.0 MiB, 85 % of the limit 100Mi`, without a full stop. */
export const usageClause = (excess: ExceededLimit): string => `${subjectOf(excess)} is ${usageOf(excess)}`;

function kubeletWords({ signal, subject = '', limit: { text } }: ExceededLimit, part: string): string {
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

/** `130 MiB, 130 % of the limit 100Mi`; a limit of 0 has no percentage. */
function usageOf({ usedBytes, limit }: ExceededLimit): string {
  const part = limit.bytes > 0 ? `${Math.floor((100 * usedBytes) / limit.bytes)} % of` : 'with';
  return `${sizeText(usedBytes)}, ${part} the limit ${limit.text}`;
}
