import { describe, expect, test } from 'vitest';
import { diskUsage, freeDiskSpaceFailed } from '../../../../src/agent/imagegc/events.ts';
import type { ImageGcFacts, ImageGcPlan } from '../../../../src/agent/imagegc/facts.ts';
import { strayContainers } from '../../../../src/agent/imagegc/holds.ts';
import { outcomeOf, type Acts, type DiskTrouble } from '../../../../src/agent/imagegc/report.ts';
import { planImageGc, recheckImage } from '../../../../src/agent/imagegc/plan.ts';
import { now } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { facts, governedBy, imageRule, nodePod } from './builders.ts';

const given = { governance: governedBy(imageRule()), now };
const ruled = { rule: imageRule(), now };
const disk = { capacityBytes: 10_000, availableBytes: 1_000 };
const planOf = (over: Partial<ImageGcFacts> = {}): ImageGcPlan =>
  planImageGc({ ...facts([image('a'), image('b')]), ...over }, given);
const plan = planOf();
const acts = (over: Partial<Acts> = {}): Acts => ({
  ...{ removed: [], failed: [], freedBytes: 0, missingBytes: 0, lastError: undefined },
  ...{ stopped: undefined, unknown: undefined, broken: undefined },
  ...over,
});
const aged = plan.removals.map((one) => ({ ...one, reason: 'Age' as const }));

describe('a pass ends', () => {
  test.each<{
    readonly name: string;
    readonly plan?: ImageGcPlan;
    readonly acts?: Acts;
    readonly diskTrouble?: DiskTrouble;
    readonly says: readonly [string, string | undefined];
  }>([
    { name: 'in DryRun with what would go', says: ['Succeeded', undefined] },
    {
      name: 'in DryRun with nothing to do',
      plan: planOf({ listed: [], disk: { ...disk, availableBytes: 9_000 } }),
      says: ['Idle', undefined],
    },
    {
      name: 'in DryRun without enough that may go',
      plan: planOf({ listed: [] }),
      says: [
        'Short',
        "Insufficient free disk space on the node's image filesystem (90% of 9.8 KiB used). Deleting unused images would free 0 of 1000 bytes.",
      ],
    },
    { name: 'with what went', acts: acts({ removed: plan.removals }), says: ['Succeeded', undefined] },
    { name: 'with nothing to do', acts: acts(), says: ['Idle', undefined] },
    {
      name: 'badly when an image that is too old stayed',
      acts: acts({ failed: aged, lastError: 'busy' }),
      says: ['Failed', 'wanted to free images older than 0s, encountered errors in image deletion: busy'],
    },
    {
      name: 'badly when removals failed and the disk stays full',
      acts: acts({ failed: plan.removals, missingBytes: 1, lastError: 'busy' }),
      says: [
        'Failed',
        'wanted to free 1000 bytes, but freed 0 bytes space with errors in image deletion: busy',
      ],
    },
    {
      name: 'well when another image made up for one that failed',
      acts: acts({ removed: plan.removals, failed: plan.removals }),
      says: ['Succeeded', undefined],
    },
    {
      name: 'badly when the node was lost from sight',
      acts: acts({ broken: 'gone' }),
      says: ['Failed', 'gone'],
    },
    {
      name: 'badly when the disk cannot be read',
      diskTrouble: { kind: 'error', message: 'EIO' },
      says: ['Failed', 'EIO'],
    },
    {
      name: 'badly when the disk has no capacity',
      diskTrouble: { kind: 'no capacity' },
      says: ['Failed', 'invalid capacity 0 on image filesystem'],
    },
    {
      name: 'undecided, with the reason',
      plan: planOf({ pods: undefined }),
      says: ['Unknown', 'PodsUnknown'],
    },
    {
      name: 'undecided on an empty node without a disk',
      plan: planOf({ listed: [], disk: undefined }),
      says: ['Unknown', undefined],
    },
    {
      name: 'undecided by a live look',
      acts: acts({ unknown: 'no answer' }),
      says: ['Unknown', 'no answer'],
    },
    {
      name: 'short when it was told to end',
      acts: acts({ stopped: 'policies have changed', missingBytes: 1 }),
      says: ['Short', 'policies have changed'],
    },
    {
      name: 'short by its own limit',
      plan: { ...plan, maxImages: 1 },
      acts: acts({ removed: plan.removals, missingBytes: 1 }),
      says: ['Short', 'maxImagesPerPass: 1 a pass, more are to go'],
    },
  ])('$name', ({ plan: made = plan, acts: done, diskTrouble, says }) => {
    const { result, message } = outcomeOf({
      ...{ plan: made, acts: done, disk, diskTrouble, maximumAgeMs: undefined },
    });
    expect([result, message]).toEqual(says);
  });

  test('exhausted, when all that may go is gone and the target is not met', () => {
    const done = acts({ removed: plan.removals, missingBytes: 1, freedBytes: 300 });
    const pass = { plan: { ...plan, maxImages: 9 }, acts: done, disk };
    expect(outcomeOf({ ...pass, diskTrouble: undefined, maximumAgeMs: undefined })).toEqual({
      ...{ result: 'Short', isExhausted: true },
      message:
        "Insufficient free disk space on the node's image filesystem (90% of 9.8 KiB used). Failed to free sufficient space by deleting unused images (freed 300 bytes). Wanted 1000 bytes.",
    });
  });

  test.each([
    { disk: { capacityBytes: 1023, availableBytes: 0 }, says: 'filesystem (100% of 1023 B used).' },
    {
      disk: { capacityBytes: 100 * 1024 ** 3, availableBytes: 10 * 1024 ** 3 },
      says: '(90% of 100.0 GiB used).',
    },
    { disk: { capacityBytes: 3 * 1024 ** 5, availableBytes: 0 }, says: '(100% of 3072.0 TiB used).' },
    { disk: undefined, says: "the node's image filesystem. " },
  ])('a disk is told as the kubelet tells it: $says', ({ disk: full, says }) => {
    const done = acts({ removed: plan.removals, missingBytes: 1 });
    const { message } = outcomeOf({
      ...{ plan: { ...plan, maxImages: 9 }, acts: done, disk: full },
      ...{ diskTrouble: undefined, maximumAgeMs: undefined },
    });
    expect(message).toContain(says);
  });
});

