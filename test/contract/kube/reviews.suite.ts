import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { podEvictions } from '../../../src/kube/actions/eviction.ts';
import type { HttpTransport } from '../../../src/kube/http/http-transport.ts';
import { AccessReviews, type Access } from '../../../src/kube/auth/access-reviews.ts';
import { FakeClock } from '../../fakes/clock.ts';
import { contractTransport } from './objects.ts';
import type { ContractServer } from '../server.ts';

/** Names, and what they may do in the whole cluster. */
export const reviewUsers = {
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

type ReviewUser = keyof typeof reviewUsers;

interface ReviewServer extends ContractServer {
  tokenOf(user: ReviewUser): string;
}

/** What the protection of /metrics relies on from an API server. */
export function reviewsSuite(start: () => Promise<ReviewServer>): void {
  let server: ReviewServer;
  const transports: HttpTransport[] = [];
  const { signal } = new AbortController();

  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    for (const transport of transports) transport.close();
    await server.stop();
  });

  async function transportOf(token: string): Promise<HttpTransport> {
    const transport = await contractTransport(server, token);
    transports.push(transport);
    return transport;
  }

  async function check(token: string, us: ReviewUser = 'metrics-server'): Promise<Access> {
    const transport = await transportOf(server.tokenOf(us));
    const reviews = new AccessReviews({ transport, clock: new FakeClock(), random: () => 0 });
    return await reviews.check(`Bearer ${token}`, '/metrics', signal);
  }

  describe('who may get /metrics', () => {
    test.each([
      ['reader', 'allowed'],
      ['stranger', 'forbidden'],
      ['poster', 'forbidden'],
      ['neighbour', 'forbidden'],
    ] as const)('%s: %s', async (user, access) => {
      expect(await check(server.tokenOf(user))).toBe(access);
    });

    test('an administrator may', async () => {
      expect(await check(server.token)).toBe('allowed');
    });

    test('a token that nobody has is nobody', async () => {
      expect(await check('no-such-token')).toBe('unauthenticated');
    });
  });

  describe('who has the right to evict', () => {
    const mayEvict = async (token: string): Promise<boolean> =>
      podEvictions(await transportOf(token)).mayEvict('default', signal);

    test.each([
      ['evictor', true],
      ['deleter', false],
      ['stranger', false],
    ] as const)('%s: %s', async (user, isAllowed) => {
      expect(await mayEvict(server.tokenOf(user))).toBe(isAllowed);
    });

    test('an administrator has', async () => {
      expect(await mayEvict(server.token)).toBe(true);
    });
  });

  test('who may not ask says which right is missing', async () => {
    const problem: unknown = await check(server.tokenOf('reader'), 'stranger').catch((err: unknown) => err);
    expect(problem).toMatchObject({ message: 'making a TokenReview', cause: { status: 403 } });
    expect(String((problem as Error).cause)).toMatch(/cannot create resource "tokenreviews"/);
  });
}
