import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { describe, expect, test } from 'vitest';
import { tokenCredentials, type Credentials } from '../../../../src/kube/auth/credentials.ts';
import { createTransport } from '../../../../src/kube/http/http-transport.ts';
import { bed, get, methods, never } from './transport-bed.ts';
import { ok, refuse, statusJson, type Answer } from './transport-fault-server.ts';

describe('a request', () => {
  test('carries who we are, what we want and what we send', async () => {
    const { server, transport, calls } = await bed([ok({ a: 1 })]);
    const answer = await transport.send(
      { ...get, method: 'POST', query: { fieldSelector: 'spec.nodeName=a b' }, body: { b: 2 } },
      never,
    );
    expect(JSON.parse(answer.body.toString())).toEqual({ a: 1 });
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
    expect(server.seen[0]).toMatchObject({
      method: 'POST',
      url: '/api/v1/pods?fieldSelector=spec.nodeName%3Da+b',
      headers: {
        authorization: 'Bearer t',
        'user-agent': 'dustpan',
        accept: 'application/json',
        'content-type': 'application/json',
        'content-length': '7',
      },
    });
    expect(calls).toEqual([expect.objectContaining({ verb: 'POST', code: '200' })]);
  });

  test('with a long answer is read whole, many at a time, one of them after the other', async () => {
    const long = 'x'.repeat(1_400_000);
    let whole = 0;
    const { transport } = await bed([ok({ long })]);
    const { signal } = new AbortController();
    const all = Array.from({ length: 20 }, async () => {
      const { body } = await transport.send({ ...get, method: 'PATCH' }, signal);
      whole += Number(body.length === long.length + 11);
    });
    await Promise.all(all);
    expect(whole).toBe(20);
  });

  test('with a long answer that breaks off does not hold up the next', async () => {
    const half: Answer = (response) => {
      response.writeHead(200, { 'content-length': '1400000' });
      response.write('x'.repeat(700_000));
    };
    const { transport } = await bed([half, ok({ long: 'x'.repeat(1_400_000) })]);
    const broken = transport.send({ ...get, timeoutMs: 300, retries: 0 }, never).catch(String);
    expect(await broken).toContain('did not respond to GET /api/v1/pods within 0.3 s');
    expect((await transport.send(get, never)).body.length).toBe(1_400_011);
  });

  test('names the server and counts its text in bytes', async () => {
    const { server, transport, url } = await bed([ok()]);
    await transport.send({ ...get, method: 'DELETE', body: { a: 'ä' } }, never);
    await transport.send(get, never);
    expect(server.seen[0]?.headers).toMatchObject({ host: new URL(url).host, 'content-length': '10' });
    expect(server.seen[1]?.headers).not.toHaveProperty('content-length');
  });

  test('keeps the path of a server that stands behind one', async () => {
    const { server, url, clock } = await bed([ok()]);
    const transport = createTransport({
      endpoint: { server: `${url}/k8s/c-1/` },
      auth: tokenCredentials('t'),
      clock,
    });
    await transport.send(get, never);
    expect(server.seen[0]?.url).toBe('/k8s/c-1/api/v1/pods');
    transport.close();
  });

  test.each(methods)('%s shares one connection with the next', async (method) => {
    const { server, transport } = await bed([ok()]);
    for (let i = 0; i < 10; i += 1) await transport.send({ ...get, method }, never);
    expect(server.connections.size).toBe(1);
  });

  test.each(methods)(
    '%s of many at once has a connection each, and the next ones share them',
    async (method) => {
      const { server, transport } = await bed([ok()]);
      const eight = () =>
        Promise.all(Array.from({ length: 8 }, () => transport.send({ ...get, method }, never)));
      await eight();
      await eight();
      expect(server.connections.size).toBe(8);
    },
  );

  test.each(methods)('%s of many at once get the answers to their own', async (method) => {
    const held: (() => void)[] = [];
    const { transport } = await bed([
      (response, request) => {
        held.push(() => void response.end(request.url));
        // Eight at a time, the last one first.
        if (held.length === 8) for (const answer of held.splice(0).reverse()) answer();
      },
    ]);
    for (let round = 0; round < 10; round += 1) {
      const paths = Array.from({ length: 8 }, (_, i) => `/${round}/${i}`);
      const answers = await Promise.all(paths.map((path) => transport.send({ ...get, method, path }, never)));
      expect(answers.map(({ body }) => body.toString())).toEqual(paths);
    }
  });

  test.each(methods)('%s reads a body in chunks and one of no length', async (method) => {
    const chunked: Answer = (response) => {
      response.write('half');
      setImmediate(() => response.end(' and half'));
    };
    const untilClose: Answer = (_, { socket }) => {
      socket.end('HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\nto the end');
    };
    const { transport } = await bed([chunked, untilClose]);
    const ask = { ...get, method };
    expect((await transport.send(ask, never)).body.toString()).toBe('half and half');
    expect((await transport.send(ask, never)).body.toString()).toBe('to the end');
  });

  test.each(methods)('%s cannot be made two of', async (method) => {
    const { server, transport } = await bed([ok()], tokenCredentials('t\r\nx: y'));
    await expect(transport.send({ ...get, method }, never)).rejects.toThrow(TypeError);
    const path = '/a HTTP/1.1\r\n\r\nDELETE /b';
    await expect(transport.send({ ...get, method, path }, never)).rejects.toThrow(TypeError);
    expect(server.seen).toEqual([]);
  });
});

