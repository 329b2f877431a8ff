import { expect, test } from 'vitest';
import type { RuntimeImage } from '../../../../src/cri/runtime.ts';
import { image } from '../../../fakes/runtime.ts';
import { facts, planOf, verdicts } from './builders.ts';
import { Node } from './environment.ts';

const tagged = (id: string, tag: string): RuntimeImage => image(id, { tags: [tag], sizeBytes: 500 });
const used = tagged('used', 'registry.k8s.io/pause:3.10');
const former = tagged('former', 'registry.k8s.io/pause:3.9');
const infra = tagged('infra', 'registry.example.com/infra:1');
const pinned = { ...former, pinned: true };

test.each<{ name: string; reported: string | undefined; listed: readonly RuntimeImage[]; kept: string }>([
  {
    name: 'that the runtime reports is kept under any name',
    ...{ reported: 'registry.example.com/infra:1', listed: [infra, former], kept: 'infra' },
  },
  {
    name: 'that the runtime reports by a short name may be any of that name',
    reported: 'pause:3.10',
    ...{ listed: [used, tagged('hub', 'docker.io/library/pause:3.10'), former], kept: 'used hub' },
  },
  {
    name: 'that the runtime reports is not listed: every pause image is kept',
    ...{ reported: 'registry.example.com/infra:1', listed: [used, former], kept: 'used former' },
  },
  {
    name: 'is unknown and one pause image is pinned: every one is kept, because the pin may be out of date',
    ...{ reported: undefined, listed: [used, pinned], kept: 'used former' },
  },
  ...[
    'gcr.io/google-containers/pause-amd64:3.1',
    'rancher/mirrored-pause:3.6',
    'example.com/k8s_pause.arm',
  ].map((tag) => ({
    name: `is unknown: ${tag} is kept, because a word of its name is pause`,
    ...{ reported: undefined, listed: [tagged('pause', tag)], kept: 'pause' },
  })),
  ...['example.com/unpause:1', 'example.com/pause/web:1', 'pause.example.com/web:pause'].map((tag) => ({
    name: `is unknown: ${tag}, which only resembles it, is not protected`,
    ...{ reported: undefined, listed: [tagged('web', tag)], kept: '' },
  })),
])('a sandbox image $name', ({ reported: sandboxImage, listed, kept }) => {
  const reasons = Object.entries(verdicts(planOf(facts(listed, { sandboxImage }))).kept);
  const ids = reasons.flatMap(([id, reason]) => (reason === 'Pinned' ? [id] : []));
  expect(ids.toSorted()).toEqual(kept.split(' ').filter(Boolean).toSorted());
});

test('a pass keeps the sandbox image that the runtime reports', async () => {
  const node = new Node();
  node.runtime.add(infra, former, { ...used, pinned: true });
  node.runtime.pauseImage = 'registry.example.com/infra:1';
  node.otherBytes = 7_000;
  await node.observe();
  await node.pass();
  expect(node.left).toBe('infra used');
});
