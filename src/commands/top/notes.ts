import { staleMinutes } from '../../api/report/fresh.ts';
import { isAhead, type TopFacts, type TopNode } from './facts.ts';

/** Something that is unknown. */
export interface TopNote {
  readonly reason: keyof typeof messages | 'PartlyUnknown';
  /** Empty = all of the nodes. */
  readonly nodes: readonly string[];
  readonly message: string;
}

const messages = {
  NoReport:
    'There is no report: no agent runs, or none has reported yet. An agent reports within 60 s of its start.',
  NodesUnknown: 'You may not list nodes: nodes without an agent are not shown.',
  NoAgent: 'No agent has reported, so the usage is unknown.',
  NoUsage:
    'The report has no usage: the agent has just started and measures within a minute, or has an older version.',
  Stale: `The values are older than ${staleMinutes} minutes: does the agent run, and is its clock right?`,
  ClockAhead: 'The clock of the node is ahead of the clock here: the age of the values is unknown.',
} as const;

/** What is unknown; nodes of which the same is unknown are in one note. */
export function notesOf(nodes: readonly TopNode[], facts: TopFacts, now: Date): readonly TopNote[] {
  const ofAll = [
    ...(nodes.length === 0 ? (['NoReport'] as const) : []),
    ...(facts.nodes === undefined ? (['NodesUnknown'] as const) : []),
  ].map((reason) => ({ reason, nodes: [], message: messages[reason] }));
  const found = nodes.flatMap((one) => ofNode(one, now).map((note) => ({ note, node: one.name })));
  const groups = Map.groupBy(found, ({ note: { reason, message } }) => `${reason} ${message}`);
  const ofNodes = [...groups.values()].flatMap((group) =>
    group
      .slice(0, 1)
      .map(({ note: { reason, message } }) => ({ reason, nodes: group.map(({ node }) => node), message })),
  );
  return [...ofAll, ...ofNodes];
}

function ofNode({ hasReport, usage, time, stale }: TopNode, now: Date): readonly Omit<TopNote, 'nodes'>[] {
  const reasons: readonly (keyof typeof messages)[] = hasReport
    ? [
        ...(usage === undefined ? (['NoUsage'] as const) : []),
        ...(stale ? (['Stale'] as const) : []),
        ...(isAhead(time, now) ? (['ClockAhead'] as const) : []),
      ]
    : ['NoAgent'];
  const unknown = usage?.unknown;
  return [
    ...reasons.map((reason) => ({ reason, message: messages[reason] })),
    ...(unknown === undefined ? [] : [{ reason: 'PartlyUnknown', message: `Unknown: ${unknown}.` } as const]),
  ];
}
