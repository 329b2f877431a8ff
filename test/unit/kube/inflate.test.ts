import { createHash } from 'node:crypto';
import { createGunzip, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { Inflater } from '../../../src/kube/inflate.ts';
import { property } from '../../property.ts';

/** Each is copied, as the next one may have its memory. */
const inflated = (body: Buffer): Buffer => Buffer.concat([...copies(inflatedPieces(body))]);

/** In parts of so many bytes. */
function* inflatedPieces(body: Buffer, partBytes = Infinity): Generator<Buffer> {
  const inflater = new Inflater();
  try {
    for (let at = 0; at === 0 || at < body.length; at += partBytes)
      yield* inflater.pieces(body.subarray(at, at + partBytes), at + partBytes >= body.length);
  } finally {
    inflater.close();
  }
}

function* copies(pieces: Iterable<Buffer>): Generator<Buffer> {
  for (const piece of pieces) yield Buffer.from(piece);
}

/** Of which gzip makes half. */
const hard = (seed: string, lines: number): Buffer =>
  Buffer.from(
    Array.from({ length: lines }, (_, i) => createHash('sha256').update(`${seed}${i}`).digest('hex')).join(
      '',
    ),
  );

/** From what gzip makes nothing of to what it makes a thousandth of. */
const content = fc.oneof(
  fc.uint8Array({ maxLength: 20_000 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(fc.string(), fc.integer({ min: 0, max: 3_000 })).map(([seed, lines]) => hard(seed, lines)),
  fc.integer({ min: 0, max: 3_000_000 }).map((length) => Buffer.alloc(length, 'pod')),
);

test('is what was compressed, in one member or several', property, () => {
  fc.assert(
    fc.property(fc.array(content, { minLength: 1, maxLength: 3 }), (contents) => {
      const body = Buffer.concat(contents.map((one) => gzipSync(one)));
      expect(inflated(body).equals(Buffer.concat(contents))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test('is the same in parts, of which the last may be empty', () => {
  const body = gzipSync(hard('a', 2_000));
  for (const partBytes of [1_000, 4_096, 5_000, body.length])
    expect(Buffer.concat([...copies(inflatedPieces(body, partBytes))]).equals(hard('a', 2_000))).toBe(true);
  const inflater = new Inflater();
  const pieces = [...copies(inflater.pieces(body, false)), ...copies(inflater.pieces(Buffer.alloc(0), true))];
  expect(Buffer.concat(pieces).equals(hard('a', 2_000))).toBe(true);
  inflater.close();
});

test('takes little more memory than a piece, however long the body', () => {
  const body = gzipSync(hard('a', 50_000));
  const pieces = [...inflatedPieces(body)];
  expect(pieces.length).toBeGreaterThan(100);
  expect(new Set(pieces.map(({ buffer }) => buffer)).size).toBe(1);
});

test('two bodies at a time do not mix, and one may be left in the middle', () => {
  const [a, b] = [hard('a', 3_000), hard('b', 3_000)];
  const [first, second] = [gzipSync(a), gzipSync(b)].map((body) => copies(inflatedPieces(body)));
  const begun = first?.next().value as Buffer;
  expect(a.subarray(0, begun.length).equals(begun)).toBe(true);
  expect(Buffer.concat([...(second ?? [])]).equals(b)).toBe(true);
  first?.return(undefined);
});

describe.each(['as Node is', 'without what is not documented'])('%s', (node) => {
  const inflaters = Object.getPrototypeOf(Object.getPrototypeOf(Object.getPrototypeOf(createGunzip()))) as {
    _processChunk?: unknown;
  };
  const { _processChunk } = inflaters;
  const without = (): void => {
    if (node !== 'as Node is') delete inflaters._processChunk;
  };
  afterEach(() => {
    inflaters._processChunk = _processChunk;
  });

  test('inflates', () => {
    without();
    const pieces = [...copies(inflatedPieces(gzipSync(hard('a', 1_000))))];
    expect(Buffer.concat(pieces).equals(hard('a', 1_000))).toBe(true);
    expect(pieces.length === 1).toBe(node !== 'as Node is');
  });

  const zipped = gzipSync(hard('a', 1_000));
  const flipped = Buffer.from(zipped);
  flipped[flipped.length - 6] = ~(flipped.at(-6) ?? 0);

  test.each([
    { name: 'nothing at all', body: Buffer.alloc(0), error: /unexpected end of file/ },
    { name: 'what lacks its last byte', body: zipped.subarray(0, -1), error: /unexpected end of file/ },
    { name: 'what lacks its second half', body: zipped.subarray(0, 20_000), error: /unexpected end of file/ },
    { name: 'what has another checksum', body: flipped, error: /incorrect data check/ },
    { name: 'no gzip', body: Buffer.from('{"kind":"PodList"}'), error: /incorrect header check/ },
  ])('throws of $name', async ({ body, error }) => {
    without();
    expect(() => inflated(body)).toThrow(error);
    // What is thrown must not come up again by itself.
    await new Promise(setImmediate);
  });
});
