import { describe, expect, test } from 'vitest';
import { planImageGc } from '../../../../src/agent/imagegc/plan.ts';
import type { RuntimeImage } from '../../../../src/cri/runtime.ts';
import { now } from '../../../builders.ts';
import { image } from '../../../fakes/runtime.ts';
import { facts, governedBy, imageRule, told } from './builders.ts';

const named = (id: string, tag: string, over: Partial<RuntimeImage> = {}): RuntimeImage =>
  image(id, { tags: [tag], ...over });

const keptAsPinned = (listed: readonly RuntimeImage[], sandboxImage: string | undefined): string[] => {
  const { stays } = told(
    planImageGc(facts(listed, { sandboxImage }), { governance: governedBy(imageRule()), now }),
  );
  return Object.keys(stays).filter((id) => stays[id] === 'Pinned');
};

const used = named('used', 'registry.k8s.io/pause:3.10');
const former = named('former', 'registry.k8s.io/pause:3.9');
const pinned = { pinned: true };

describe('the image that sandboxes are made of', () => {
  test.each<{
    readonly name: string;
    readonly reported: string | undefined;
    readonly listed: readonly RuntimeImage[];
    readonly kept: readonly string[];
  }>([
    {
      name: 'the runtime names it: it stays, and no other of its kind',
      reported: 'registry.k8s.io/pause:3.10',
      listed: [used, former],
      kept: ['used'],
    },
    {
      name: 'the runtime names it, and something else of that name is pinned',
      reported: 'registry.k8s.io/pause:3.10',
      listed: [used, { ...former, ...pinned }],
      kept: ['used', 'former'],
    },
    {
      name: 'the runtime names it, and it has another name than usual',
      reported: 'registry.example.com/infra:1',
      listed: [named('infra', 'registry.example.com/infra:1'), former],
      kept: ['infra'],
    },
    {
      name: 'the runtime gives a short name: whatever it may mean',
      reported: 'pause:3.10',
      listed: [used, named('hub', 'docker.io/library/pause:3.10'), former],
      kept: ['used', 'hub'],
    },
    {
      name: 'the runtime names one that is not listed: all of that kind stay',
      reported: 'registry.example.com/infra:1',
      listed: [used, former],
      kept: ['used', 'former'],
    },
    {
      name: 'the runtime names none: all of that kind stay',
      reported: undefined,
      listed: [used, former],
      kept: ['used', 'former'],
    },
    {
      name: 'the runtime names none and pins one: the others stay too, for the pin may be an old one',
      reported: undefined,
      listed: [used, { ...former, ...pinned }],
      kept: ['used', 'former'],
    },
    {
      name: 'a name that only sounds like it protects nothing',
      reported: undefined,
      listed: [named('button', 'example.com/pause-button:1')],
      kept: [],
    },
  ])('$name', ({ reported, listed, kept }) => {
    expect(keptAsPinned(listed, reported).toSorted()).toEqual(kept.toSorted());
  });
});
