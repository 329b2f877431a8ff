import { describe, expect, test } from 'vitest';
import { AccessReviews, type Access } from '../../../../src/kube/auth/access-reviews.ts';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const tokens = '/apis/authentication.k8s.io/v1/tokenreviews';
const rights = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const never = new AbortController().signal;

interface World {
  /** By token. */
  readonly users: Map<string, unknown>;
  /** Names of users. */
  readonly readers: Set<string>;
  /** Of the next requests. */
  readonly failures: Error[];
}

const specOf = ({ body }: KubeRequest): Record<string, unknown> =>
  (body as { spec: Record<string, unknown> }).spec;

function bed(world: Partial<World> = {}) {
  const user = { username: 'prometheus', uid: 'u1', groups: ['monitoring'], extra: { k: ['v'] } };
  const { users, readers, failures } = {
    users: new Map<string, unknown>([['good', { authenticated: true, user }]]),
    readers: new Set(['prometheus']),
    failures: [],
    ...world,
  };
  const clock = new FakeClock();
  const transport = new FakeTransport({
    send: (request) => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      const spec = specOf(request);
      if (request.path === tokens)
        return { status: users.get(String(spec['token'])) ?? { authenticated: false } };
      return { status: { allowed: readers.has(String(spec['user'])) } };
    },
  });
  const reviews = new AccessReviews({ transport, clock, random: () => 1 });
  const check = (authorization?: string): Promise<Access> => reviews.check(authorization, '/metrics', never);
  const asked = (): string[] => transport.requests.splice(0).map(({ path }) => path);
  return { clock, transport, reviews, check, asked, users, readers, failures };
}

const refusal = (status: number): ApiError => new ApiError('no', { status });

