import { describe, expect, test } from 'vitest';
import { Ledger } from '../../stress/ledger.ts';
import { claimOf, isFailedRemoval, kubeletClaimOf, parseDustpanLine, type Claim } from '../../stress/logs.ts';
import type { Observation } from '../../stress/observation.ts';
import type { Drop } from '../../stress/watch.ts';

const atMs = 1_000_000;
const claim = (by: Claim['by'], kind: Claim['kind'], id: string, delayMs = 0): Claim => ({
  ...{ by, kind, id, atMs: atMs + delayMs, names: [] },
});
const container = {
  id: 'c',
  pod: 'fails-1',
  podUid: 'u',
  name: 'main',
  attempt: 0,
  image: 'i',
  isRunning: false,
};
const image = { id: 'sha256:i', tags: ['bed.test/unused:1'] };
const ofContainer = 'container c (main of pod fails-1)';

interface Row {
  readonly name: string;
  readonly claims: readonly Claim[];
  readonly dropped?: readonly Drop[];
  readonly expected: readonly string[];
}

const noImage = 'image sha256:i (bed.test/unused:1) vanished, and nobody logged its removal';
const ours = claim('dustpan', 'image', 'sha256:i');

test.each<Row>([
  { name: 'each object has one claim', claims: [ours, claim('kubelet', 'container', 'c')], expected: [] },
  {
    name: 'nobody removed it',
    claims: [ours],
    expected: [`${ofContainer} vanished, and nobody logged its removal`],
  },
  {
    name: 'an actor removed it, and once more later',
    claims: [claim('dustpan', 'container', 'c')],
    dropped: [atMs, atMs + 60_000].map((ms) => ({ tag: 'bed.test/unused:1', atMs: ms })),
    expected: [],
  },
  {
    name: 'a claim from another time',
    claims: [claim('dustpan', 'container', 'c'), claim('dustpan', 'image', 'sha256:i', 60_000)],
    expected: [noImage],
  },
  {
    name: 'two claims at the same time: the runtime confirmed both',
    claims: [ours, claim('kubelet', 'container', 'c'), claim('dustpan', 'container', 'c', 6_000)],
    expected: [],
  },
  {
    name: 'the kubelet tried to remove what dustpan had removed',
    claims: [ours, claim('dustpan', 'container', 'c'), claim('kubelet', 'container', 'c', 5_000)],
    expected: [],
  },
  {
    name: 'dustpan counted what the kubelet had removed',
    claims: [ours, claim('kubelet', 'container', 'c'), claim('dustpan', 'container', 'c', 15_000)],
    expected: [`dustpan counted the removal of ${ofContainer}, which the kubelet had removed`],
  },
])('vanished objects: $name', ({ claims, dropped = [], expected }) => {
  const ledger = new Ledger();
  ledger.see({ atMs, images: [image], containers: [container], pods: undefined });
  ledger.see({ atMs: atMs + 500, images: undefined, containers: undefined, pods: undefined });
  ledger.see({ atMs: atMs + 1_000, images: [], containers: [], pods: undefined });
  ledger.see({ atMs: atMs + 1_500, images: [], containers: [], pods: undefined });
  for (const one of claims) ledger.add(one);
  expect(ledger.vanishedCount).toBe(2);
  expect(ledger.open(dropped)).toEqual(expected);
});

test('an image that was pulled again is removed by the next', () => {
  const ledger = new Ledger();
  for (const [i, images] of [[image], [], [], [image], [], []].entries())
    ledger.see({ atMs: atMs + i * 5_000, images, containers: [], pods: undefined });
  ledger.add(claim('kubelet', 'image', 'sha256:i', 2_000));
  ledger.add(claim('dustpan', 'image', 'sha256:i', 19_000));
  expect(ledger.open([])).toEqual([]);
});

test('an image that one list lacks has not vanished', () => {
  const ledger = new Ledger();
  for (const [i, images] of [[image], [], [image], []].entries())
    ledger.see({ atMs: atMs + i * 500, images, containers: [], pods: undefined });
  expect(ledger.vanishedCount).toBe(0);
});

