import { eventKinds, type EventKind } from './events-list.ts';
import { code, codes, heading, page, table } from './markdown.ts';

/** docs/reference/events.md. */
export function eventsPage(): string {
  return page('Events', 'the functions that create them', [
    'Events are `events.k8s.io/v1`. `reportingController` is `gc.dustpan.dev/controller` or `gc.dustpan.dev/agent`: select by it, because kubelet and agent',
    'use the same reasons. Events about objects without a namespace (Node, GCPolicy) are in the namespace `default`:',
    '',
    '```sh',
    'kubectl get events.events.k8s.io -A --field-selector reportingController=gc.dustpan.dev/agent',
    '```',
    '',
    'Repeated Events become a series of one Event, as upstream: its count is written at the second occurrence, then every 30 minutes, and after 6 minutes',
    'without a repetition. Its note remains the first one. dustpan writes at most 25 new Events per object at once and then one per 5 minutes; in total 200',
    'at once and then 10 per second. `dustpan_events_dropped_total` counts dropped Events.',
    ...section('Controller', 'controller'),
    ...section('Agent', 'agent'),
  ]);
}

const section = (title: string, component: EventKind['component']): readonly string[] => [
  ...heading(2, title).slice(0, -1),
  ...eventKinds.filter((kind) => kind.component === component).flatMap(entry),
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
