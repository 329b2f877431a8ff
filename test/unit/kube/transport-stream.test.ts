import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { createGzip, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { bed, get, never } from './transport-bed.ts';
import { refuse, statusJson } from './transport-fault-server.ts';

/** A third of a megabyte of which gzip makes half. */
const hardToCompress = (seed: string): string =>
  Array.from({ length: 5_000 }, (_, i) => createHash('sha256').update(`${seed}${i}`).digest('hex')).join('');

describe('a stream', () => {
  async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
    let text = '';
    for await (const chunk of stream) text += chunk.toString();
    return text;
  }

  test('ends when the server ends it', async () => {
    const { transport } = await bed([
      (response) => {
        response.write('one ');
        setImmediate(() => response.end('two'));
      },
    ]);
    expect(await collect(transport.stream(get, never))).toBe('one two');
  });

  test('throws what the server refuses with', async () => {
    const { transport } = await bed([refuse(410, statusJson('too old', 'Expired'))]);
    await expect(collect(transport.stream(get, never))).rejects.toMatchObject({
      status: 410,
      reason: 'Expired',
    });
  });

  test('says with an empty chunk that the server has accepted, before it sends anything', async () => {
    const { transport } = await bed([
      (response) => {
        response.flushHeaders();
      },
    ]);
    for await (const chunk of transport.stream(get, never)) {
      expect(chunk).toHaveLength(0);
      break;
    }
  });

  test('throws when it breaks in the middle', async () => {
    const { transport, url } = await bed([
      (response) => {
        response.write('one', () => response.socket?.destroy());
      },
    ]);
    await expect(collect(transport.stream(get, never))).rejects.toThrow(`cannot reach the API server ${url}`);
  });

  describe('that may be compressed', () => {
    const compressed = { ...get, compressed: true };
    const text = 'many pods, much alike; '.repeat(10_000);
    const zipped = gzipSync(text);
    const gzip = { 'content-encoding': 'gzip' };

    test('is handed on as what it stands for', async () => {
      const { transport, server } = await bed([
        (response) => {
          response.writeHead(200, gzip);
          response.write(zipped.subarray(0, 100));
          setImmediate(() => response.end(zipped.subarray(100)));
        },
      ]);
      expect(await collect(transport.stream(compressed, never))).toBe(text);
      expect(server.seen.map(({ headers }) => headers['accept-encoding'])).toEqual(['gzip']);
    });

    test('is not mixed up with the one before it, nor with one at the same time', async () => {
      const texts = ['a', 'b', 'c', 'd'].map((seed) => hardToCompress(seed));
      const short = 'less than the one before';
      const { transport } = await bed(
        [texts[0], short, ...texts.slice(1), short].map((each = '') => (response) => {
          response.writeHead(200, gzip);
          response.end(gzipSync(each));
        }),
      );
      const next = () => collect(transport.stream(compressed, never));
      expect(await next()).toBe(texts[0]);
      expect(await next()).toBe(short);
      // Read to its middle, so that much of it is still to be decompressed.
      const slow = transport.stream(compressed, never)[Symbol.asyncIterator]();
      let begun = '';
      while (begun === '') begun += String((await slow.next()).value);
      expect(await next()).toBe(texts[2]);
      expect(begun + (await collect({ [Symbol.asyncIterator]: () => slow }))).toBe(texts[1]);
      expect(await next()).toBe(texts[3]);
      expect(await next()).toBe(short);
    });

    test('of any length is handed on as it comes, and never held whole', async () => {
      const part = randomBytes(1_000_000);
      // Together more than the limit of a body that is held whole; gzip cannot compress it.
      const parts = 70;
      const { transport } = await bed([
        (response) => {
          response.writeHead(200, gzip);
          Readable.from(Array.from({ length: parts }, () => part))
            .pipe(createGzip({ level: 1 }))
            .pipe(response);
        },
      ]);
      const [sum, sums] = [createHash('sha256'), createHash('sha256')];
      for await (const chunk of transport.stream(compressed, never)) sum.update(chunk);
      for (let i = 0; i < parts; i += 1) sums.update(part);
      expect(sum.digest('hex')).toBe(sums.digest('hex'));
    });

    test('throws when the connection breaks after a good part', async () => {
      const { transport, url } = await bed([
        (response) => {
          response.writeHead(200, gzip);
          const body = gzipSync(randomBytes(3_000_000));
          response.write(body.subarray(0, 2_000_000), () => response.socket?.destroy());
        },
      ]);
      const stream = transport.stream(compressed, never);
      await expect(collect(stream)).rejects.toThrow(`cannot reach the API server ${url}`);
    });

    test('lets others have their turn while a long one is read', async () => {
      const { transport } = await bed([
        (response) => {
          response.writeHead(200, gzip);
          response.end(gzipSync('abcdefghijkl'.split('').map(hardToCompress).join('')));
        },
      ]);
      let turns = 0;
      let pieces = 0;
      for await (const chunk of transport.stream(compressed, never)) {
        if (chunk.length === 0) continue;
        if (pieces === 0) {
          const turn = (): void => {
            turns += 1;
            if (turns < 100) setImmediate(turn);
          };
          setImmediate(turn);
        }
        pieces += 1;
      }
      expect(pieces).toBeGreaterThan(10);
      expect(turns).toBeGreaterThanOrEqual(3);
    });

    test('may as well come uncompressed', async () => {
      const { transport } = await bed([(response) => response.end(text)]);
      expect(await collect(transport.stream(compressed, never))).toBe(text);
    });

    test.each([
      { name: 'its end is missing', body: zipped.subarray(0, -10) },
      { name: 'it is no gzip', body: Buffer.from('nothing of the kind') },
    ])('throws when $name', async ({ body }) => {
      const { transport, url } = await bed([
        (response) => {
          response.writeHead(200, gzip);
          response.end(body);
        },
      ]);
      const stream = transport.stream(compressed, never);
      await expect(collect(stream)).rejects.toThrow(`cannot reach the API server ${url}`);
    });

    test('throws what the server refuses with, compressed or not', async () => {
      const no = gzipSync(statusJson('too old', 'Expired'));
      const { transport } = await bed([refuse(410, no, gzip)]);
      await expect(collect(transport.stream(compressed, never))).rejects.toMatchObject({
        status: 410,
        reason: 'Expired',
      });
    });

    test('throws when the connection breaks in the middle', async () => {
      const { transport, url } = await bed([
        (response) => {
          response.writeHead(200, gzip);
          response.write(zipped.subarray(0, 100), () => response.socket?.destroy());
        },
      ]);
      const stream = transport.stream(compressed, never);
      await expect(collect(stream)).rejects.toThrow(`cannot reach the API server ${url}`);
    });
  });

  test('that comes compressed although nobody asked may be kept, whatever follows', async () => {
    const text = hardToCompress('a');
    const { transport } = await bed([
      (response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        response.end(gzipSync(text));
      },
    ]);
    const kept: Buffer[] = [];
    for await (const chunk of transport.stream(get, never)) kept.push(chunk);
    expect(Buffer.concat(kept).toString()).toBe(text);
    expect(kept.length).toBeGreaterThan(2);
  });

  test('asks for no compression otherwise: a watch must not wait for its end', async () => {
    const { transport, server } = await bed([(response) => response.end('one')]);
    await collect(transport.stream(get, never));
    expect(server.seen.map(({ headers }) => headers['accept-encoding'])).toEqual(['identity']);
  });

  test('throws the reason of an abort', async () => {
    const { transport } = await bed([(response) => response.write('one')]);
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

  test('gives its connection up when nobody reads on', async () => {
    let closed: Promise<unknown> | undefined;
    const { transport } = await bed([
      (response) => {
        closed = once(response, 'close');
        response.write('one');
      },
    ]);
    for await (const chunk of transport.stream(get, never)) {
      if (chunk.length === 0) continue;
      expect(chunk.toString()).toBe('one');
      break;
    }
    await closed;
  });

  test('holds the server back while nobody reads', async () => {
    const chunk = Buffer.alloc(256 * 1024);
    let writtenBytes = 0;
    const { transport } = await bed([
      (response) => {
        const pour = (): void => {
          let more = true;
          while (more && writtenBytes < 256 * 1024 * 1024) {
            more = response.write(chunk);
            writtenBytes += chunk.length;
          }
        };
        response.on('drain', pour);
        pour();
      },
    ]);
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
