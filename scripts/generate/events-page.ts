import { eventKinds, type EventKind } from './events-list.ts';
import { code, codes, heading, page, table } from './markdown.ts';

/** docs/reference/events.md: every Event, by who reports it. */
export function eventsPage(): string {
  return page('Events', 'the functions that make them', [
    'Events are `events.k8s.io/v1`. `reportingController` is `gc.dustpan.dev/controller` or `gc.dustpan.dev/agent`: select by it, for kubelet and agent use',
    'the same reasons. Those about objects without a namespace (Node, GCPolicy) are in the namespace `default`:',
    '',
    '```sh',
    'kubectl get events.events.k8s.io -A --field-selector reportingController=gc.dustpan.dev/agent',
    '```',
    '',
    'What recurs becomes a series of one Event, as with upstream: the second time its count is written, then every 30 minutes, and at the end when it has not',
    'recurred for 6 minutes; its note stays the first one. Of one object at most 25 new Events are written at once and one in 5 minutes after that, of all',
    'together 200 and 10 a second; what is dropped is counted by `dustpan_events_dropped_total`.',
    ...section('controller'),
    ...section('agent'),
  ]);
}

const section = (face: EventKind['face']): readonly string[] => [
  ...heading(2, `Of the ${face}`).slice(0, -1),
  ...eventKinds.filter((kind) => kind.face === face).flatMap(entry),
];

function entry({ samples, regarding, when, upstream }: EventKind): readonly string[] {
  const distinct = (words: readonly string[]): readonly string[] => [...new Set(words)];
  return [
    ...distinct(samples.map(({ reason }) => reason)).flatMap((reason) => heading(3, code(reason))),
    when,
    ...table(
      ['', ''],
      [
        ['type', codes(distinct(samples.map(({ type }) => type)))],
        ['action', codes(distinct(samples.map(({ action }) => action)))],
        ['regarding', regarding],
        ['note, for example', samples.map(({ note }) => code(note)).join('<br>')],
        ["upstream's counterpart", upstream],
      ],
    ),
  ];
}
