import { getEventListeners, once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { startTransport, get, methods, never } from './start-transport.ts';
import { hang, ok, refuse, reset, type Respond } from './fault-server.ts';

const half: Respond = (response) => {
  response.writeHead(200, { 'content-length': '100' }).write('half', () => response.socket?.destroy());
};

const hungCredentials = { headers: () => new Promise<never>(() => undefined), refresh: () => undefined };

describe('retries', () => {
  test('of a GET wait for Retry-After of a 429', async () => {
    const busy = refuse(429, '', { 'retry-after': '7' });
    const { server, transport, clock } = await startTransport([busy, ok()]);
    await transport.send(get, never);
    expect(server.seen).toHaveLength(2);
    expect(clock.monotonicMs()).toBe(7000);
  });

  test('of a GET stop after four', async () => {
    const { server, transport } = await startTransport(refuse(500));
    await expect(transport.send(get, never)).rejects.toMatchObject({ status: 500 });
    expect(server.seen).toHaveLength(5);
  });

  test.each([
    { name: 'a 429', response: refuse(429), error: { status: 429 } },
    { name: 'a 500', response: refuse(500), error: { status: 500 } },
    { name: 'a broken connection', response: reset, error: { code: 'ECONNRESET' } },
  ])('repeat a DELETE after $name only if requested', async ({ response, error }) => {
    const { server, transport } = await startTransport(response);
    const request = { ...get, method: 'DELETE' } as const;
    await expect(transport.send(request, never)).rejects.toMatchObject(error);
    expect(server.seen).toHaveLength(1);
    await expect(transport.send({ ...request, retries: 2 }, never)).rejects.toMatchObject(error);
    expect(server.seen).toHaveLength(4);
  });

  test('send nothing after close, even during a wait', async () => {
    const { server, transport, clock } = await startTransport(refuse(500));
    clock.sleep = () => {
      transport.close();
      return Promise.resolve();
    };
    await expect(transport.send(get, never)).rejects.toMatchObject({ status: 500 });
    expect(server.seen).toHaveLength(1);
  });

  test('do not wait for a Retry-After of an hour', async () => {
    const { transport, clock } = await startTransport(refuse(429, '', { 'retry-after': '3600' }));
    await expect(transport.send(get, never)).rejects.toMatchObject({ status: 429, retryAfterMs: 60_000 });
    expect(clock.monotonicMs()).toBe(0);
  });
});

test.each([
  { name: 'a response', send: true },
  { name: 'a list', send: false },
])('the deadline of $name covers credentials that are never read', async ({ send }) => {
  const { server, transport } = await startTransport([], { auth: hungCredentials });
  const request = { ...get, timeoutMs: 20, retries: 0 };
  const sent = send
    ? transport.send(request, never)
    : transport.stream(request, never)[Symbol.asyncIterator]().next();
  await expect(sent).rejects.toThrow('the credentials could not be read within 0.02 s');
  expect(server.seen).toEqual([]);
});

/** A transport whose server responds with the path, and remembers its end of each connection. */
async function remembering() {
  const sockets: Socket[] = [];
  const respond: Respond = (response, request) => {
    sockets.push(request.socket);
    ok({ path: request.url })(response, request);
  };
  return { sockets, ...(await startTransport(respond)) };
}

describe('an idle connection that the server has closed', () => {
  test.each(methods)('is replaced for a %s, which the server most likely never received', async (method) => {
    const { server, transport, clock } = await startTransport([ok(), reset, ok()]);
    const request = { ...get, method, retries: 0 };
    await transport.send(request, never);
    await transport.send(request, never);
    expect(server.seen).toHaveLength(3);
    expect(clock.monotonicMs()).toBe(0);
  });

  test.each(methods)('is not replaced for a %s after half a response', async (method) => {
    const { server, transport, url } = await startTransport([ok(), half, ok()]);
    const request = { ...get, method, retries: 0 };
    await transport.send(request, never);
    const problem = { name: 'ConnectionError', message: expect.stringContaining(url) as string };
    await expect(transport.send(request, never)).rejects.toMatchObject(problem);
    expect(server.seen).toHaveLength(2);
  });

  test.each([...methods, 'POST'] as const)('is not used for a %s', async (method) => {
    const { server, transport, sockets } = await remembering();
    await transport.send(get, never);
    for (const socket of sockets) {
      socket.end();
      await once(socket, 'close');
    }
    await transport.send({ ...get, method, retries: 0 }, never);
    expect(server.connections.size).toBe(2);
  });

  test('may deliver an unrequested response, which is discarded', async () => {
    const { transport, sockets } = await remembering();
    await transport.send(get, never);
    expect(sockets).toHaveLength(1);
    for (const socket of sockets)
      await new Promise((sent) =>
        socket.write('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n', sent),
      );
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    const { status, body } = await transport.send({ ...get, method: 'DELETE', path: '/next' }, never);
    expect({ status, body: body.toString() }).toEqual({ status: 200, body: '{"path":"/next"}' });
  });

  test.each(methods)('is not replaced for a %s after close', async (method) => {
    const { server, transport } = await startTransport([ok(), hang]);
    await transport.send({ ...get, method }, never);
    const under = transport.send({ ...get, method, retries: 4 }, never);
    setTimeout(() => {
      transport.close();
    }, 50);
    await expect(under).rejects.toMatchObject({ name: 'ConnectionError' });
    expect(server.seen).toHaveLength(2);
  });

  test.each(['POST', 'PATCH'] as const)('fails a %s, which the server may have executed', async (method) => {
    const { server, transport } = await startTransport([ok(), reset, ok()]);
    await transport.send(get, never);
    await expect(transport.send({ ...get, method }, never)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(server.seen).toHaveLength(2);
  });

  test('is replaced by a new one, not by another idle one, which the server may have closed too', async () => {
    const waiting: (() => void)[] = [];
    const together: Respond = (response, request) => {
      waiting.push(() => {
        ok()(response, request);
      });
      if (waiting.length === 2) for (const respond of waiting) respond();
    };
    const { server, transport } = await startTransport([together, together, reset, ok()]);
    await Promise.all([transport.send(get, never), transport.send(get, never)]);
    await transport.send({ ...get, retries: 0 }, never);
    expect(server.seen).toHaveLength(4);
    expect(server.connections.size).toBe(3);
  });

  test('is remembered by the rejection of the second attempt: the first may have succeeded', async () => {
    const { transport } = await startTransport([ok(), reset, refuse(404), refuse(404)]);
    await transport.send(get, never);
    const request = { ...get, method: 'DELETE' } as const;
    await expect(transport.send(request, never)).rejects.toMatchObject({ status: 404, resent: true });
    await expect(transport.send(request, never)).rejects.toMatchObject({ status: 404, resent: false });
  });
});

describe.each(methods)('deadline and abort of a %s', (method) => {
  const request = { ...get, method, retries: 0 };
  const cut: Respond = (response) => response.writeHead(200, { 'content-length': '100' }).write('half');
  const endless: Respond = (_, { socket }) => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf');
  const abortReason = new Error('stop it');

  const slow = [
    { name: 'no response', response: hang },
    { name: 'an incomplete response', response: cut },
    { name: 'an incomplete response without a length', response: endless },
  ];

  test.each(slow)('$name: the deadline ends it', async ({ response }) => {
    const { transport, url } = await startTransport(response);
    await expect(transport.send({ ...request, timeoutMs: 50 }, never)).rejects.toThrow(
      `the API server ${url} did not respond to ${method} /api/v1/pods within 0.05 s`,
    );
  });

  test.each(slow)('$name: an abort ends it with its reason', async ({ response }) => {
    const { transport } = await startTransport(response);
    const controller = new AbortController();
    const sending = transport.send(request, AbortSignal.any([controller.signal]));
    setImmediate(() => {
      controller.abort(abortReason);
    });
    await expect(sending).rejects.toBe(abortReason);
  });

  test('nothing is sent for an aborted signal', async () => {
    const { server, transport } = await startTransport(ok());
    await expect(transport.send(request, AbortSignal.abort(abortReason))).rejects.toBe(abortReason);
    expect(server.seen).toHaveLength(0);
  });

  test('an abort ends the wait for credentials', async () => {
    const { transport } = await startTransport(ok(), { auth: hungCredentials });
    const controller = new AbortController();
    const sending = transport.send(request, controller.signal);
    controller.abort(abortReason);
    await expect(sending).rejects.toBe(abortReason);
  });

  test('many requests on one signal cause no leak warning', async () => {
    const { transport } = await startTransport(ok());
    const warnings: Error[] = [];
    const note = (warning: Error): number => warnings.push(warning);
    process.on('warning', note);
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 40 }, () => transport.send(request, signal)));
    await new Promise(setImmediate);
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  test('neither a request nor a stream leaves a listener on its signal, however it ends', async () => {
    const { transport } = await startTransport([ok(), ok(), refuse(404), reset]);
    const { signal } = new AbortController();
    await transport.send(request, signal);
    for await (const chunk of transport.stream(request, signal)) expect(chunk).toBeInstanceOf(Buffer);
    const once = { ...get, method: method === 'GET' ? 'POST' : method } as const;
    for (const error of [{ status: 404 }, { code: 'ECONNRESET' }])
      await expect(transport.send(once, signal)).rejects.toMatchObject(error);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('an absurdly long response is rejected', async () => {
    const megabyte = Buffer.alloc(1024 * 1024);
    const flood: Respond = (response) => {
      const pour = (): void => {
        while (!response.destroyed && response.write(megabyte));
      };
      response.on('drain', pour);
      pour();
    };
    const { transport } = await startTransport(flood);
    await expect(transport.send(request, never)).rejects.toThrow(
      `the response to ${method} /api/v1/pods is longer than 67108864 bytes`,
    );
  });
});
