import { describe, expect, test } from 'vitest';
import { inventoryOf } from '../../../../src/agent/containergc/report.ts';
import { observeLogs, type LogHistory } from '../../../../src/agent/containergc/large-logs.ts';
import type { ContainerGcFacts, LogWarning } from '../../../../src/agent/containergc/facts.ts';
import type { LogEntry } from '../../../../src/node/logs/list.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { apiPod, dead, factsOf, link, log, logsRule, planOf, staticSource } from './builders.ts';

const warnAt = (warnBytesPerContainer: number | undefined) => ({ logs: logsRule({ warnBytesPerContainer }) });
const podLogs = 'default_pod_uid-pod';
const live = (bytes: number, over: Partial<LogEntry> = {}): LogEntry =>
  log(`${podLogs}/main/0.log`, { bytes, ...over });
const rotated = (bytes: number, over: Partial<LogEntry> = {}): LogEntry =>
  log(`${podLogs}/main/0.log.20260115-110000`, { bytes, ...over });
const at = (minutes: number): Pick<LogEntry, 'mtimeMs'> => ({ mtimeMs: minutesAgo(minutes) });
const main = container('main-0');
const short = ({ target: { id, logPath, bytes } }: LogWarning): string =>
  `${id} ${logPath.replace('/var/log/pods/', '')} ${bytes}`;

interface Row {
  readonly name: string;
  readonly logs: readonly LogEntry[] | undefined;
  /** By default the container `main` runs in an ordinary pod. */
  readonly facts?: Partial<Pick<ContainerGcFacts, 'containers' | 'sandboxes' | 'pods'>>;
  readonly warnBytes?: number | undefined;
  readonly warnings: readonly string[];
}

const isLive = `main-0 ${podLogs}/main/0.log`;
const isRotated = `main-0 ${podLogs}/main/0.log.20260115-110000`;

