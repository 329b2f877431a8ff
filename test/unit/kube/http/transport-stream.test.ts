import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { startTransport, get, never } from './start-transport.ts';
import { refuse, statusJson, type Respond } from './fault-server.ts';

describe('a stream', () => {
  async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
    let text = '';
    for await (const chunk of stream) text += chunk.toString();
    return text;
  }

  test('requests no compression, and ends when the server ends it', async () => {
    const { transport, server } = await startTransport((response) => {
      response.write('one ');
      setImmediate(() => response.end('two'));
    });
    expect(await collect(transport.stream(get, never))).toBe('one two');
    expect(server.seen.map(({ headers }) => headers['accept-encoding'])).toEqual(['identity']);
  });

  test('throws the rejection of the server', async () => {
    const { transport } = await startTransport(refuse(410, statusJson('too old', 'Expired')));
    await expect(collect(transport.stream(get, never))).rejects.toMatchObject({
      status: 410,
      reason: 'Expired',
    });
  });

  test('begins with an empty chunk when the server has accepted, before it sends anything', async () => {
    const accepting: Respond = (response) => {
      response.flushHeaders();
    };
    const { transport } = await startTransport(accepting);
    for await (const chunk of transport.stream(get, never)) {
      expect(chunk).toHaveLength(0);
      break;
    }
  });

  test('throws if the connection breaks', async () => {
    const { transport, url } = await startTransport((response) => {
      response.write('one', () => response.socket?.destroy());
    });
    await expect(collect(transport.stream(get, never))).rejects.toThrow(`cannot reach the API server ${url}`);
  });

  test('of any length is forwarded while it arrives, and never held whole', async () => {
    const part = randomBytes(1_000_000);
    // Together longer than the limit of a body that is held whole.
    const parts = 70;
    const { transport } = await startTransport((response) => {
      Readable.from(Array.from({ length: parts }, () => part)).pipe(response);
    });
    const [sum, sums] = [createHash('sha256'), createHash('sha256')];
    let longest = 0;
    for await (const chunk of transport.stream(get, never)) {
      sum.update(chunk);
      longest = Math.max(longest, chunk.length);
    }
    for (let i = 0; i < parts; i += 1) sums.update(part);
    expect(sum.digest('hex')).toBe(sums.digest('hex'));
    expect(longest).toBeLessThanOrEqual(1_000_000);
  });

  test('throws the reason of an abort', async () => {
    const { transport } = await startTransport((response) => response.write('one'));
    const controller = new AbortController();
    const reason = new Error('enough');
    const reading = (async () => {
      for await (const chunk of transport.stream(get, controller.signal)) {
        if (chunk.length === 0) continue;
        expect(chunk.toString()).toBe('one');
        controller.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
  });

  test('closes its connection when the reader stops', async () => {
    let closed: Promise<unknown> | undefined;
    const { transport } = await startTransport((response) => {
      closed = once(response, 'close');
      response.write('one');
    });
    for await (const chunk of transport.stream(get, never)) {
      if (chunk.length === 0) continue;
      expect(chunk.toString()).toBe('one');
      break;
    }
    await closed;
  });

  test('applies backpressure to the server while nobody reads', async () => {
    const chunk = Buffer.alloc(256 * 1024);
    let writtenBytes = 0;
    const { transport } = await startTransport((response) => {
      const pour = (): void => {
        let more = true;
        while (more && writtenBytes < 256 * 1024 * 1024) {
          more = response.write(chunk);
          writtenBytes += chunk.length;
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
    await stream.return?.();
  });
});
