import { describe, expect, test } from 'vitest';
import { AnswerReader } from '../../../src/kube/http-answer.ts';

const lines = (...all: readonly string[]): string => all.join('\r\n');
const reader = (): AnswerReader => new AnswerReader('DELETE /a');

const answers = [
  {
    name: 'with a length',
    text: lines('HTTP/1.1 200 OK', 'Content-Type: a/b', 'content-length: 4', '', 'body'),
    expected: { status: 200, headers: { 'content-type': 'a/b', 'content-length': '4' }, isReusable: true },
  },
  {
    name: 'in chunks, with an extension and trailers',
    text: lines(
      'HTTP/1.1 409 Conflict',
      'Transfer-Encoding: Chunked',
      '',
      '1',
      'b',
      '003;x=y',
      'ody',
      '0',
      'a: b',
      '',
      '',
    ),
    expected: { status: 409, headers: { 'transfer-encoding': 'Chunked' }, isReusable: true },
  },
  {
    name: 'after one that is not the last',
    text: lines('HTTP/1.1 100 Continue', '', 'HTTP/1.1 200', 'content-length: 4', '', 'body'),
    expected: { status: 200, headers: { 'content-length': '4' }, isReusable: true },
  },
  {
    name: 'that closes',
    text: lines('HTTP/1.1 200 OK', 'content-length:4', 'Connection: Close', '', 'body'),
    expected: { status: 200, headers: { 'content-length': '4', connection: 'Close' }, isReusable: false },
  },
  {
    name: 'of an old server',
    text: lines('HTTP/1.0 200 OK', 'content-length: 4', '', 'body'),
    expected: { status: 200, headers: { 'content-length': '4' }, isReusable: false },
  },
  {
    name: 'with one header twice',
    text: lines('HTTP/1.1 200 OK', 'content-length: 4', 'a: 1', 'A: 2', '', 'body'),
    expected: { status: 200, headers: { 'content-length': '4', a: '1, 2' }, isReusable: true },
  },
];

describe('an answer', () => {
  test.each(answers)('$name is the same in one piece, in two, and byte by byte', ({ text, expected }) => {
    const bytes = Buffer.from(text);
    const whole = { ...expected, body: Buffer.from('body') };
    expect(reader().push(bytes)).toEqual(whole);
    for (let at = 1; at < bytes.length; at++) {
      const halves = reader();
      expect(halves.push(bytes.subarray(0, at))).toBeUndefined();
      expect(halves.push(bytes.subarray(at))).toEqual(whole);
    }
    const single = reader();
    for (const byte of bytes.subarray(0, -1)) expect(single.push(Buffer.of(byte))).toBeUndefined();
    expect(single.push(bytes.subarray(-1))).toEqual(whole);
  });

  test.each([
    { name: '204', text: lines('HTTP/1.1 204 No Content', '', '') },
    { name: '304', text: lines('HTTP/1.1 304 Not Modified', 'content-length: 9', '', '') },
    { name: 'length 0', text: lines('HTTP/1.1 200 OK', 'content-length: 0', '', '') },
  ])('of $name has no body', ({ text }) => {
    expect(reader().push(Buffer.from(text))).toMatchObject({ body: Buffer.alloc(0), isReusable: true });
  });

  test('without a length ends with the connection, any other does not', () => {
    const open = reader();
    expect(open.push(Buffer.from(lines('HTTP/1.1 503 No', '', 'bo')))).toBeUndefined();
    expect(open.push(Buffer.from('dy'))).toBeUndefined();
    expect(open.end()).toMatchObject({ status: 503, body: Buffer.from('body'), isReusable: false });
    const half = reader();
    half.push(Buffer.from(lines('HTTP/1.1 200 OK', 'content-length: 5', '', 'body')));
    expect(half.end()).toBeUndefined();
    expect(reader().end()).toBeUndefined();
  });

  test.each([
    { status: '200 OK', kept: 0 },
    { status: '409 Conflict', kept: 100_000 },
  ])('of 100 KB has a body unless it is a success: $status', ({ status, kept }) => {
    const head = lines(`HTTP/1.1 ${status}`, 'content-length: 100000', '', '');
    const answer = reader();
    answer.push(Buffer.from(head));
    for (let i = 0; i < 9; i += 1) answer.push(Buffer.alloc(10_000));
    expect(answer.push(Buffer.alloc(10_000))).toMatchObject({ isReusable: true, body: Buffer.alloc(kept) });
  });

  test('that is followed by something leaves a connection nobody may use', () => {
    const text = lines('HTTP/1.1 200 OK', 'content-length: 4', '', 'bodyHTTP/1.1 200 OK');
    expect(reader().push(Buffer.from(text))).toMatchObject({ body: Buffer.from('body'), isReusable: false });
  });
});

describe('what is no answer', () => {
  const ok = 'HTTP/1.1 200 OK';
  test.each([
    { name: 'other words', text: lines('SSH-2.0-x', '', ''), message: 'is not HTTP/1.1' },
    { name: 'another version', text: lines('HTTP/2 200', '', ''), message: 'is not HTTP/1.1' },
    { name: 'no status', text: lines('HTTP/1.1 2000', '', ''), message: 'is not HTTP/1.1' },
    {
      name: 'another protocol',
      text: lines('HTTP/1.1 101 Switching Protocols', '', ''),
      message: 'another protocol',
    },
    {
      name: 'a blank in a name',
      text: lines(ok, 'content-length : 4', '', ''),
      message: 'a header without a name',
    },
    {
      name: 'a length and chunks',
      text: lines(ok, 'content-length: 4', 'transfer-encoding: chunked', '', ''),
      message: 'a length and chunks',
    },
    { name: 'a header without a name', text: lines(ok, ': a', '', ''), message: 'a header without a name' },
    {
      name: 'a length that is none',
      text: lines(ok, 'content-length: -1', '', ''),
      message: 'no valid length, -1',
    },
    {
      name: 'two lengths',
      text: lines(ok, 'content-length: 1', 'content-length: 2', '', ''),
      message: 'no valid length, 1, 2',
    },
    {
      name: 'another encoding',
      text: lines(ok, 'transfer-encoding: gzip, chunked', '', ''),
      message: 'unknown transfer encoding, gzip, chunked',
    },
    {
      name: 'a chunk without a length',
      text: lines(ok, 'transfer-encoding: chunked', '', 'x', ''),
      message: 'a chunk without a length',
    },
    {
      name: 'a chunk that is longer than it says',
      text: lines(ok, 'transfer-encoding: chunked', '', '1', 'abc', ''),
      message: 'a chunk of another length',
    },
    {
      name: 'headers for ever',
      text: `${ok}\r\na: ${'b'.repeat(17_000)}`,
      message: 'a line without an end',
    },
  ])('$name is an error', ({ text, message }) => {
    expect(() => reader().push(Buffer.from(text))).toThrow(message);
  });
});