test('a dropped image that one list shows without its tag was removed by the drop', () => {
  const ledger = new Ledger();
  const untagged = { ...image, tags: [] };
  for (const [i, images] of [[image], [untagged], [], []].entries())
    ledger.see({ atMs: atMs + i * 500, images, containers: [], pods: undefined });
  expect(ledger.open([{ tag: 'bed.test/unused:1', atMs }])).toEqual([]);
  expect(ledger.open([])).toEqual([noImage]);
});

test('a container that dustpan reports as removed must be gone', () => {
  const ledger = new Ledger();
  ledger.add(claim('dustpan', 'container', 'c'));
  const see = (afterMs: number, containers: Observation['containers']): void => {
    ledger.see({ atMs: atMs + afterMs, images: [], containers, pods: undefined });
  };
  // The observation began before the removal.
  see(-500, [container]);
  expect(ledger.falseClaims()).toEqual([]);
  see(500, [container]);
  expect(ledger.falseClaims()).toEqual(['dustpan logged the removal of container c, which exists']);
  see(1_000, []);
  expect(ledger.falseClaims()).toEqual([]);
});

describe('log lines', () => {
  const time = { by: 'dustpan', atMs: Date.parse('2026-11-23T16:20:01.500Z') };
  test.each([
    {
      line: '{"level":"info","msg":"removed image","image":"sha256:i","names":["a"]}',
      expected: { ...time, kind: 'image', id: 'sha256:i', names: ['a'] },
    },
    {
      line: '{"level":"info","msg":"removed container","container":"c","pod":{"name":"p"}}',
      expected: { ...time, kind: 'container', id: 'c', names: ['p'] },
    },
    {
      line: '{"level":"info","msg":"deleted pod","pod":{"name":"p"}}',
      expected: { ...time, kind: 'pod', id: 'p', names: ['p'] },
    },
    { line: '{"level":"warn","msg":"removing image failed","image":"sha256:i"}', expected: undefined },
  ])('of dustpan: $line', ({ line, expected }) => {
    const fields = parseDustpanLine(line.replace('{', '{"ts":"2026-11-23T16:20:01.500Z",'));
    expect(fields && claimOf(fields)).toEqual(expected);
  });

  test('of Node are none of dustpan', () => {
    expect(parseDustpanLine('    at main (file:///dist/main.js:1:1)')).toBeUndefined();
  });

  const kubeletTime = { by: 'kubelet', atMs: new Date(2026, 10, 23, 16, 20, 1, 500).getTime(), names: [] };
  test.each([
    {
      text: '"Removing image to free bytes" imageID="sha256:i" size=1',
      expected: { kind: 'image', id: 'sha256:i' },
    },
    { text: '"Removing container" containerID="c"', expected: { kind: 'container', id: 'c' } },
    { text: '"Removing sandbox" sandboxID="s"', expected: { kind: 'sandbox', id: 's' } },
  ])('of the kubelet: $text', ({ text, expected }) => {
    const line = `I1123 16:20:01.500000   12345 file.go:118] ${text}`;
    expect(kubeletClaimOf(line, 2026)).toEqual({ ...kubeletTime, ...expected });
  });

  test('of the kubelet about other things', () => {
    expect(kubeletClaimOf('I1123 16:20:01.500000 1 a.go:1] "SyncLoop ADD"', 2026)).toBeUndefined();
  });

  test.each([
    {
      text: 'E1 1 a.go:1] "Failed to remove container" err="device is busy" containerID="c"',
      expected: true,
    },
    {
      text: 'E1 1 a.go:1] "Image garbage collection failed multiple times in a row" err="no space"',
      expected: true,
    },
    {
      text: 'E1 1 a.go:1] "Failed to remove container" err="rpc error: code = NotFound" containerID="c"',
      expected: false,
    },
    {
      text: 'E1 1 a.go:1] "Failed to remove container log dead symlink" err="remove /a: no such file or directory"',
      expected: false,
    },
    {
      text: 'E1 1 a.go:1] "Image garbage collection failed multiple times in a row" err="invalid capacity 0 on image filesystem"',
      expected: false,
    },
    { text: 'E1 1 a.go:1] "Error syncing pod, skipping" err="back-off"', expected: false },
    { text: 'I1 1 a.go:1] "Failed to remove nothing"', expected: false },
  ])('of the kubelet that report a failed removal: $text', ({ text, expected }) => {
    expect(isFailedRemoval(text)).toBe(expected);
  });
});
