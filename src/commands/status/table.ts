import { shortSizeText } from '../../runtime/text/size-text.ts';
import { ageText, firstOf, paragraph, red } from '../cli/table.ts';
import type { Trouble } from './trouble.ts';
import type { StatusView } from './view.ts';

interface Screen {
  readonly now: Date;
  /** Characters of a line. */
  readonly width: number;
  readonly colours: boolean;
}

/** The status for people, in lines: problems, then totals. */
export function statusTable(view: StatusView, { now, width, colours }: Screen): readonly string[] {
  const troubles = view.trouble.flatMap((trouble) => paragraph(`! ${troubleText(trouble, now)}`, width));
  return [
    ...(colours ? troubles.map(red) : troubles),
    ...(troubles.length > 0 ? [''] : []),
    ...[...totalLines(view), 'Details: kubectl get gcpolicies,nodegcreports -o wide'].flatMap((line) =>
      paragraph(line, width),
    ),
  ];
}

function troubleText({ kind, names, reason, message, since }: Trouble, now: Date): string {
  const age = since === null ? '' : ` (${ageText(since, now)})`;
  return `${kind} ${firstOf(names, 3)}: ${reason}${age}: ${message}`;
}

function totalLines({ totals, nodes }: StatusView): readonly string[] {
  const { policies, podsDue, podsDueInDryRun, podsDeleted, podsDeletedSince } = totals;
  const { reclaimableBytes, reclaimedBytes, reclaimedSince } = totals;
  const share = podsDueInDryRun === podsDue ? 'all' : `${podsDueInDryRun} of them`;
  const dryRun = podsDueInDryRun === 0 ? ',' : `, ${share} under DryRun policies;`;
  const freed = `${shortSizeText(reclaimableBytes)} can be freed, ${shortSizeText(reclaimedBytes)} were freed${sinceText(reclaimedSince)}`;
  const pods = [
    counted(policies, 'policy', 'policies'),
    `pods: ${podsDue} due${dryRun} ${podsDeleted} deleted${sinceText(podsDeletedSince)}`,
  ];
  return [
    ...(policies === 0 ? ['There is no GCPolicy: nothing is removed.'] : pods),
    nodes?.length === 0 ? 'No agent has reported.' : `${counted(totals.nodes, 'node', 'nodes')}: ${freed}`,
    ...(nodes === null ? ['The reports of nodes could not be read.'] : []),
  ];
}

/** To the minute. */
const sinceText = (time: string | null): string =>
  time === null ? '' : ` since ${time.slice(0, 'YYYY-MM-DD'.length)} ${time.slice(11, 16)} UTC`;
const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