test('whose token it is, and then whether they may get the path', async () => {
  const { check, transport } = bed();
  expect(await check('Bearer good')).toBe('allowed');
  expect(transport.requests).toMatchObject([
    { method: 'POST', path: tokens, body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' } },
    { method: 'POST', path: rights, body: { apiVersion: 'authorization.k8s.io/v1' } },
  ]);
  expect(transport.requests.map(specOf)).toEqual([
    { token: 'good' },
    {
      ...{ user: 'prometheus', uid: 'u1', groups: ['monitoring'], extra: { k: ['v'] } },
      nonResourceAttributes: { path: '/metrics', verb: 'get' },
    },
  ]);
});

test.each(['bearer good', 'BEARER  good'])('the scheme is found in %j', async (authorization) => {
  expect(await bed().check(authorization)).toBe('allowed');
});

test.each([undefined, '', 'good', 'Basic Z29vZA==', 'Bearer', 'Bearer ', 'Bearer a b', 'xBearer good'])(
  'without a bearer token nobody is asked: %j',
  async (authorization) => {
    const { check, asked } = bed();
    expect(await check(authorization)).toBe('unauthenticated');
    expect(asked()).toEqual([]);
  },
);

test.each([
  ['a token that is refused', { authenticated: false, error: '[invalid bearer token]' }],
  ['no user', { authenticated: true }],
  ['a user without a name', { authenticated: true, user: { username: '' } }],
  ['anonymous', { authenticated: true, user: { username: 'system:anonymous' } }],
  ['a word that is no answer', { authenticated: 'true', user: { username: 'prometheus' } }],
  ['no status', undefined],
])('%s is nobody, and nobody asks for their rights', async (_, status) => {
  const { check, asked } = bed({ users: new Map([['t', status]]) });
  expect(await check('Bearer t')).toBe('unauthenticated');
  expect(asked()).toEqual([tokens]);
});

test.each([
  ['not allowed', { allowed: false }],
  ['denied', { allowed: true, denied: true }],
  ['not said', {}],
])('%s is forbidden', async (_, status) => {
  const transport = new FakeTransport({
    send: ({ path }) =>
      path === tokens ? { status: { authenticated: true, user: { username: 'x' } } } : { status },
  });
  const reviews = new AccessReviews({ transport, clock: new FakeClock(), random: () => 0 });
  expect(await reviews.check('Bearer t', '/metrics', never)).toBe('forbidden');
});

describe('answers are remembered', () => {
  test('a user for a minute', async () => {
    const { check, asked, clock, users } = bed();
    await check('Bearer good');
    users.clear();
    clock.advance(59_999);
    asked();
    expect(await check('Bearer good')).toBe('allowed');
    expect(asked()).toEqual([]);
    clock.advance(1);
    expect(await check('Bearer good')).toBe('unauthenticated');
    expect(asked()).toEqual([tokens]);
  });

  test('a refused token for a minute too', async () => {
    const { check, asked, clock } = bed();
    await check('Bearer bad');
    clock.advance(59_999);
    await check('Bearer bad');
    expect(asked()).toEqual([tokens]);
    clock.advance(1);
    await check('Bearer bad');
    expect(asked()).toEqual([tokens]);
  });

  test('an error is not: the same token is asked about again', async () => {
    const error = '[invalid bearer token, the authenticator did not answer]';
    const { check, asked, users } = bed({ users: new Map([['t', { authenticated: false, error }]]) });
    expect(await check('Bearer t')).toBe('unauthenticated');
    users.set('t', { authenticated: true, user: { username: 'prometheus' } });
    expect(await check('Bearer t')).toBe('allowed');
    expect(asked()).toEqual([tokens, tokens, rights]);
  });

  test('a user is, whatever else went wrong', async () => {
    const known = { authenticated: true, user: { username: 'prometheus' }, error: 'one of several' };
    const { check, asked } = bed({ users: new Map([['t', known]]) });
    await check('Bearer t');
    asked();
    expect(await check('Bearer t')).toBe('allowed');
    expect(asked()).toEqual([]);
  });

  test('an allowance for five minutes', async () => {
    const { check, clock, readers } = bed();
    await check('Bearer good');
    readers.clear();
    clock.advance(5 * 60_000 - 1);
    expect(await check('Bearer good')).toBe('allowed');
    clock.advance(1);
    expect(await check('Bearer good')).toBe('forbidden');
  });

  test('a denial for half a minute', async () => {
    const { check, clock, readers } = bed({ readers: new Set() });
    expect(await check('Bearer good')).toBe('forbidden');
    readers.add('prometheus');
    clock.advance(29_999);
    expect(await check('Bearer good')).toBe('forbidden');
    clock.advance(1);
    expect(await check('Bearer good')).toBe('allowed');
  });

  test('of 256 tokens at most', async () => {
    const { check, asked } = bed();
    await check('Bearer good');
    for (let i = 0; i < 255; i += 1) await check(`Bearer bad-${i}`);
    asked();
    await check('Bearer good');
    expect(asked()).toEqual([]);
    await check('Bearer one-more');
    await check('Bearer good');
    expect(asked()).toEqual([tokens, tokens]);
  });
});

describe('an API server that does not answer', () => {
  test('is asked five times, with pauses that grow', async () => {
    const { check, asked, clock, failures } = bed();
    failures.push(...[500, 503, 429, 500].map(refusal));
    expect(await check('Bearer good')).toBe('allowed');
    expect(asked()).toEqual([tokens, tokens, tokens, tokens, tokens, rights]);
    expect(clock.monotonicMs()).toBeCloseTo(500 * (1 + 1.5 + 2.25 + 3.375) * 1.2);
  });

  test('is an error, and is asked again the next time', async () => {
    const { check, asked, failures } = bed();
    failures.push(...[500, 500, 500, 500, 500].map(refusal));
    await expect(check('Bearer good')).rejects.toThrow('making a TokenReview');
    expect(asked()).toHaveLength(5);
    expect(await check('Bearer good')).toBe('allowed');
  });

  test('a right that we lack is an error at once', async () => {
    const { check, asked, failures } = bed();
    failures.push(refusal(403));
    await expect(check('Bearer good')).rejects.toThrow('making a TokenReview');
    expect(asked()).toEqual([tokens]);
  });

  test('has ten seconds for all tries', async () => {
    const clock = new FakeClock();
    const transport = new FakeTransport({
      send: ({ timeoutMs = 0 }) => {
        clock.advance(Math.min(timeoutMs, 6_000));
        throw refusal(504);
      },
    });
    const reviews = new AccessReviews({ transport, clock, random: () => 0 });
    await expect(reviews.check('Bearer t', '/metrics', never)).rejects.toThrow('making a TokenReview');
    expect(transport.requests.map(({ timeoutMs }) => timeoutMs)).toEqual([10_000, 3_500]);
  });

  test('gets 16 questions at once and no more', async () => {
    const answers: (() => void)[] = [];
    const transport = new FakeTransport({
      send: () =>
        new Promise((resolve) => {
          answers.push(() => {
            resolve({ status: {} });
          });
        }),
    });
    const reviews = new AccessReviews({ transport, clock: new FakeClock(), random: () => 0 });
    const ask = (i: number): Promise<Access> => reviews.check(`Bearer ${i}`, '/metrics', never);
    const waiting = Array.from({ length: 16 }, (_, i) => ask(i));
    await expect(ask(16)).rejects.toThrow('too many reviews of access at once');
    for (const answer of answers) answer();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['unauthenticated']));
    const later = ask(17);
    answers.at(-1)?.();
    expect(await later).toBe('unauthenticated');
  });
});

test('who does not wait any more is not answered', async () => {
  const gone = new AbortController();
  const transport = new FakeTransport({
    send: () => {
      gone.abort();
      throw refusal(500);
    },
  });
  const reviews = new AccessReviews({ transport, clock: new FakeClock(), random: () => 0 });
  await expect(reviews.check('Bearer t', '/metrics', gone.signal)).rejects.toThrow();
  expect(transport.requests).toHaveLength(1);
});