test.each<Row>([
  { name: 'a log above the size', logs: [live(1001)], warnings: [`${isLive} 1001`] },
  { name: 'not a log of the size', logs: [live(1000)], warnings: [] },
  { name: 'nothing while the policy sets no size', logs: [live(1e12)], warnBytes: undefined, warnings: [] },
  { name: 'nothing while the logs are unknown', logs: undefined, warnings: [] },
  {
    name: 'nothing while the containers are unknown',
    logs: [live(2000)],
    facts: { containers: undefined },
    warnings: [],
  },
  {
    name: 'not an ended container',
    logs: [live(2000)],
    facts: { containers: [dead('main-0', 5)] },
    warnings: [],
  },
  {
    name: 'not a container that the kubelet did not create',
    logs: [live(2000), log('default_pod_/main/0.log', { bytes: 2000 })],
    facts: { containers: [container('main-0', { labels: {} })] },
    warnings: [],
  },
  {
    name: 'only the log of the attempt that runs',
    logs: [live(2000), log(`${podLogs}/main/1.log`, { bytes: 3000 })],
    facts: { containers: [container('main-1', { attempt: 1 })] },
    warnings: [`main-1 ${podLogs}/main/1.log 3000`],
  },
  {
    name: 'only the log of the same container and pod',
    logs: [
      log(`${podLogs}/other/0.log`, { bytes: 2000 }),
      log('default_pod_uid-b/main/0.log', { bytes: 2000 }),
      log(`${podLogs}/main/0.log/deeper`, { bytes: 2000 }),
      log(`${podLogs}/main/trace`, { bytes: 2000 }),
    ],
    warnings: [],
  },
  {
    name: 'a directory whose name is only the UID',
    logs: [log('11111111-2222-3333-4444-555555555555/main/0.log', { bytes: 2000 })],
    facts: {
      containers: [
        container('c', { labels: { 'io.kubernetes.pod.uid': '11111111-2222-3333-4444-555555555555' } }),
      ],
    },
    warnings: ['c 11111111-2222-3333-4444-555555555555/main/0.log 2000'],
  },
  {
    name: 'a rotated log does not count while the current one is written',
    logs: [live(10, at(1)), rotated(5000, at(20))],
    warnings: [],
  },
  {
    name: 'a rotated log that is still written, because the runtime opened no other',
    logs: [rotated(5000)],
    warnings: [`${isRotated} 5000`],
  },
  {
    name: 'a rotated log that is still written beside a new one',
    logs: [live(0, at(20)), rotated(5000, at(1))],
    warnings: [`${isRotated} 5000`],
  },
  {
    name: 'of two that changed at once, the one without a suffix',
    logs: [rotated(5000, at(1)), live(2000, at(1))],
    warnings: [`${isLive} 2000`],
  },
  {
    name: 'not a compressed log, nor one that is being compressed',
    logs: [
      live(10, at(20)),
      log(`${podLogs}/main/0.log.20260115-110000.gz`, { bytes: 5000, ...at(1) }),
      log(`${podLogs}/main/0.log.20260115-110000.tmp`, { bytes: 5000, ...at(1) }),
    ],
    warnings: [],
  },
  {
    name: 'a link stands for its target',
    logs: [live(0, { target: '../../elsewhere/main.log' }), log('elsewhere/main.log', { bytes: 2000 })],
    warnings: ['main-0 elsewhere/main.log 2000'],
  },
  {
    name: 'a link to a log that is not listed has no known size',
    logs: [live(0, { target: '/var/lib/docker/containers/main.log' })],
    warnings: [],
  },
  {
    name: 'a link to a link has no known size',
    logs: [
      live(0, { target: '/var/log/containers/a.log' }),
      link('a.log', 'elsewhere/main.log'),
      log('elsewhere/main.log', { bytes: 2000 }),
    ],
    warnings: [],
  },
  {
    name: 'an opted-out pod too',
    logs: [live(2000)],
    facts: { pods: [{ ...apiPod('pod'), isOptedOut: true }] },
    warnings: [`${isLive} 2000`],
  },
  {
    name: 'a static pod too',
    logs: [live(2000)],
    facts: { sandboxes: [sandbox('pod', { annotations: staticSource })] },
    warnings: [`${isLive} 2000`],
  },
  {
    name: 'the largest first',
    logs: [
      live(2000),
      log(`${podLogs}/b/0.log`, { bytes: 3000 }),
      log(`${podLogs}/a/0.log`, { bytes: 2000 }),
    ],
    facts: { containers: [main, container('a-0', { name: 'a' }), container('b-0', { name: 'b' })] },
    warnings: [`b-0 ${podLogs}/b/0.log 3000`, `a-0 ${podLogs}/a/0.log 2000`, `${isLive} 2000`],
  },
])('warns about $name', ({ logs, warnings, facts, ...row }) => {
  const warnBytes = 'warnBytes' in row ? row.warnBytes : 1000;
  const plan = planOf({ containers: [main], pods: [apiPod('pod')], ...facts, logs }, warnAt(warnBytes));
  expect(plan.warnings.map(short)).toEqual(warnings);
  expect(plan.removals.map(({ target }) => target.kind)).not.toContain('LogFile');
});

test('a warning does not replace the decision about its container', () => {
  const { kept } = planOf({ pods: [apiPod('pod')], containers: [main], logs: [live(2000)] }, warnAt(1000));
  expect(kept.map(({ reason }) => reason)).toEqual(['Running', 'InUse']);
});

