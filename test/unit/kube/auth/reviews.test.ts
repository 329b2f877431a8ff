import { describe, expect, test } from 'vitest';
import { AccessReviews, type Access } from '../../../../src/kube/auth/access-reviews.ts';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const tokens = '/apis/authentication.k8s.io/v1/tokenreviews';
const rights = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const never = new AbortController().signal;

interface ServerState {
  /** By token. */
  readonly users: Map<string, unknown>;
  /** Names of users. */
  readonly readers: Set<string>;
  /** Errors of the next requests. */
  readonly failures: Error[];
}

const specOf = ({ body }: KubeRequest): Record<string, unknown> =>
  (body as { spec: Record<string, unknown> }).spec;

function reviewing(state: Partial<ServerState> = {}) {
  const user = { username: 'prometheus', uid: 'u1', groups: ['monitoring'], extra: { k: ['v'] } };
  const { users, readers, failures } = {
    users: new Map<string, unknown>([['good', { authenticated: true, user }]]),
    readers: new Set(['prometheus']),
    failures: [],
    ...state,
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
  const sent = (): string[] => transport.requests.splice(0).map(({ path }) => path);
  return { clock, transport, check, sent, users, failures };
}

/** Checks of access over this transport. */
function checkingBy(send: (request: KubeRequest) => unknown, clock = new FakeClock()) {
  const transport = new FakeTransport({ send });
  const reviews = new AccessReviews({ transport, clock, random: () => 0 });
  const check = (token: string, signal = never) => reviews.check(`Bearer ${token}`, '/metrics', signal);
  return { transport, check };
}

const refusal = (status: number): ApiError => new ApiError('no', { status });

test('requests the user of the token, then the right to get the path', async () => {
  const { check, transport } = reviewing();
  expect(await check('BEARER  good')).toBe('allowed');
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
    const { check, sent } = reviewing();
    expect(await check(authorization)).toBe('unauthenticated');
    expect(sent()).toEqual([]);
  },
);

test.each([
  ['no user', { authenticated: true }],
  ['a user without a name', { authenticated: true, user: { username: '' } }],
  ['anonymous', { authenticated: true, user: { username: 'system:anonymous' } }],
  ['a text instead of a boolean', { authenticated: 'true', user: { username: 'prometheus' } }],
  ['no status', undefined],
])('%s is unauthenticated, without a review of rights', async (_, status) => {
  const { check, sent } = reviewing({ users: new Map([['t', status]]) });
  expect(await check('Bearer t')).toBe('unauthenticated');
  expect(sent()).toEqual([tokens]);
});

test.each([
  ['not allowed', { allowed: false }],
  ['denied', { allowed: true, denied: true }],
  ['undecided', {}],
])('%s is forbidden', async (_, status) => {
  const user = { authenticated: true, user: { username: 'x' } };
  const { check } = checkingBy(({ path }) => ({ status: path === tokens ? user : status }));
  expect(await check('t')).toBe('forbidden');
});

describe('remembers', () => {
  test('the right of one user, not of another', async () => {
    const { check, users } = reviewing();
    users.set('others', { authenticated: true, user: { username: 'other' } });
    expect(await check('Bearer good')).toBe('allowed');
    expect(await check('Bearer others')).toBe('forbidden');
  });

  test.each([
    ['a user', 'good', 'allowed'],
    ['a rejected token', 'bad', 'unauthenticated'],
  ])('%s for a minute', async (_, token, known) => {
    const { check, sent, clock, users } = reviewing();
    await check(`Bearer ${token}`);
    users.clear();
    clock.advance(59_999);
    sent();
    expect(await check(`Bearer ${token}`)).toBe(known);
    expect(sent()).toEqual([]);
    clock.advance(1);
    expect(await check(`Bearer ${token}`)).toBe('unauthenticated');
    expect(sent()).toEqual([tokens]);
  });

  test('the users of a token whose review has an error, but not that it has none', async () => {
    const error = '[invalid bearer token, the authenticator did not respond]';
    const { check, sent, users } = reviewing({ users: new Map([['t', { authenticated: false, error }]]) });
    expect(await check('Bearer t')).toBe('unauthenticated');
    users.set('t', { authenticated: true, user: { username: 'prometheus' }, error: 'one of several' });
    for (let i = 0; i < 2; i += 1) expect(await check('Bearer t')).toBe('allowed');
    expect(sent()).toEqual([tokens, tokens, rights]);
  });

  test.each([
    { name: 'an allowance for five minutes', forMs: 300_000, known: 'allowed', next: 'forbidden' },
    { name: 'a denial for half a minute', forMs: 30_000, known: 'forbidden', next: 'allowed' },
  ])('$name', async ({ forMs, known, next }) => {
    const readers = new Set(known === 'allowed' ? ['prometheus'] : []);
    const { check, clock } = reviewing({ readers });
    expect(await check('Bearer good')).toBe(known);
    if (!readers.delete('prometheus')) readers.add('prometheus');
    clock.advance(forMs - 1);
    expect(await check('Bearer good')).toBe(known);
    clock.advance(1);
    expect(await check('Bearer good')).toBe(next);
  });

  test('at most 256 tokens', async () => {
    const { check, sent } = reviewing();
    await check('Bearer good');
    for (let i = 0; i < 255; i += 1) await check(`Bearer bad-${i}`);
    sent();
    await check('Bearer good');
    expect(sent()).toEqual([]);
    await check('Bearer one-more');
    await check('Bearer good');
    expect(sent()).toEqual([tokens, tokens]);
  });
});

describe('a failed review', () => {
  test('is sent five times, with growing pauses, and again the next time', async () => {
    const { check, sent, clock, failures } = reviewing();
    failures.push(...[500, 503, 429, 500, 500].map(refusal));
    await expect(check('Bearer good')).rejects.toThrow('making a TokenReview');
    expect(sent()).toHaveLength(5);
    expect(clock.monotonicMs()).toBeCloseTo(500 * (1 + 1.5 + 2.25 + 3.375) * 1.2);
    expect(await check('Bearer good')).toBe('allowed');
  });

  test('has ten seconds for all attempts, and nothing is sent after an abort', async () => {
    const [clock, gone] = [new FakeClock(), new AbortController()];
    const { check, transport } = checkingBy(({ timeoutMs = 0 }) => {
      if (transport.requests.length === 3) gone.abort();
      clock.advance(Math.min(timeoutMs, 6_000));
      throw refusal(504);
    }, clock);
    await expect(check('t')).rejects.toThrow('making a TokenReview');
    expect(transport.requests.map(({ timeoutMs }) => timeoutMs)).toEqual([10_000, 3_500]);
    await expect(check('t', gone.signal)).rejects.toThrow();
    expect(transport.requests).toHaveLength(3);
  });

  test('is one of at most 16 concurrent reviews', async () => {
    const responses: (() => void)[] = [];
    const checking = checkingBy(
      () =>
        new Promise((resolve) => {
          responses.push(() => {
            resolve({ status: {} });
          });
        }),
    );
    const check = (i: number): Promise<Access> => checking.check(`${i}`);
    const waiting = Array.from({ length: 16 }, (_, i) => check(i));
    await expect(check(16)).rejects.toThrow('too many reviews of access at once');
    for (const respond of responses) respond();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['unauthenticated']));
    const later = check(17);
    responses.at(-1)?.();
    expect(await later).toBe('unauthenticated');
  });
});
