import { describe, expect, onTestFinished, test } from 'vitest';
import { LiveReads } from '../../../src/kube/actions/live-reads.ts';
import { AccessReviews, type Access } from '../../../src/kube/auth/access-reviews.ts';
import type { KubeTransport } from '../../../src/kube/http/transport.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { startEnvironment } from './environment.ts';
import { contractTransport } from './objects.ts';

/** Users with their rights in the whole cluster. */
const users = {
  /** Us. */
  'metrics-server': [
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  ],
  reader: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
  stranger: [],
  poster: [{ nonResourceURLs: ['/metrics'], verbs: ['post'] }],
  neighbour: [{ nonResourceURLs: ['/metrics/slis'], verbs: ['get'] }],
  evictor: [{ apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] }],
  deleter: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'create', 'delete'] }],
} as const;

type ReviewUser = keyof typeof users;

const { signal } = new AbortController();

const { server } = await startEnvironment({
  users: Object.entries(users).map(([name, rules]) => ({ name, rules })),
});

async function transportOf(token: string): Promise<KubeTransport> {
  const transport = await contractTransport(server, token);
  onTestFinished(() => {
    transport.close();
  });
  return transport;
}

async function check(token: string, us: ReviewUser = 'metrics-server'): Promise<Access> {
  const transport = await transportOf(server.tokenOf(us));
  const reviews = new AccessReviews({ transport, clock: new FakeClock(), random: () => 0 });
  return await reviews.check(`Bearer ${token}`, '/metrics', signal);
}

describe('access to /metrics', () => {
  test.each([
    ['reader', 'allowed'],
    ['stranger', 'forbidden'],
    ['poster', 'forbidden'],
    ['neighbour', 'forbidden'],
  ] as const)('%s: %s', async (user, access) => {
    expect(await check(server.tokenOf(user))).toBe(access);
  });

  test('an administrator: allowed; an unknown token: unauthenticated', async () => {
    expect(await check(server.token)).toBe('allowed');
    expect(await check('no-such-token')).toBe('unauthenticated');
  });
});

describe('the right to evict', () => {
  const mayEvict = async (token: string): Promise<boolean> =>
    new LiveReads(await transportOf(token), systemClock).mayEvict('default', signal);

  test.each([
    ['evictor', true],
    ['deleter', false],
    ['stranger', false],
  ] as const)('%s: %s', async (user, isAllowed) => {
    expect(await mayEvict(server.tokenOf(user))).toBe(isAllowed);
  });
});

test('a reviewer without rights names the missing right', async () => {
  const problem: unknown = await check(server.tokenOf('reader'), 'stranger').catch((err: unknown) => err);
  expect(problem).toMatchObject({ message: 'making a TokenReview', cause: { status: 403 } });
  expect(String((problem as Error).cause)).toMatch(/cannot create resource "tokenreviews"/);
});
