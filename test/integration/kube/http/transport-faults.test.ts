import { getEventListeners, once } from 'node:events';
import { describe, expect, test } from 'vitest';
import {
  get,
  hang,
  methods,
  never,
  ok,
  refuse,
  reset,
  startTransport,
  statusJson,
  type Respond,
} from './start-transport.ts';

const half: Respond = (response) =>
  response.writeHead(200, { 'content-length': '100' }).write('half', () => response.socket?.destroy());

const hungCredentials = { headers: () => new Promise<never>(() => undefined), refresh: () => undefined };
const reason = new Error('stop it');

describe('retries', () => {
  test('of a GET wait for Retry-After of a 429', async () => {
    const busy = refuse(429, '', { 'retry-after': '7' });
    const { seen, transport, clock } = await startTransport([busy, ok()]);
    await transport.send(get, never);
    expect(seen).toHaveLength(2);
    expect(clock.monotonicMs()).toBe(7000);
  });

  test('of a GET stop after four, with growing pauses', async () => {
    const { seen, transport, clock } = await startTransport(refuse(500));
    await expect(transport.send(get, never)).rejects.toMatchObject({ status: 500 });
    expect(seen).toHaveLength(5);
    expect(clock.monotonicMs()).toBe((125 + 250 + 500 + 1_000) * 1.5);
  });

  test.each([
    { name: 'a 429', response: refuse(429), error: { status: 429 } },
    { name: 'a broken connection', response: reset, error: { code: 'ECONNRESET' } },
  ])('repeat a DELETE after $name only if requested', async ({ response, error }) => {
    const { seen, transport } = await startTransport(response);
    const request = { ...get, method: 'DELETE' } as const;
    await expect(transport.send(request, never)).rejects.toMatchObject(error);
    expect(seen).toHaveLength(1);
    await expect(transport.send({ ...request, retries: 2 }, never)).rejects.toMatchObject(error);
    expect(seen).toHaveLength(4);
  });

  test.each([
    { name: 'close', isAborted: false, error: { status: 500 } },
    { name: 'an abort', isAborted: true, error: reason },
  ])('send nothing after $name, even during a wait', async ({ isAborted, error }) => {
    const { seen, transport, clock } = await startTransport(refuse(500));
    const stop = new AbortController();
    clock.sleep = () => {
      if (isAborted) stop.abort(reason);
      else transport.close();
      return Promise.resolve();
    };
    await expect(transport.send(get, stop.signal)).rejects.toMatchObject(error);
    expect(seen).toHaveLength(1);
  });

  test('do not wait for a Retry-After of an hour', async () => {
    const { transport, clock } = await startTransport(refuse(429, '', { 'retry-after': '3600' }));
    await expect(transport.send(get, never)).rejects.toMatchObject({ status: 429, retryAfterMs: 60_000 });
    expect(clock.monotonicMs()).toBe(0);
  });
});

