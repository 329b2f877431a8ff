import { counted } from '../../gc/reasons/words.ts';
import { paragraph } from '../../process/table.ts';
import { compactQuantityText } from '../../runtime/text/size-text.ts';
import type { TopDisk } from './view.ts';

/** Lines above the kinds. A sum hides a full file system, so its own values are there, too. */
export function diskTitle(view: TopDisk, width: number): readonly string[] {
  const { nodes, otherNodes, fileSystems, reclaimableBytes, reclaimableLowerBound } = view;
  if (nodes === 0) return [];
  const [fullest] = fileSystems;
  const used =
    nodes === 1 && fullest !== undefined
      ? `${fullest.node}: ${fileSystems.map((disk) => `${disk.name} ${usedText(disk)}${inBrackets(disk)}`).join(', ')}`
      : `${counted(nodes, 'node')}: ${usedText(view)}`;
  const reclaimable =
    reclaimableBytes === undefined
      ? 'it is unknown how much can be reclaimed'
      : `${reclaimableLowerBound ? '≥' : ''}${compactQuantityText(reclaimableBytes)} can be reclaimed`;
  const others = otherNodes === 0 ? '' : ` Not included: ${counted(otherNodes, 'node')}.`;
  const fullestLines =
    nodes === 1 || fullest?.usedPercent === undefined
      ? []
      : paragraph(`Fullest: ${fullest.node} ${fullest.name}${inBrackets(fullest)}.`, width);
  return [...paragraph(`${used}, ${reclaimable}.${others}`, width), ...fullestLines];
}

const usedText = ({ usedBytes, capacityBytes }: Pick<TopDisk, 'usedBytes' | 'capacityBytes'>): string =>
  `${compactQuantityText(usedBytes)} of ${compactQuantityText(capacityBytes)} used`;

const inBrackets = ({ usedPercent }: Pick<TopDisk['fileSystems'][number], 'usedPercent'>): string =>
  usedPercent === undefined ? '' : ` (${usedPercent}%)`;

export function nextLines({ next }: TopDisk, width: number): readonly string[] {
  if (next === undefined) return [];
  const { kind, command, planCommand } = next;
  return paragraph(`Next: '${command}' for the ${kind}, '${planCommand}' for what a policy removes.`, width);
}
