import { describe, expect, test } from 'vitest';
import { tokenCredentials } from '../../../../src/kube/auth/credentials.ts';
import type { Credentials } from '../../../../src/kube/http/endpoint.ts';
import {
  get,
  methods,
  never,
  ok,
  refuse,
  startTransport,
  statusJson,
  type Respond,
} from './start-transport.ts';

describe('a request', () => {
  test('has host, path of the server, credentials, user agent, query and body, with its length in bytes', async () => {
    const { seen, transport, calls, url } = await startTransport(ok({ a: 1 }), { path: '/k8s/c-1/' });
    const response = await transport.send(
      { ...get, method: 'POST', query: { fieldSelector: 'spec.nodeName=a b' }, body: { b: 'ä' } },
      never,
    );
    expect(JSON.parse(response.body.toString())).toEqual({ a: 1 });
    expect(response).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: '/k8s/c-1/api/v1/pods?fieldSelector=spec.nodeName%3Da+b',
      headers: {
        host: new URL(url).host,
        authorization: 'Bearer t',
        'user-agent': 'dustpan',
        accept: 'application/json',
        'content-type': 'application/json',
        'content-length': '10',
      },
    });
    expect(calls).toEqual([expect.objectContaining({ verb: 'POST', code: '200' })]);
    await transport.send(get, never);
    expect(seen[1]?.headers).not.toHaveProperty('content-length');
  });

  test('with a long incomplete response does not block the next', async () => {
    const half: Respond = (response) => {
      response.writeHead(200, { 'content-length': '1400000' });
      response.write('x'.repeat(700_000));
    };
    const { transport } = await startTransport([half, ok({ long: 'x'.repeat(1_400_000) })]);
    const broken = transport.send({ ...get, timeoutMs: 300, retries: 0 }, never).catch(String);
    expect(await broken).toContain('did not respond to GET /api/v1/pods within 0.3 s');
    expect((await transport.send(get, never)).body.length).toBe(1_400_011);
  });

  test.each(methods)(
    '%s of many at once has a connection each, which the next ones reuse, and gets its own response',
    async (method) => {
      const held: (() => void)[] = [];
      const { connections, transport } = await startTransport((response, request) => {
        held.push(() => void response.end(request.url));
        // Eight at a time, the last one first.
        if (held.length === 8) for (const respond of held.splice(0).reverse()) respond();
      });
      for (let round = 0; round < 10; round += 1) {
        const paths = Array.from({ length: 8 }, (_, i) => `/${round}/${i}`);
        const sent = paths.map((path) => transport.send({ ...get, method, path }, never));
        const responses = await Promise.all(sent);
        expect(responses.map(({ body }) => body.toString())).toEqual(paths);
      }
      expect(connections.size).toBe(8);
    },
  );

  test('cannot be split into two', async () => {
    const { seen, transport } = await startTransport(ok(), { auth: tokenCredentials('t\r\nx: y') });
    await expect(transport.send(get, never)).rejects.toThrow(TypeError);
    const path = '/a HTTP/1.1\r\n\r\nDELETE /b';
    await expect(transport.send({ ...get, path }, never)).rejects.toThrow(TypeError);
    expect(seen).toEqual([]);
  });
});

test('requests are limited to a rate after a burst, which a pause refills', async () => {
  const { transport, clock } = await startTransport(ok(), { qps: 2, burst: 2 });
  const send = (count: number) =>
    Promise.all(Array.from({ length: count }, () => transport.send(get, never)));
  await send(4);
  expect(clock.monotonicMs()).toBe(1_000);
  clock.advance(60_000);
  await send(3);
  expect(clock.monotonicMs()).toBe(61_500);
});

