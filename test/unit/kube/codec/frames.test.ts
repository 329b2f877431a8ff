import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameSplitter, MalformedError } from '../../../../src/kube/codec/frames.ts';

function prefixed(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  return Buffer.concat([length, Buffer.from(text)]);
}

function split(stream: Buffer, chunkBytes: number): readonly string[] {
  const splitter = new FrameSplitter();
  const frames: string[] = [];
  for (let at = 0; at < stream.length; at += chunkBytes) {
    frames.push(...splitter.push(stream.subarray(at, at + chunkBytes)).map(String));
  }
  return frames;
}

describe('FrameSplitter', () => {
  test.each<readonly [string, readonly Buffer[], readonly string[]]>([
    ['JSON frames by line', [Buffer.from('{"a":1}\n{"b":2}\n')], ['{"a":1}', '{"b":2}']],
    ['no frames for JSON keep-alive lines', [Buffer.from('{}\n\n\n{}\n')], ['{}', '{}']],
    ['no frame for an incomplete protobuf frame at the end', [prefixed('ab').subarray(0, 5)], []],
    ['no frame for an incomplete JSON frame at the end', [Buffer.from('{"a":1}\n{"b')], ['{"a":1}']],
    [
      'frames longer than the first buffer',
      [prefixed('x'.repeat(40_000)), prefixed('y'.repeat(40_000))],
      ['x'.repeat(40_000), 'y'.repeat(40_000)],
    ],
  ])('returns %s', (_name, stream, expected) => {
    const bytes = Buffer.concat(stream);
    for (const chunkBytes of [1, 2, 3, 5, 1000, 30_000]) expect(split(bytes, chunkBytes)).toEqual(expected);
  });

  test('returns the same frames wherever the chunks end', () => {
    const texts = fc.array(fc.string({ minLength: 1, maxLength: 300 }), { maxLength: 20 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 700 }), (frames, chunkBytes) => {
        expect(split(Buffer.concat(frames.map(prefixed)), chunkBytes)).toEqual(frames);
      }),
    );
  });

  test('rejects an absurd length at once', () => {
    expect(() => new FrameSplitter().push(Buffer.from([0xff, 0xff, 0xff, 0xff, 0]))).toThrow(MalformedError);
  });

  test('rejects an absurdly long line', () => {
    const splitter = new FrameSplitter();
    expect(splitter.push(Buffer.alloc(64 * 1024 * 1024, '{'))).toEqual([]);
    expect(() => splitter.push(Buffer.from('{'))).toThrow(MalformedError);
  });
});