describe('what the disk is full of', () => {
  const { kept } = planOf({ containers: [container('a', { imageId: 'sha256:a' })] });

  test('is not told of a disk that is not known', () => {
    expect(diskUsage({ kept, disk: undefined, stats: undefined, logBytes: undefined })).toBeUndefined();
  });

  test('what is not known explains nothing', () => {
    const stats = [10, undefined].map((writableLayerBytes, i) => ({
      id: `${i}`,
      name: 'main',
      labels: {},
      writableLayerBytes,
    }));
    const attributed = (known: object) =>
      diskUsage({ kept, disk, stats: undefined, logBytes: undefined, ...known });
    expect(attributed({})).toMatchObject({
      writableLayerBytes: undefined,
      logBytes: undefined,
      restBytes: 8_000,
    });
    expect(attributed({ stats, logBytes: 90 })).toMatchObject({
      writableLayerBytes: 10,
      logBytes: 90,
      restBytes: 7_900,
    });
  });

  test('an Event says as much as is known', () => {
    const node = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' };
    const attribution = diskUsage({ kept, disk, stats: undefined, logBytes: 90 });
    expect(freeDiskSpaceFailed(node, 'Full.', undefined).note).toBe('Full.');
    expect(freeDiskSpaceFailed(node, 'Full.', attribution).note).toBe(
      'Full. Used: 8.79 KiB of 9.77 KiB: images InUse 1000 B (1), writable layers unknown, logs 90 B, rest 7.72 KiB.',
    );
  });
});

test('an image that is not listed any more is gone', () => {
  expect(recheckImage('sha256:a', facts([image('a')]), ruled)).toBeUndefined();
  expect(recheckImage('sha256:x', facts([image('a')]), ruled)).toBe('Gone');
});

test('a container that the kubelet did not make is of no known pod', () => {
  const stray = container('s', { labels: {} });
  expect(strayContainers([stray, container('c', { pod: 'here' })], [nodePod('here', [])])).toEqual([stray]);
});
