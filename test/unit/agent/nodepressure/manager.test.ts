import { beforeEach, expect, test } from 'vitest';
import { governedNode, keptBy } from '../builders.ts';
import { imageRule } from '../imagegc/builders.ts';
import { governedBy, pressurePolicy } from './builders.ts';
import { Node } from './environment.ts';

let node: Node;

beforeEach(() => {
  node = new Node();
});

test('a crossed threshold: one Event, and containers and images are removed until enough is available', async () => {
  node.available = 140;
  node.freed = 50;
  await node.pass(3);
  expect(node.events.map(({ reason }) => reason)).toEqual(['NodePressureAhead']);
  expect(node.events[0]?.note).toContain("The policy's threshold, 15% (");
  expect(node.relieved).toEqual([
    {
      ...{ signal: 'nodefs.available', threshold: '15%', wanted: 10, until: 150 },
      ...{ containers: true, logs: true, images: true },
    },
  ]);
  expect(node.requests).toEqual([]);
  expect(node.last?.result).toBe('Idle');
});

test('where that was not enough, evictions are requested after the grace period, in the order of the rank', async () => {
  node.available = 140;
  await node.pass(6);
  expect(node.requests).toEqual([]);
  expect(node.last?.result).toBe('Succeeded');
  await node.pass();
  expect(node.requests).toEqual(['big nodefs.available', 'small nodefs.available']);
  expect(node.inventory?.requests[0]?.shortage).toEqual({ available: 140, threshold: 150 });
  expect(node.last).toMatchObject({ result: 'Short' });
  const text = await node.registry.metrics();
  expect(text).toContain('dustpan_node_signal_available_ratio{signal="nodefs.available"} 0.14');
  expect(text).toContain('dustpan_node_signal_threshold_seconds{signal="nodefs.available"} 0');
  expect(text).toContain('dustpan_node_pressure_crossed{signal="nodefs.available"} 1');
});

test.each([
  { when: 'between two passes', jumpMs: 3_600_000 },
  { when: 'between two passes', jumpMs: -3_600_000 },
  { when: 'while the kubelet is read', jumpMs: 3_600_000 },
  { when: 'while the kubelet is read', jumpMs: -3_600_000 },
])(
  'after a jump of the clock by $jumpMs ms $when the grace period begins again',
  async ({ when, jumpMs }) => {
    const jump = (): void => {
      node.clock.stepWall(jumpMs);
      node.onUsage = () => undefined;
    };
    node.available = 140;
    await node.pass(5);
    if (when === 'between two passes') jump();
    else node.onUsage = jump;
    await node.pass(6);
    expect(node.requests).toEqual([]);
    expect(node.relieved).toHaveLength(2);
    await node.pass();
    expect(node.requests).toEqual(['big nodefs.available', 'small nodefs.available']);
  },
);

test('no eviction is requested while enough is available, or images or containers are left to remove', async () => {
  await node.pass();
  expect(node.last).toMatchObject({ unit: 'nodepressure', result: 'Idle' });
  expect([node.events, node.relieved, node.requests]).toEqual([[], [], []]);
  node.available = 140;
  node.reclaim = 'MoreLeft';
  await node.pass(30);
  expect(node.requests).toEqual([]);
  node.reclaim = 'Exhausted';
  await node.pass(7);
  expect(node.requests).toEqual(['big nodefs.available', 'small nodefs.available']);
});

test.each([
  [undefined, 'nodes.imageGC', 'the policy has no nodes.imageGC'],
  [imageRule({ only: ['ci/*'] }), 'nodes.imageGC.only', 'nodes.imageGC.only does not select them'],
])(
  'while unused images stay that the policy does not select, no pod is evicted, and the cause is reported',
  async (imageGC, _, text) => {
    node.governance = governedNode({ nodePressure: pressurePolicy(), imageGC });
    node.available = 140;
    node.reclaim = 'Ungoverned';
    await node.pass(30);
    expect(node.requests).toEqual([]);
    expect(node.events.map(({ occasion }) => occasion)).toEqual([
      'nodefs.available/crossed',
      'nodefs.available/images-stay',
    ]);
    for (const said of [node.events[1]?.note, node.inventory?.warnings[0], node.last?.message])
      expect(said).toContain(text);
    expect(node.last?.result).toBe('Short');
    expect(await node.registry.metrics()).toContain(
      'kept_objects{unit="nodepressure",reason="ImagesUngoverned"} 2',
    );
  },
);

