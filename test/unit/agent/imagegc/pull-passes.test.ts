import { beforeEach, describe, expect, test } from 'vitest';
import { emptyState } from '../../../../src/node/disk/state-format.ts';
import { nodePod } from './builders.ts';
import { governed, Node } from './environment.ts';

const reference = 'registry.test/big:1';
const waiting = nodePod('web', [reference], { awaited: [{ image: reference, reason: 'ErrImagePull' }] });

let node: Node;
/** Nine images of 1000 bytes on a disk of 20 000: 8000 are free below 85 %, and the pull needs 9500. */
beforeEach(async () => {
  node = new Node();
  node.fill();
  node.capacityBytes = 20_000;
  node.pods = [waiting];
  const state = { ...emptyState, pullBytes: new Map([[reference, 9500]]) };
  node.state.reading = { kind: 'read', state };
  node.governance = governed({ pullHeadroom: true, minimumAgeMs: 0 });
  await node.observe();
});

const pulls = () => node.inventories.at(-1)?.pulls?.map(({ fit }) => fit);

describe('a pass for a pull', () => {
  test('removes by the sizes of the plan, and remembers that of the pull as long as a pod waits', async () => {
    expect(pulls()).toEqual(['Off']);
    // The plan counts 500 bytes for each; the disk has 1000 for each, of which the pull takes a part meanwhile.
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 3, freedBytes: 3000 });
    expect(node.left).toBe('d e f g h i');
    expect(pulls()).toEqual(['Freeing']);
    expect(await node.pass()).toMatchObject({ result: 'Idle', removed: 0 });
    expect(pulls()).toEqual(['Fits']);
    expect([...(node.state.written?.pullBytes ?? [])]).toEqual([[reference, 9500]]);

    node.pods = [];
    await node.pass();
    expect(pulls()).toBeUndefined();
    expect(node.state.written?.pullBytes?.size).toBe(0);
    expect(node.left).toBe('d e f g h i');
  });

  test.each([
    ['in mode DryRun', governed({ pullHeadroom: true }, { mode: 'DryRun' })],
    // Three of five.
    [
      'during a hold',
      governed({ pullHeadroom: true, keep: ['d', 'e', 'f', 'g'], hold: { above: 2, forMs: 600_000 } }),
    ],
  ])('makes no room %s, and reports none', async (_, governance) => {
    node.governance = governance;
    await node.pass();
    expect(node.left).toBe('a b c d e f g h i');
    expect(pulls()).toEqual(['Off']);
  });

  test.each([
    ['NodeUnknown', 'Unknown'],
    ['KeepMarked', 'Off'],
    ['InvalidPolicy', 'Off'],
  ] as const)('on a node that is governed by none (%s) reports %s', async (reason, fit) => {
    node.governance = { kind: 'keep', reason, policy: undefined };
    await node.pass();
    expect(pulls()).toEqual([fit]);
  });

  test('goes on with the next image if one cannot be removed', async () => {
    node.runtime.fail('removeImage', { target: 'sha256:a' });
    expect(await node.pass()).toMatchObject({ removed: 3, errors: 1 });
    expect(node.left).toBe('a e f g h i');
  });
});

describe('a pull needs a pass', () => {
  test.each([
    ['while it receives something', true, {}, true],
    ['not while it receives nothing', false, {}, false],
    ['not without pullHeadroom', true, { governance: governed({}) }, false],
    ['not without a rule', true, { governance: governed(undefined) }, false],
    ['not while no pod waits', true, { pods: [nodePod('web', [reference])] }, false],
    ['not while the pods are unknown', true, { pods: undefined }, false],
  ])('%s', async (_, isReceiving, over, expected) => {
    Object.assign(node, { isReceiving, ...over });
    expect(await node.isPulling()).toBe(expected);
  });
});
