import { expect, test } from 'vitest';
import { RightsReviews } from '../../../../src/kube/auth/rights-reviews.ts';
import { ManualClock } from '../../../fakes/manual-clock.ts';

const settled = () => Promise.resolve(true);

/** After a settled review, of a controller or of an agent. */
async function rested({ of }: { readonly of: 'controller' | 'agent' }) {
  const clock = new ManualClock();
  const restMs = of === 'controller' ? { restMs: 300_000 } : {};
  const reviews = new RightsReviews({ clock, soonMs: 30_000, ...restMs });
  await reviews.run(settled);
  /** How long it is not due, by steps of ten seconds; at most an hour. */
  const dueAfterMs = (): number | undefined => {
    for (let ms = 0; ms <= 3_600_000; ms += 10_000) {
      if (reviews.isDue) return ms;
      clock.advance(10_000);
    }
    return undefined;
  };
  return { reviews, clock, dueAfterMs };
}

test('a controller reviews at its start, an agent does not', () => {
  const clock = new ManualClock();
  expect(new RightsReviews({ clock, soonMs: 30_000, restMs: 300_000 }).isDue).toBe(true);
  expect(new RightsReviews({ clock, soonMs: 30_000 }).isDue).toBe(false);
});

test.each([
  { of: 'controller', after: 300_000 },
  { of: 'agent', after: undefined },
] as const)('at rest: $of after $after ms', async ({ of, after }) => {
  const { dueAfterMs } = await rested({ of });
  expect(dueAfterMs()).toBe(after);
});

test.each(['controller', 'agent'] as const)(
  'a refusal makes it due at once, but not within the shortest pause: %s',
  async (of) => {
    const { reviews, clock, dueAfterMs } = await rested({ of });
    clock.advance(60_000);
    reviews.noteRefusal();
    expect(reviews.isDue).toBe(true);
    await reviews.run(settled);
    clock.advance(10_000);
    reviews.noteRefusal();
    expect(dueAfterMs()).toBe(20_000);
  },
);

test('new policies make it due at once, each time', async () => {
  const { reviews } = await rested({ of: 'controller' });
  reviews.request();
  expect(reviews.isDue).toBe(true);
  await reviews.run(settled);
  expect(reviews.isDue).toBe(false);
  reviews.request();
  expect(reviews.isDue).toBe(true);
});

test.each([
  { name: 'found a right missing', review: () => Promise.resolve(false) },
  { name: 'failed', review: () => Promise.reject(new Error('no answer')) },
])('a review that $name is repeated after the shortest pause, until it is settled', async ({ review }) => {
  const { reviews, dueAfterMs } = await rested({ of: 'agent' });
  for (let times = 0; times < 3; times += 1) {
    await reviews.run(review).catch(() => undefined);
    expect(dueAfterMs()).toBe(30_000);
  }
  await reviews.run(settled);
  expect(dueAfterMs()).toBeUndefined();
});

test('a request that is refused during a review counts', async () => {
  const { reviews, dueAfterMs } = await rested({ of: 'agent' });
  await reviews.run(() => {
    reviews.noteRefusal();
    return settled();
  });
  expect(dueAfterMs()).toBe(30_000);
});
