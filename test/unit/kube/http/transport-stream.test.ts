import { once } from 'node:events';
import { expect, test } from 'vitest';
import { get, never, refuse, startTransport, statusJson } from './start-transport.ts';

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
  const { transport, url } = await startTransport((response) => {
    response.write('one', () => response.socket?.destroy());
  });
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
