import { describe, expect, test } from 'vitest';
import { inventoryOf } from '../../../../src/agent/containergc/report.ts';
import { observeLogs, type LogHistory } from '../../../../src/agent/containergc/large-logs.ts';
import type { ContainerGcFacts, LogWarning } from '../../../../src/agent/containergc/facts.ts';
import type { LogEntry } from '../../../../src/node/logs/list.ts';
import { minutesAgo } from '../../../builders.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { keptBy } from '../builders.ts';
import { apiPod, dead, factsOf, log, logsRule, planOf } from './builders.ts';
import { Node, nodePolicy } from './environment.ts';

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

/** By default the container `main` runs in an ordinary pod, and 1000 bytes are too large. */
type Over = Partial<Pick<ContainerGcFacts, 'containers' | 'sandboxes' | 'pods'>> & {
  readonly warnBytes?: number | undefined;
};

const isLive = `main-0 ${podLogs}/main/0.log`;
const isRotated = `main-0 ${podLogs}/main/0.log.20260115-110000`;
const large = (path: string, over: Partial<LogEntry> = {}): LogEntry => log(path, { bytes: 2000, ...over });
const linkTo = (target: string): LogEntry => live(0, { target });

test.each<[name: string, logs: readonly LogEntry[], warnings: readonly string[], over?: Over]>([
  ['a log above the size', [live(1001)], [`${isLive} 1001`]],
  ['not an ended container', [live(2000)], [], { containers: [dead('main-0', 5)] }],
  [
    'not a container that the kubelet did not create',
    [live(2000), large('default_pod_/main/0.log')],
    [],
    { containers: [container('main-0', { labels: {} })] },
  ],
  [
    'only the log of the attempt that runs',
    [live(2000), large(`${podLogs}/main/1.log`)],
    [`main-1 ${podLogs}/main/1.log 2000`],
    { containers: [container('main-1', { attempt: 1 })] },
  ],
  [
    'only the log of the same container and pod',
    [
      ...['other/0.log', 'main/0.log/deeper', 'main/trace'].map((it) => large(`${podLogs}/${it}`)),
      large('default_pod_uid-b/main/0.log'),
    ],
    [],
  ],
  ['not a rotated log while the current one is written', [live(10, at(1)), rotated(5000, at(20))], []],
  [
    'a rotated log that is still written: the runtime opened no other',
    [rotated(5000)],
    [`${isRotated} 5000`],
  ],
  [
    'a link as its target',
    [linkTo('../../elsewhere/main.log'), large('elsewhere/main.log')],
    ['main-0 elsewhere/main.log 2000'],
  ],
  [
    'the largest first',
    [live(2000), large(`${podLogs}/b/0.log`, { bytes: 3000 }), large(`${podLogs}/a/0.log`)],
    [`b-0 ${podLogs}/b/0.log 3000`, `a-0 ${podLogs}/a/0.log 2000`, `${isLive} 2000`],
    { containers: [main, container('a-0', { name: 'a' }), container('b-0', { name: 'b' })] },
  ],
])('warns about %s', (_, logs, warnings, over = {}) => {
  const { warnBytes, ...facts } = { warnBytes: 1000, ...over };
  const plan = planOf({ containers: [main], pods: [apiPod('pod')], ...facts, logs }, warnAt(warnBytes));
  expect(plan.warnings.map(short)).toEqual(warnings);
  expect(plan.removals.map(({ target }) => target.kind)).not.toContain('LogFile');
});

