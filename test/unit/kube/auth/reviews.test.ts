import { describe, expect, test } from 'vitest';
import { AccessReviews } from '../../../../src/kube/auth/access-reviews.ts';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const tokens = '/apis/authentication.k8s.io/v1/tokenreviews';
const rights = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const never = new AbortController().signal;

const specOf = ({ body }: KubeRequest): Record<string, unknown> =>
  (body as { spec: Record<string, unknown> }).spec;

/** Reviews by a server that knows the token `good`, of the user `prometheus`, which has the right. */
function reviewing(before: (request: KubeRequest) => unknown = () => undefined) {
  const user = { username: 'prometheus', uid: 'u1', groups: ['monitoring'], extra: { k: ['v'] } };
  /** The status of a TokenReview by token, and of a SubjectAccessReview by user. */
  const statuses = new Map<unknown, unknown>([
    ['good', { authenticated: true, user }],
    ['prometheus', { allowed: true }],
  ]);
  const clock = new FakeClock();
  const transport = new FakeTransport({
    send: async (request) => {
      await before(request);
      const { token, user } = specOf(request);
      return { status: statuses.get(token ?? user) };
    },
  });
  const reviews = new AccessReviews({ transport, clock, random: () => 1 });
  const check = (token: string, signal = never) => reviews.check(`Bearer ${token}`, '/metrics', signal);
  const sent = (): string[] => transport.requests.splice(0).map(({ path }) => path);
  return { clock, transport, reviews, check, sent, statuses };
}

const refuse = (status: number): never => {
  throw new ApiError('no', { status });
};

test('requests the user of the token, then the right to get the path', async () => {
  const { reviews, transport } = reviewing();
  expect(await reviews.check('BEARER  good', '/metrics', never)).toBe('allowed');
  expect(transport.requests.map(({ path }) => path)).toEqual([tokens, rights]);
  expect(transport.requests.map(specOf)).toEqual([
    { token: 'good' },
    {
      ...{ user: 'prometheus', uid: 'u1', groups: ['monitoring'], extra: { k: ['v'] } },
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
    },
  ]);
});

test.each([undefined, 'good', 'Basic Z29vZA==', 'Bearer ', 'Bearer a b', 'xBearer good'])(
  'sends no review without a bearer token: %j',
  async (authorization) => {
    const { reviews, sent } = reviewing();
    expect(await reviews.check(authorization, '/metrics', never)).toBe('unauthenticated');
    expect(sent()).toEqual([]);
  },
);

test.each([
  ['a rejected token', { authenticated: false }],
  ['no user', { authenticated: true }],
  ['a user without a name', { authenticated: true, user: { username: '' } }],
  ['anonymous', { authenticated: true, user: { username: 'system:anonymous' } }],
  ['a text instead of a boolean', { authenticated: 'true', user: { username: 'prometheus' } }],
  ['no status', undefined],
])('%s is unauthenticated, without a review of rights', async (_, status) => {
  const { check, sent, statuses } = reviewing();
  statuses.set('t', status);
  expect(await check('t')).toBe('unauthenticated');
  expect(sent()).toEqual([tokens]);
});

test.each([
  ['not allowed', { allowed: false }],
  ['denied', { allowed: true, denied: true }],
  ['undecided', {}],
])('%s is forbidden, also if another user is allowed', async (_, status) => {
  const { check, statuses } = reviewing();
  expect(await check('good')).toBe('allowed');
  statuses.set('t', { authenticated: true, user: { username: 'x' } }).set('x', status);
  expect(await check('t')).toBe('forbidden');
});

describe('remembers', () => {
  test.each([
    ['a user', 'good', 'allowed'],
    ['a rejected token', 'bad', 'unauthenticated'],
  ])('%s for a minute', async (_, token, known) => {
    const { check, sent, clock, statuses } = reviewing();
    await check(token);
    statuses.delete('good');
    clock.advance(59_999);
    sent();
    expect(await check(token)).toBe(known);
    expect(sent()).toEqual([]);
    clock.advance(1);
    expect(await check(token)).toBe('unauthenticated');
    expect(sent()).toEqual([tokens]);
  });

  test('the user of a token whose review has an error, but not that it has none', async () => {
    const error = '[invalid bearer token, the authenticator did not respond]';
    const { check, sent, statuses } = reviewing();
    statuses.set('t', { authenticated: false, error });
    expect(await check('t')).toBe('unauthenticated');
    statuses.set('t', { authenticated: true, user: { username: 'prometheus' }, error: 'one of several' });
    for (let i = 0; i < 2; i += 1) expect(await check('t')).toBe('allowed');
    expect(sent()).toEqual([tokens, tokens, rights]);
  });

  test.each([
    { name: 'an allowance for five minutes', forMs: 300_000, isFirst: true },
    { name: 'a denial for half a minute', forMs: 30_000, isFirst: false },
  ])('$name', async ({ forMs, isFirst }) => {
    const { check, clock, statuses } = reviewing();
    const access = (allowed: boolean): string => (allowed ? 'allowed' : 'forbidden');
    statuses.set('prometheus', { allowed: isFirst });
    expect(await check('good')).toBe(access(isFirst));
    statuses.set('prometheus', { allowed: !isFirst });
    clock.advance(forMs - 1);
    expect(await check('good')).toBe(access(isFirst));
    clock.advance(1);
    expect(await check('good')).toBe(access(!isFirst));
  });

  test('at most 256 tokens', async () => {
    const { check, sent } = reviewing();
    await check('good');
    for (let i = 0; i < 255; i += 1) await check(`bad-${i}`);
    sent();
    await check('good');
    expect(sent()).toEqual([]);
    await check('one-more');
    await check('good');
    expect(sent()).toEqual([tokens, tokens]);
  });
});

describe('a failed review', () => {
  test('is sent five times, with growing pauses, and again the next time', async () => {
    const failures = [500, 503, 429, 500, 500];
    const { check, sent, clock } = reviewing(() => failures.splice(0, 1).map(refuse));
    await expect(check('good')).rejects.toThrow('making a TokenReview');
    expect(sent()).toHaveLength(5);
    expect(clock.monotonicMs()).toBeCloseTo(500 * (1 + 1.5 + 2.25 + 3.375) * 1.2);
    expect(await check('good')).toBe('allowed');
  });

  test('has ten seconds for all attempts, and is not repeated after an abort', async () => {
    const gone = new AbortController();
    const { check, transport, clock } = reviewing(({ timeoutMs = 0 }) => {
      if (transport.requests.length === 3) gone.abort();
      clock.advance(Math.min(timeoutMs, 6_000));
      refuse(504);
    });
    await expect(check('t')).rejects.toThrow('making a TokenReview');
    expect(transport.requests.map(({ timeoutMs }) => timeoutMs)).toEqual([10_000, 3_400]);
    await expect(check('t', gone.signal)).rejects.toThrow();
    expect(transport.requests).toHaveLength(3);
  });

  test('is one of at most 16 concurrent reviews', async () => {
    let respond = (): void => undefined;
    const responding = new Promise<void>((resolve) => (respond = resolve));
    const { check } = reviewing(() => responding);
    const waiting = Array.from({ length: 16 }, (_, i) => check(`${i}`));
    await expect(check('16')).rejects.toThrow('too many reviews of access at once');
    respond();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['unauthenticated']));
    expect(await check('17')).toBe('unauthenticated');
  });
});
