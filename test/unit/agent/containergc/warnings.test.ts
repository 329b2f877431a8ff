import { expect, test } from 'vitest';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { keptBy } from '../builders.ts';
import { apiPod, log, logsRule } from './builders.ts';
import { governed, Node, nodePolicy } from './environment.ts';

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