describe('an Event', () => {
  /** The log that a word stands for, such as `2000`, or `2000r` of a rotated one; `-` = no log, `?` = no listing, `ended`. */
  function logsOf(word: string): readonly LogEntry[] | undefined {
    if (word === '?') return undefined;
    if (word === '-' || word === 'ended') return [];
    return [word.endsWith('r') ? rotated(Number.parseInt(word)) : live(Number(word))];
  }

  /** The Events of these passes, a minute apart; `60:2000` = at minute 60. */
  function raisedBy(passes: string): readonly string[] {
    const events: string[] = [];
    let history: LogHistory = new Map();
    let minute = -1;
    for (const pass of passes.split(' ')) {
      const [found = '', at] = pass.split(':').toReversed();
      minute = at === undefined ? minute + 1 : Number(at);
      const logs = logsOf(found);
      const facts = factsOf({ containers: found === 'ended' ? [] : [main], logs });
      const { warnings } = planOf({ containers: [main], logs }, warnAt(1000));
      const observed = observeLogs(history, { facts, warnings, atMs: minute * 60_000 });
      history = observed.history;
      for (const { growthBytesPerMinute } of observed.raised)
        events.push(`${minute} min: ${growthBytesPerMinute ?? 'no growth'}`);
    }
    return events;
  }

  test.each<readonly [name: string, passes: string, ...events: readonly string[]]>([
    ['waits for a second measurement, for the growth', '2000 2600', '1 min: 600'],
    ['comes once', '2000 2600 3200 60:90000', '1 min: 600'],
    ['comes again after the log was smaller', '2000 2600 500 1100 1700', '1 min: 600', '3 min: 600'],
    ['comes for a log that does not grow once that is sure', '2000 2000 2000 2000 2000', '3 min: no growth'],
    [
      'is not repeated after a listing without the log, or without any',
      '2000 2600 - ? 4400 5000',
      '1 min: 600',
    ],
    ['is not repeated when the container writes to another file', '2000 2600 2600r 3200r', '1 min: 600'],
    ['forgets a container that ended', '2000 2600 ended 2600 2700', '1 min: 600', '4 min: 100'],
  ])('%s', (_, passes, ...events) => {
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

const path = 'default_pod_uid-pod/main/0.log';
const kibibyte = 1024;
const warning = logsRule({ warnBytesPerContainer: 1024 * kibibyte });

/** A node with one running container. */
function nodeOf(mode: 'DryRun' | 'Enforce' = 'Enforce', over = warning): Node {
  const node = new Node(nodePolicy({ logs: over }, mode));
  node.runtime.add(container('main-0'), sandbox('pod'));
  node.pods = [apiPod('pod')];
  return node;
}

/** A pass with a log of this size, a minute after the last. */
async function passWith(node: Node, kibibytes: number): Promise<void> {
  node.logs.add(log(path, { bytes: kibibytes * kibibyte }));
  await node.pass();
  node.clock.advance(60_000);
}

async function passesWith(node: Node, ...kibibytes: readonly number[]): Promise<void> {
  for (const size of kibibytes) await passWith(node, size);
}

test('one Event on the pod has size, growth and file, in mode DryRun too', async () => {
  const node = nodeOf('DryRun');
  await passesWith(node, 900, 1536, 2048);
  expect(node.recorder.events).toEqual([
    {
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'pod', uid: 'uid-pod' },
      type: 'Warning',
      reason: 'LogTooLarge',
      action: 'WatchLogs',
      note:
        'The current log of container main of pod default/pod is 1.50 MiB; dustpan warns above 1Mi. ' +
        'It grows by 636 KiB a minute. The file is /var/log/pods/default_pod_uid-pod/main/0.log: its rotation failed or is off, or too slow. dustpan never cuts it.',
      occasion: 'main-0',
    },
  ]);
  expect(node.changes).toEqual([]);
  expect(node.logs.paths).toEqual([`/var/log/pods/${path}`]);
});

test('the Event of a log that stands still says so', async () => {
  const node = nodeOf();
  await passesWith(node, 2048, 2048, 2048, 2048);
  expect(node.recorder.events.map(({ note }) => /\. It [^.]*\./.exec(note)?.[0])).toEqual([
    '. It does not grow now.',
  ]);
});

test('the Event of a log that grows says so after a jump of the clock', async () => {
  const node = nodeOf();
  await passWith(node, 1536);
  node.clock.stepWall(3_600_000);
  await passWith(node, 2048);
  expect(node.recorder.events.map(({ note }) => /\. It [^.]*\./.exec(note)?.[0])).toEqual([
    '. It grows by 512 KiB a minute.',
  ]);
});

test('the Event about a static pod has the UID that the kubelet gives it', async () => {
  const node = nodeOf();
  node.pods = [apiPod('other'), apiPod('mirror', 'uid-pod')];
  await passesWith(node, 900, 1536);
  expect(node.recorder.events.map(({ regarding }) => regarding.uid)).toEqual(['uid-pod']);
});

test.each([
  { name: 'no policy governs the node', by: keptBy('NoPolicy'), events: 2 },
  { name: 'the policies are not known', by: keptBy('NodeUnknown'), events: 1 },
])('after a pass in which $name there are $events Events in all', async ({ by, events }) => {
  const node = nodeOf();
  const { governance } = node;
  await passesWith(node, 900, 1536);
  node.governance = by;
  await passWith(node, 1600);
  expect(node.recorder.events).toHaveLength(1);
  node.governance = governance;
  await passesWith(node, 1700, 1800);
  expect(node.recorder.events).toHaveLength(events);
});