describe('an Event', () => {
  /** Size of the log, or why it is not measured. */
  type Pass = readonly [minute: number, log: number | LogEntry | 'no log' | 'no listing' | 'ended'];

  function raisedBy(passes: readonly Pass[]): readonly string[] {
    const events: string[] = [];
    let history: LogHistory = new Map();
    for (const [minute, found] of passes) {
      const entry = typeof found === 'number' ? live(found) : found;
      const logs = entry === 'no listing' ? undefined : typeof entry === 'string' ? [] : [entry];
      const facts = factsOf({ containers: found === 'ended' ? [] : [main], logs });
      const { warnings } = planOf({ containers: [main], logs }, warnAt(1000));
      const pass = { facts, warnings, now: new Date(now.getTime() + minute * 60_000) };
      const observed = observeLogs(history, pass);
      history = observed.history;
      for (const { growthBytesPerMinute } of observed.raised)
        events.push(`${minute} min: ${growthBytesPerMinute ?? 'no growth'}`);
    }
    return events;
  }

  test.each<{ readonly name: string; readonly passes: readonly Pass[]; readonly events: readonly string[] }>([
    {
      name: 'waits for a second measurement, for the growth',
      passes: [
        [0, 2000],
        [1, 2600],
      ],
      events: ['1 min: 600'],
    },
    {
      name: 'comes at once when the growth is known before',
      passes: [
        [0, 400],
        [1, 900],
        [2, 1400],
      ],
      events: ['2 min: 500'],
    },
    {
      name: 'comes once',
      passes: [
        [0, 2000],
        [1, 2600],
        [2, 3200],
        [60, 90_000],
      ],
      events: ['1 min: 600'],
    },
    {
      name: 'comes again after the log was smaller',
      passes: [
        [0, 2000],
        [1, 2600],
        [2, 500],
        [3, 1100],
        [4, 1700],
      ],
      events: ['1 min: 600', '3 min: 600'],
    },
    {
      name: 'comes for a log that does not grow, but not before that is sure',
      passes: [
        [0, 2000],
        [1, 2000],
        [2, 2000],
        [3, 2000],
        [4, 2000],
      ],
      events: ['3 min: no growth'],
    },
    {
      name: 'is not repeated after a listing without the log, or without any',
      passes: [
        [0, 2000],
        [1, 2600],
        [2, 'no log'],
        [3, 'no listing'],
        [4, 4400],
        [5, 5000],
      ],
      events: ['1 min: 600'],
    },
    {
      name: 'is not repeated when the container writes to another file',
      passes: [
        [0, 2000],
        [1, 2600],
        [2, rotated(2600)],
        [3, rotated(3200)],
      ],
      events: ['1 min: 600'],
    },
    {
      name: 'measures the growth of a new file from its beginning',
      passes: [
        [0, 100],
        [1, 200],
        [2, rotated(5000)],
        [3, rotated(5010)],
      ],
      events: ['3 min: 10'],
    },
    {
      name: 'takes one burst for little growth',
      passes: [...Array.from({ length: 10 }, (_, minute): Pass => [minute, 100]), [10, 2000]],
      events: ['10 min: 121'],
    },
    {
      name: 'forgets a container that ended',
      passes: [
        [0, 2000],
        [1, 2600],
        [2, 'ended'],
        [3, 2600],
        [4, 2700],
      ],
      events: ['1 min: 600', '4 min: 100'],
    },
    {
      name: 'comes although the clock was set back',
      passes: [
        [600, 2000],
        [0, 2000],
        [1, 2000],
        [2, 2000],
        [3, 2000],
      ],
      events: ['3 min: no growth'],
    },
  ])('$name', ({ passes, events }) => {
    expect(raisedBy(passes)).toEqual(events);
  });
});

test('the report shows a log in place of its directory when it is more than half of it', () => {
  const logs = [
    live(2000),
    log(`${podLogs}/main/0.log.20260101-000000`, { bytes: 100 }),
    log('default_b_uid-b/main/0.log', { bytes: 3000 }),
    log('default_b_uid-b/init/0.log', { bytes: 3000 }),
  ];
  const node = factsOf({ containers: [main, container('b-0', { pod: 'b' })], logs });
  const plan = planOf({ ...node, logs, sightings: {} }, warnAt(1000));
  const shown = inventoryOf(node, plan).offenders.map(({ kind, id, bytes, reason }) => [
    kind,
    id,
    bytes,
    reason,
  ]);
  expect(shown).toEqual([
    ['LogDirectory', '/var/log/pods/default_b_uid-b', 6000, 'InUse'],
    ['LogFile', `/var/log/pods/${podLogs}/main/0.log`, 2000, 'LogTooLarge'],
  ]);
});