test('a signal that nobody has measured lately is unknown, and the agent reads its disk itself', async () => {
  node.available = 140;
  node.ageMs = 3 * 60_000;
  await node.pass();
  expect(node.last).toMatchObject({ result: 'Unknown', message: 'no current value of nodefs.available' });
  expect(node.inventory).toMatchObject({ unknown: ['nodefs.available'], readings: [] });
  expect([node.events, node.relieved]).toEqual([[], []]);
  expect(await node.registry.metrics()).not.toContain('node_signal_available_ratio{');
  node.disk = () =>
    Promise.resolve({ capacityBytes: 1000, availableBytes: 139, inodes: undefined, inodesFree: undefined });
  await node.pass();
  expect(node.relieved).toMatchObject([{ signal: 'nodefs.available', wanted: 11 }]);
  expect(node.last?.result).toBe('Succeeded');
  expect(node.inventory?.unknown).toEqual([]);
});

test('mode DryRun makes the same decisions, and requests nothing', async () => {
  node.governance = governedBy(pressurePolicy(), 'DryRun');
  node.available = 140;
  await node.pass(6);
  expect(await node.registry.metrics()).toContain('kept_objects{unit="nodepressure",reason="Reclaiming"} 2');
  await node.pass();
  expect(node.relieved).toHaveLength(2);
  expect(node.events).toHaveLength(1);
  expect(node.requests).toEqual([]);
  expect(await node.registry.metrics()).toContain(
    'dustpan_due_objects{unit="nodepressure",reason="nodefs.available",mode="DryRun"} 2',
  );
  expect(node.log.lines.filter(({ level }) => level === 'info').map(({ message }) => message)).toEqual([
    'node pressure is ahead',
  ]);
});

test('what a dry run has found evicts nobody: after a change of the policy, images and containers are removed first', async () => {
  node.governance = governedBy(pressurePolicy(), 'DryRun');
  node.available = 140;
  await node.pass(7);
  node.governance = governedBy(pressurePolicy());
  await node.pass();
  expect(node.requests).toEqual([]);
  await node.pass();
  expect(node.requests).toEqual(['big nodefs.available', 'small nodefs.available']);
});

test('a forecast is an Event, the crossing another; again after it was far', async () => {
  for (const available of [500, 480, 460, 440, 420]) {
    node.available = available;
    node.clock.advance(50_000);
    await node.pass();
  }
  expect(node.events.map(({ occasion }) => occasion)).toEqual(['nodefs.available/ahead']);
  node.available = 100;
  await node.pass(2);
  expect(node.events.map(({ occasion }) => occasion)).toEqual([
    'nodefs.available/ahead',
    'nodefs.available/crossed',
  ]);
  // Longer than the transition period.
  node.available = 900;
  await node.pass(200);
  node.available = 100;
  await node.pass();
  expect(node.events.filter(({ occasion }) => occasion === 'nodefs.available/crossed')).toHaveLength(2);
});

test('a threshold that is crossed again within the transition period is no second Event', async () => {
  for (node.available of [140, 500, 140, 500, 140]) await node.pass();
  expect(node.events).toHaveLength(1);
});

test('without a rule nothing is read; the end of a rule is reported once, and forgets everything', async () => {
  node.governance = governedBy(undefined);
  node.isDown = true;
  await node.pass(2);
  expect(node.passes).toEqual([]);
  node.isDown = false;
  node.governance = governedBy(pressurePolicy());
  node.available = 140;
  await node.pass(3);
  node.governance = governedBy(undefined);
  await node.pass(2);
  expect(node.passes.map(({ result }) => result)).toEqual(['Succeeded', 'Succeeded', 'Succeeded', 'Idle']);
  node.governance = governedBy(pressurePolicy());
  await node.pass();
  // Crossed since this pass, with an Event of its own.
  expect(node.inventory?.states[0]?.crossedSinceMs).toBe(node.clock.now().getTime());
  expect(node.events).toHaveLength(2);
});

test('an unknown node is reported as Unknown, and nothing is forgotten', async () => {
  node.available = 140;
  await node.pass();
  const since = node.inventory?.states[0]?.crossedSinceMs;
  node.governance = keptBy('NodeUnknown');
  await node.pass(2);
  expect(node.passes.map(({ result }) => result)).toEqual(['Succeeded', 'Unknown']);
  node.governance = governedBy(pressurePolicy());
  await node.pass();
  expect(node.inventory?.states[0]?.crossedSinceMs).toBe(since);
});