describe('an idle connection that the server has closed', () => {
  test.each(methods)('is replaced for a %s, which the server most likely never received', async (method) => {
    const { seen, transport, clock } = await startTransport([ok(), reset, ok()]);
    const request = { ...get, method, retries: 0 };
    await transport.send(request, never);
    await transport.send(request, never);
    expect(seen).toHaveLength(3);
    expect(clock.monotonicMs()).toBe(0);
  });

  test.each(methods)('is not replaced for a %s after half a response', async (method) => {
    const { seen, transport, url } = await startTransport([ok(), half, ok()]);
    const request = { ...get, method, retries: 0 };
    await transport.send(request, never);
    const problem = { name: 'ConnectionError', message: expect.stringContaining(url) as string };
    await expect(transport.send(request, never)).rejects.toMatchObject(problem);
    expect(seen).toHaveLength(2);
  });

  test.each(['POST', 'PATCH'] as const)('fails a %s, which the server may have executed', async (method) => {
    const { seen, transport } = await startTransport([ok(), reset, ok()]);
    await transport.send(get, never);
    await expect(transport.send({ ...get, method }, never)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(seen).toHaveLength(2);
  });

  test('may deliver an unrequested response, which is discarded', async () => {
    const { transport, seen } = await startTransport((response, request) =>
      ok({ path: request.url })(response, request),
    );
    await transport.send(get, never);
    const late = 'HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n';
    await new Promise((sent) => seen[0]?.socket.write(late, sent));
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    const { status, body } = await transport.send({ ...get, method: 'DELETE', path: '/next' }, never);
    expect({ status, body: body.toString() }).toEqual({ status: 200, body: '{"path":"/next"}' });
  });

  test('is replaced by a new one, not by another idle one, which the server may have closed too', async () => {
    const waiting: (() => void)[] = [];
    const together: Respond = (response, request) => {
      waiting.push(() => ok()(response, request));
      if (waiting.length === 2) for (const respond of waiting) respond();
    };
    const { seen, connections, transport } = await startTransport([together, together, reset, ok()]);
    await Promise.all([transport.send(get, never), transport.send(get, never)]);
    await transport.send({ ...get, retries: 0 }, never);
    expect(seen).toHaveLength(4);
    expect(connections.size).toBe(3);
  });

  test('is remembered by the rejection of the second attempt: the first may have succeeded', async () => {
    const { transport } = await startTransport([ok(), reset, refuse(404), refuse(404)]);
    await transport.send(get, never);
    const request = { ...get, method: 'DELETE' } as const;
    await expect(transport.send(request, never)).rejects.toMatchObject({ status: 404, resent: true });
    await expect(transport.send(request, never)).rejects.toMatchObject({ status: 404, resent: false });
  });
});

describe('deadline and abort', () => {
  const request = { ...get, retries: 0 };
  const cut: Respond = (response) => response.writeHead(200, { 'content-length': '100' }).write('half');
  const endless: Respond = (_, { socket }) => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf');

  test.each([
    { name: 'no response', response: hang },
    { name: 'an incomplete response', response: cut },
    { name: 'an incomplete response without a length', response: endless },
  ])('end a request with $name', async ({ response }) => {
    const { transport, url } = await startTransport(response);
    await expect(transport.send({ ...request, method: 'DELETE', timeoutMs: 50 }, never)).rejects.toThrow(
      `the API server ${url} did not respond to DELETE /api/v1/pods within 0.05 s`,
    );
    const stop = new AbortController();
    const sending = transport.send(request, AbortSignal.any([stop.signal]));
    setImmediate(() => stop.abort(reason));
    await expect(sending).rejects.toBe(reason);
  });

  test('end the wait for credentials, of a list too', async () => {
    const { seen, transport } = await startTransport([], { auth: hungCredentials });
    const short = { ...request, timeoutMs: 20 };
    const problem = 'the credentials could not be read within 0.02 s';
    await expect(transport.send(short, never)).rejects.toThrow(problem);
    await expect(transport.stream(short, never)[Symbol.asyncIterator]().next()).rejects.toThrow(problem);
    const stop = new AbortController();
    const sending = transport.send(request, stop.signal);
    stop.abort(reason);
    await expect(sending).rejects.toBe(reason);
    await expect(transport.send(request, stop.signal)).rejects.toBe(reason);
    expect(seen).toEqual([]);
  });

  test('neither a request nor a stream leaves a listener on its signal, however it ends, or causes a leak warning', async () => {
    const many = Array.from({ length: 40 }, () => ok());
    const { transport } = await startTransport([...many, ok(), refuse(404), reset]);
    const warnings: Error[] = [];
    const note = (warning: Error): number => warnings.push(warning);
    process.on('warning', note);
    const { signal } = new AbortController();
    await Promise.all(many.map(() => transport.send(request, signal)));
    for await (const chunk of transport.stream(request, signal)) expect(chunk).toBeInstanceOf(Buffer);
    for (const error of [{ status: 404 }, { code: 'ECONNRESET' }])
      await expect(transport.send({ ...get, method: 'POST' }, signal)).rejects.toMatchObject(error);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    await new Promise(setImmediate);
    process.off('warning', note);
    expect(warnings).toEqual([]);
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
      `the response to GET /api/v1/pods is longer than 67108864 bytes`,
    );
  });
});

async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += chunk.toString();
  return text;
}

test('a stream requests no compression, and ends when the server ends it', async () => {
  const { transport, seen } = await startTransport((response) => {
    response.write('one ');
    setImmediate(() => response.end('two'));
  });
  expect(await collect(transport.stream(get, never))).toBe('one two');
  expect(seen.map(({ headers }) => headers['accept-encoding'])).toEqual(['identity']);
});

test('a stream throws the rejection of the server', async () => {
  const { transport } = await startTransport(refuse(410, statusJson('too old', 'Expired')));
  const rejection = { status: 410, reason: 'Expired' };
  await expect(collect(transport.stream(get, never))).rejects.toMatchObject(rejection);
});

test('a stream throws if the connection breaks', async () => {
  const { transport, url } = await startTransport((response) =>
    response.write('one', () => response.socket?.destroy()),
  );
  await expect(collect(transport.stream(get, never))).rejects.toThrow(`cannot reach the API server ${url}`);
});

test('a stream begins with an empty chunk, throws the reason of an abort, and closes its connection', async () => {
  let closed: Promise<unknown> | undefined;
  const { transport } = await startTransport((response) => {
    closed = once(response, 'close');
    response.flushHeaders();
  });
  const stop = new AbortController();
  const reason = new Error('enough');
  const reading = (async () => {
    for await (const chunk of transport.stream(get, stop.signal)) {
      expect(chunk).toHaveLength(0);
      stop.abort(reason);
    }
  })();
  await expect(reading).rejects.toBe(reason);
  await closed;
});

test('a stream of any length is forwarded while it arrives, with backpressure, and ends with its reader', async () => {
  const part = Buffer.alloc(256 * 1024);
  // More than the limit of a body that is held whole.
  const wholeBytes = 128 * 1024 * 1024;
  let writtenBytes = 0;
  let closed: Promise<unknown> | undefined;
  const { transport } = await startTransport((response) => {
    closed = once(response, 'close');
    const pour = (): void => {
      let more = true;
      while (more) {
        more = response.write(part);
        writtenBytes += part.length;
      }
    };
    response.on('drain', pour);
    pour();
  });
  const stream = transport.stream(get, never)[Symbol.asyncIterator]();
  await stream.next();
  for (let before = -1; before !== writtenBytes;) {
    before = writtenBytes;
    for (let turn = 0; turn < 100; turn += 1) await new Promise(setImmediate);
  }
  expect(writtenBytes).toBeLessThan(64 * 1024 * 1024);
  let readBytes = 0;
  while (readBytes < wholeBytes) readBytes += ((await stream.next()).value as Buffer).length;
  await stream.return?.();
  await closed;
});
