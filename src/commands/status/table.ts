import { ageText } from '../cli/age-text.ts';
import { bytesText } from '../plan/bytes.ts';
import type { Trouble } from './trouble.ts';
import type { StatusView } from './view.ts';
import { paragraph } from '../cli/table.ts';

interface Screen {
  readonly now: Date;
  /** Characters of a line. */
  readonly width: number;
  readonly colours: boolean;
}

const red = (text: string): string => `\u001b[31m${text}\u001b[39m`;

/** The status for people, in lines: problems, then totals. */
export function statusTable(view: StatusView, { now, width, colours }: Screen): readonly string[] {
  const troubles = view.trouble.flatMap((trouble) => paragraph(`! ${troubleText(trouble, now)}`, width));
  return [
    ...(colours ? troubles.map(red) : troubles),
    ...(troubles.length > 0 ? [''] : []),
    ...totalLines(view),
    ...paragraph('Details: kubectl get gcpolicies,nodegcreports -o wide', width),
  ];
}

const maxNames = 3;

function troubleText({ kind, names, reason, message, since }: Trouble, now: Date): string {
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  const age = since === null ? '' : ` (${ageText(since, now)})`;
  return `${kind} ${names.slice(0, maxNames).join(', ')}${more}: ${reason}${age}: ${message}`;
}

function totalLines({ totals, nodes }: StatusView): readonly string[] {
  const { policies, podsDue, podsDueInDryRun, podsDeleted, reclaimableBytes, reclaimedBytes } = totals;
  const untouched = podsDueInDryRun === podsDue ? 'none' : `${podsDueInDryRun} of them not`;
  const dryRun = podsDueInDryRun === 0 ? ',' : `, ${untouched} to be touched (DryRun);`;
  const freed = `${bytesText(reclaimableBytes)} can be freed, ${bytesText(reclaimedBytes)} were freed`;
  const pods = [
    counted(policies, 'policy', 'policies'),
    `pods: ${podsDue} due${dryRun} ${podsDeleted} deleted`,
  ];
  return [
    ...(policies === 0 ? ['There is no GCPolicy: nothing is removed.'] : pods),
    nodes?.length === 0 ? 'No agent has reported.' : `${counted(totals.nodes, 'node', 'nodes')}: ${freed}`,
    ...(nodes === null ? ['The reports of nodes are not known.'] : []),
  ];
}

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;
