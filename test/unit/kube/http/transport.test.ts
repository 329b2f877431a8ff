import { describe, expect, test } from 'vitest';
import { tokenCredentials } from '../../../../src/kube/auth/credentials.ts';
import type { Credentials } from '../../../../src/kube/http/endpoint.ts';
import { startTransport, get, methods, never } from './start-transport.ts';
import { ok, refuse, statusJson, type Respond } from './fault-server.ts';

describe('a request', () => {
  test('has host, credentials, user agent, query and body, with its length in bytes', async () => {
    const { server, transport, calls, url } = await startTransport(ok({ a: 1 }));
    const response = await transport.send(
      { ...get, method: 'POST', query: { fieldSelector: 'spec.nodeName=a b' }, body: { b: 'ä' } },
      never,
    );
    expect(JSON.parse(response.body.toString())).toEqual({ a: 1 });
    expect(response).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
    expect(server.seen[0]).toMatchObject({
      method: 'POST',
      url: '/api/v1/pods?fieldSelector=spec.nodeName%3Da+b',
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

  test('without a body has no length', async () => {
    const { server, transport } = await startTransport(ok());
    await transport.send(get, never);
    expect(server.seen[0]?.headers).not.toHaveProperty('content-length');
  });

  test('keeps the path of the server URL', async () => {
    const { server, transport } = await startTransport(ok(), { path: '/k8s/c-1/' });
    await transport.send(get, never);
    expect(server.seen[0]?.url).toBe('/k8s/c-1/api/v1/pods');
  });

  test.each(methods)(
    '%s of many at once has a connection each, which the next ones reuse',
    async (method) => {
      const { server, transport } = await startTransport(ok());
      for (let round = 0; round < 2; round += 1)
        await Promise.all(Array.from({ length: 8 }, () => transport.send({ ...get, method }, never)));
      expect(server.connections.size).toBe(8);
    },
  );

  test.each(methods)('%s of many at once gets its own response', async (method) => {
    const held: (() => void)[] = [];
    const { transport } = await startTransport((response, request) => {
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
  });

  test.each(methods)('%s cannot be split into two', async (method) => {
    const { server, transport } = await startTransport(ok(), { auth: tokenCredentials('t\r\nx: y') });
    await expect(transport.send({ ...get, method }, never)).rejects.toThrow(TypeError);
    const path = '/a HTTP/1.1\r\n\r\nDELETE /b';
    await expect(transport.send({ ...get, method, path }, never)).rejects.toThrow(TypeError);
    expect(server.seen).toEqual([]);
  });
});

test('requests are limited to a rate', async () => {
  const { transport, clock } = await startTransport(ok(), { qps: 2, burst: 1 });
  for (let i = 0; i < 3; i += 1) await transport.send(get, never);
  expect(clock.monotonicMs()).toBe(1_000);
});

describe('a rejection', () => {
  const forbidden = 'pods "a" is forbidden: User "u" cannot delete resource "pods" in API group ""';

  test('has the message, reason and causes of the Status', async () => {
    const body = statusJson(forbidden, 'Forbidden', { causes: [{ reason: 'A' }, { reason: 'B' }] });
    const { transport } = await startTransport(refuse(403, body));
    await expect(transport.send(get, never)).rejects.toMatchObject({
      name: 'ApiError',
      message: forbidden,
      status: 403,
      reason: 'Forbidden',
      causes: ['A', 'B'],
      retryAfterMs: undefined,
      isStatus: true,
    });
  });

  test('may have its Retry-After in the details', async () => {
    const slow = refuse(429, statusJson('slow', '', { retryAfterSeconds: 3 }));
    const { transport } = await startTransport(slow);
    await expect(transport.send({ ...get, retries: 0 }, never)).rejects.toMatchObject({ retryAfterMs: 3000 });
  });

  const sentence = refuse(429, 'Too many requests, please try again later.\n');
  test.each<readonly [string, Respond, string]>([
    ['no body', refuse(503), '503 Service Unavailable'],
    ['a plain sentence', sentence, '429 Too many requests, please try again later.'],
    ['a page of a proxy', refuse(502, '<html>\n<h1>no'), '502 Bad Gateway'],
  ])('with %s names the request, and is no Status', async (_name, response, message) => {
    const { transport } = await startTransport(response);
    const sending = transport.send({ ...get, retries: 0 }, never);
    await expect(sending).rejects.toMatchObject({ isStatus: false });
    await expect(sending).rejects.toThrow(`GET /api/v1/pods: ${message}`);
  });

  test('with the JSON of a proxy has no reason, so it is not the absence of an object', async () => {
    const body = JSON.stringify({ message: 'no such route', reason: 'NotFound' });
    const { transport } = await startTransport(refuse(404, body));
    await expect(transport.send(get, never)).rejects.toMatchObject({ status: 404, reason: '' });
  });

  test.each(methods)('of a %s may be a redirect', async (method) => {
    const { server, transport } = await startTransport(refuse(302, '', { location: '/login' }));
    await expect(transport.send({ ...get, method }, never)).rejects.toMatchObject({ status: 302 });
    expect(server.seen).toHaveLength(1);
  });

  test('of a connection is reported in one line', async () => {
    const { server, transport, url } = await startTransport(ok());
    await server.stop();
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
    const auth = new Rotating();
    const { server, transport } = await startTransport(onlyTwo, { auth });
    await transport.send({ ...get, method }, never);
    expect(server.seen.map((r) => r.headers.authorization)).toEqual(['Bearer 1', 'Bearer 2']);
  });

  test('are not read again after a 403', async () => {
    const auth = new Rotating();
    const { server, transport } = await startTransport(refuse(403), { auth });
    await expect(transport.send(get, never)).rejects.toMatchObject({ status: 403 });
    expect({ sent: server.seen.length, refreshed: auth.refreshed }).toEqual({ sent: 1, refreshed: 0 });
  });

  test('are read again once for all requests that used them', async () => {
    const auth = new Rotating();
    const { transport } = await startTransport(onlyTwo, { auth });
    await Promise.all(Array.from({ length: 8 }, () => transport.send(get, never)));
    expect(auth.refreshed).toBe(1);
  });

  test('fail the request if the fresh ones are rejected too', async () => {
    const { server, transport } = await startTransport(refuse(401), { auth: new Rotating() });
    await expect(transport.send(get, never)).rejects.toMatchObject({ status: 401 });
    expect(server.seen).toHaveLength(2);
  });
});
