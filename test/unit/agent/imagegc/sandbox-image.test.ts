import { beforeEach, describe, expect, test } from 'vitest';
import { image } from '../../../fakes/runtime.ts';
import { Bed } from './environment.ts';

let bed: Bed;
beforeEach(() => {
  bed = new Bed();
});

describe('the image of the sandboxes', () => {
  beforeEach(async () => {
    bed.runtime.add(
      image('used', { tags: ['registry.example.com/infra:1'], sizeBytes: 500 }),
      image('former', { tags: ['registry.k8s.io/pause:3.9'], sizeBytes: 500 }),
      image('pinned', { tags: ['registry.k8s.io/pause:3.10'], sizeBytes: 500, pinned: true }),
    );
    bed.runtime.pauseImage = 'registry.example.com/infra:1';
    bed.otherBytes = 7_000;
    await bed.settle();
  });

  test('stays by the name that the runtime reports', async () => {
    await bed.pass();
    expect(bed.left).toEqual(['used', 'pinned']);
  });

  test('is not known while the runtime does not answer that: the pass fails, and every image stays', async () => {
    bed.runtime.fail('sandboxImage', { times: Infinity });
    expect(await bed.pass()).toMatchObject({ result: 'Failed', removed: 0 });
    expect(bed.left).toEqual(['used', 'former', 'pinned']);
    expect(await bed.metric('dustpan_image_gc_errors_total', { stage: 'observe' })).toBe(1);
  });

  test('is not asked for once the agent stops', async () => {
    const stop = new AbortController();
    bed.runtime.before = (call) => {
      if (call === 'sandboxImage') stop.abort();
    };
    await expect(bed.pass(stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
  });
});