describe('a rejection', () => {
  const forbidden = 'pods "a" is forbidden: User "u" cannot delete resource "pods" in API group ""';
  const status = statusJson(forbidden, 'Forbidden', { causes: [{ reason: 'A' }, { reason: 'B' }] });
  const slow = statusJson('slow', '', { retryAfterSeconds: 3 });
  const sentence = 'Too many requests, please try again later.\n';
  const byProxy = JSON.stringify({ message: 'no such route', reason: 'NotFound' });

  test.each<readonly [string, Respond, object]>([
    [
      'has the message, reason and causes of the Status',
      refuse(403, status),
      { message: forbidden, status: 403, reason: 'Forbidden', causes: ['A', 'B'], isStatus: true },
    ],
    ['may have its Retry-After in the details', refuse(429, slow), { retryAfterMs: 3_000 }],
    [
      'without a body names the request, and is no Status',
      refuse(503),
      { message: 'GET /api/v1/pods: 503 Service Unavailable', isStatus: false, retryAfterMs: undefined },
    ],
    [
      'with a plain sentence has it',
      refuse(429, sentence),
      { message: 'GET /api/v1/pods: 429 Too many requests, please try again later.', isStatus: false },
    ],
    [
      'with the page of a proxy does not have it',
      refuse(502, '<html>\n<h1>no'),
      { message: 'GET /api/v1/pods: 502 Bad Gateway', isStatus: false },
    ],
    [
      'with the JSON of a proxy has no reason, so it is not the absence of an object',
      refuse(404, byProxy),
      { status: 404, reason: '' },
    ],
  ])('%s', async (_name, response, error) => {
    const { transport } = await startTransport(response);
    const sending = transport.send({ ...get, retries: 0 }, never);
    await expect(sending).rejects.toMatchObject({ name: 'ApiError', ...error });
  });

  test.each(methods)('of a %s may be a redirect', async (method) => {
    const { seen, transport } = await startTransport(refuse(302, '', { location: '/login' }));
    await expect(transport.send({ ...get, method }, never)).rejects.toMatchObject({ status: 302 });
    expect(seen).toHaveLength(1);
  });

  test('of a connection is reported in one line', async () => {
    const { stopServer, transport, url } = await startTransport(ok());
    stopServer();
    await expect(transport.send({ ...get, retries: 0 }, never)).rejects.toThrow(
      `cannot reach the API server ${url}: connection refused`,
    );
  });
});

describe('rejected credentials', () => {
  /** Returns token 1 until refreshed, then token 2, … */
  class Rotating implements Credentials {
    refreshed = 0;
    #headers = { authorization: 'Bearer 1' };

    headers(): Promise<Record<string, string>> {
      return Promise.resolve(this.#headers);
    }

    refresh(): void {
      this.refreshed += 1;
      this.#headers = { authorization: `Bearer ${this.refreshed + 1}` };
    }
  }
  const onlyTwo: Respond = (response, request) => {
    const accepted = request.headers.authorization === 'Bearer 2';
    (accepted ? ok() : refuse(401, statusJson('Unauthorized', 'Unauthorized')))(response, request);
  };

  test.each(methods)('of a %s are read again once, and the request is repeated', async (method) => {
    const { seen, transport } = await startTransport(onlyTwo, { auth: new Rotating() });
    await transport.send({ ...get, method }, never);
    expect(seen.map((r) => r.headers.authorization)).toEqual(['Bearer 1', 'Bearer 2']);
  });

  test('are read again once for all requests that used them', async () => {
    const auth = new Rotating();
    const { transport } = await startTransport(onlyTwo, { auth });
    await Promise.all(Array.from({ length: 8 }, () => transport.send(get, never)));
    expect(auth.refreshed).toBe(1);
  });

  test.each([
    { status: 401, sent: 2, why: 'the fresh ones are rejected too' },
    { status: 403, sent: 1, why: 'the right is missing' },
  ])('fail the request if $why', async ({ status, sent }) => {
    const { seen, transport } = await startTransport(refuse(status), { auth: new Rotating() });
    await expect(transport.send(get, never)).rejects.toMatchObject({ status });
    expect(seen).toHaveLength(sent);
  });
});
