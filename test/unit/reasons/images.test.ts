import { expect, test } from 'vitest';
import { planImageGc } from '../../../src/agent/imagegc/plan.ts';
import {
  imageKeepReasons,
  imageRemoveReasons,
  nodeKeepReasons,
  type ImageKeepReason,
  type ImageRemoveReason,
} from '../../../src/api/reasons.ts';
import type { ImageGcPolicy } from '../../../src/api/policy/policy.ts';
import type { ImageRecord } from '../../../src/node/disk/state-format.ts';
import { byDiskSignal, type DiskSignal } from '../../../src/api/node-pressure.ts';
import type { NodePart } from '../../../src/snapshot/plan-facts.ts';
import { node, now } from '../../builders.ts';
import { container, image } from '../../fakes/runtime.ts';
import { facts, governedBy, imageRule, usedMinutesAgo, verdicts } from '../agent/imagegc/builders.ts';
import { boundPod, decided, invalidPolicy, keepMark, nodesBy, type Fixture } from './reasons.fixture.ts';

type ImageReason = ImageRemoveReason | ImageKeepReason;
/** A snapshot does not show that the clock jumped between two passes, or that a removal failed; only the agent knows. */
type AgentReason = 'ClockUnsure' | 'RemovalFailed' | DiskSignal;

const full = { capacityBytes: 10_000, availableBytes: 1_000 };
const longUnused = usedMinutesAgo(60 * 24 * 7);

const state = (records: Readonly<Record<string, ImageRecord>>): NodePart['state'] => ({
  images: new Map(Object.entries(records).map(([name, record]) => [`sha256:${name}`, record])),
  removed: [],
});

/** A node with the image `a`, unused for a week, on a disk that is 90 % full. */
const withImage = (over: Partial<NodePart> = {}): Pick<Fixture, 'part'> => ({
  part: { images: [image('a')], disk: full, state: state({ a: longUnused }), ...over },
});
const by = (over: Partial<ImageGcPolicy> = {}): Pick<Fixture, 'policies'> =>
  nodesBy({ imageGC: imageRule(over) });
const twoImages = (over: Partial<NodePart> = {}): Pick<Fixture, 'part'> =>
  withImage({
    images: [image('older'), image('a')],
    state: state({ older: usedMinutesAgo(60 * 24 * 8), a: longUnused }),
    ...over,
  });

/** A fixture for each reason about the image `a`. */
const planned: Readonly<Record<Exclude<ImageReason, AgentReason>, Fixture>> = {
  Age: { ...by({ maximumAgeMs: 3_600_000 }), ...withImage({ disk: { ...full, availableBytes: 9_000 } }) },
  Space: { ...by(), ...withImage() },
  InUse: { ...by(), ...withImage({ containers: [container('a')] }) },
  BoundPod: { ...by(), ...withImage({ pods: [boundPod('starting', ['a'])] }) },
  Pinned: { ...by(), ...withImage({ images: [image('a', { pinned: true })] }) },
  KeepListed: { ...by({ keep: ['docker.io/library/a:*'] }), ...withImage() },
  TooYoung: { ...by(), ...withImage({ state: state({}) }) },
  UsedRecently: { ...by(), ...withImage({ state: state({ a: usedMinutesAgo(0) }) }) },
  BelowThreshold: { ...by(), ...withImage({ disk: { ...full, availableBytes: 9_000 } }) },
  TargetMet: { ...by(), ...twoImages() },
  Holding: {
    ...by({ hold: { above: 1, forMs: 300_000 } }),
    ...twoImages({
      ...{ disk: { ...full, availableBytes: 0 } },
      state: {
        ...state({ older: usedMinutesAgo(60 * 24 * 8), a: longUnused }),
        inForce: { policyUid: 'uid-default', generation: 1, since: now },
      },
    }),
  },
  PacingLimit: { ...by({ maxImagesPerPass: 1 }), ...twoImages({ disk: { ...full, availableBytes: 0 } }) },
  PodsUnknown: { ...by(), ...withImage({ pods: undefined }) },
  ContainersUnknown: { ...by(), ...withImage({ containers: undefined }) },
  DiskUnknown: { ...by(), ...withImage({ disk: undefined }) },
  NoPolicy: withImage(),
  InvalidPolicy: { ...withImage(), policies: [invalidPolicy] },
  KeepMarked: { ...by(), ...withImage(), nodes: [node('node-1', { labels: keepMark })] },
  NodeUnknown: { ...by(), ...withImage(), nodes: [] },
  RuleOff: { ...nodesBy({}), ...withImage() },
};

test.each(Object.entries(planned))('a plan decides %s', (reason, fixture) => {
  const decisions = decided(fixture, 'imagegc').filter(
    ({ object }) => 'id' in object && object.id === 'sha256:a',
  );
  expect(decisions.map((one) => one.reason)).toEqual([reason]);
});

/** The image that a pass removes for node pressure. */
const removedFor = (signal: DiskSignal) => (): Record<string, string> => {
  const demands = [{ signal, threshold: '15%', wanted: 1_000 }];
  const observed = facts([image('a')], { disk: { ...full, availableBytes: 5_000 } });
  const plan = planImageGc(observed, { governance: governedBy(imageRule()), now, demands });
  return Object.fromEntries(
    plan.removals.map(({ unit, reason }) => [unit === 'nodepressure' ? 'a' : unit, reason]),
  );
};

const failedBefore = new Map([['sha256:a', { times: 1, retryInMs: 1 }]]);

const agentOnly: Readonly<Record<AgentReason, () => Record<string, string>>> = {
  ...byDiskSignal(removedFor),
  RemovalFailed: () =>
    verdicts(planImageGc(facts([image('a')], { failedBefore }), { governance: governedBy(imageRule()), now }))
      .kept,
  ClockUnsure: () =>
    verdicts(
      planImageGc(facts([image('a')], { clockUnsure: true }), { governance: governedBy(imageRule()), now }),
    ).kept,
};

test.each(Object.entries(agentOnly))('a pass of the agent decides %s', (reason, stays) => {
  expect(stays()).toEqual({ a: reason });
});

test('every reason has a row', () => {
  const rows = [...Object.keys(planned), ...Object.keys(agentOnly)];
  expect(rows.sort()).toEqual([...imageRemoveReasons, ...imageKeepReasons, ...nodeKeepReasons].sort());
});