describe('a refusal', () => {
  const forbidden = 'pods "a" is forbidden: User "u" cannot delete resource "pods" in API group ""';

  test('keeps the sentence of the server and what it is made of', async () => {
    const body = statusJson(forbidden, 'Forbidden', { causes: [{ reason: 'A' }, { reason: 'B' }] });
    const { transport } = await bed([refuse(403, body)]);
    await expect(transport.send(get, never)).rejects.toMatchObject({
      name: 'ApiError',
      message: forbidden,
      status: 403,
      reason: 'Forbidden',
      causes: ['A', 'B'],
      retryAfterMs: undefined,
    });
  });

  test('may come as protobuf', async () => {
    const { transport } = await bed([refuse(410, protobufStatus('too old', 'Expired'))]);
    const accept = 'application/vnd.kubernetes.protobuf';
    await expect(transport.send({ ...get, accept }, never)).rejects.toMatchObject({
      message: 'too old',
      status: 410,
      reason: 'Expired',
    });
  });

  test('gives how long to wait in its details, too', async () => {
    const { transport } = await bed([refuse(429, statusJson('slow', '', { retryAfterSeconds: 3 }))]);
    await expect(transport.send({ ...get, retries: 0 }, never)).rejects.toMatchObject({ retryAfterMs: 3000 });
  });

  test.each([
    { name: 'no body', answer: refuse(503), message: 'GET /api/v1/pods: 503 Service Unavailable' },
    {
      name: 'a plain sentence',
      answer: refuse(429, 'Too many requests, please try again later.\n'),
      message: 'GET /api/v1/pods: 429 Too many requests, please try again later.',
    },
    {
      name: 'a page of a proxy',
      answer: refuse(502, '<html>\n<h1>no'),
      message: 'GET /api/v1/pods: 502 Bad Gateway',
    },
    {
      name: 'one word that says nothing',
      answer: refuse(401, statusJson('Unauthorized', 'Unauthorized')),
      message: 'GET /api/v1/pods: 401 Unauthorized',
    },
  ])('with $name names the request', async ({ answer, message }) => {
    const { transport } = await bed([answer]);
    await expect(transport.send({ ...get, retries: 0 }, never)).rejects.toThrow(message);
  });

  test.each(methods)('of a %s may be that it is to be asked elsewhere', async (method) => {
    const { server, transport } = await bed([refuse(302, '', { location: '/login' })]);
    await expect(transport.send({ ...get, method }, never)).rejects.toMatchObject({ status: 302 });
    expect(server.seen).toHaveLength(1);
  });

  test('for want of a server says so in one line', async () => {
    const { server, transport, url } = await bed([ok()]);
    await server.stop();
    await expect(transport.send({ ...get, retries: 0 }, never)).rejects.toThrow(
      `cannot reach the API server ${url}: connection refused`,
    );
  });
});

describe('credentials that the server does not accept', () => {
  /** Gives token 1 until refreshed, then token 2, … */
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
  const onlyTwo: Answer = (response, request) => {
    const accepted = request.headers.authorization === 'Bearer 2';
    (accepted ? ok() : refuse(401, statusJson('Unauthorized', 'Unauthorized')))(response, request);
  };

  test.each(methods)('of a %s are read again, once, and the request repeated', async (method) => {
    const auth = new Rotating();
    const { server, transport } = await bed([onlyTwo], auth);
    await transport.send({ ...get, method }, never);
    expect(server.seen.map((r) => r.headers.authorization)).toEqual(['Bearer 1', 'Bearer 2']);
  });

  test('are read again once for all that used them', async () => {
    const auth = new Rotating();
    const { transport } = await bed([onlyTwo], auth);
    await Promise.all(Array.from({ length: 8 }, () => transport.send(get, never)));
    expect(auth.refreshed).toBe(1);
  });

  test('end in the error when fresh ones fare no better', async () => {
    const { server, transport } = await bed([refuse(401)], new Rotating());
    await expect(transport.send(get, never)).rejects.toMatchObject({ status: 401 });
    expect(server.seen).toHaveLength(2);
  });
});

/** The envelope and the few fields of a Status, as the API server writes them. */
function protobufStatus(message: string, reason: string): Buffer {
  const type = new BinaryWriter().uint32(10).string('v1').uint32(18).string('Status').finish();
  const status = new BinaryWriter()
    .uint32(18)
    .string('Failure')
    .uint32(26)
    .string(message)
    .uint32(34)
    .string(reason)
    .finish();
  const envelope = new BinaryWriter().uint32(10).bytes(type).uint32(18).bytes(status).finish();
  return Buffer.concat([Buffer.from('k8s\0'), envelope]);
}
