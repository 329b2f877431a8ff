import { expect, test } from 'vitest';
import { parseBindAddress } from '../../../src/runtime/serving/bind-address.ts';

test.each([
  { text: ':8080', expected: { host: undefined, port: 8080 } },
  { text: '127.0.0.1:0', expected: { host: '127.0.0.1', port: 0 } },
  { text: 'localhost:9', expected: { host: 'localhost', port: 9 } },
  { text: '[::]:8080', expected: { host: '::', port: 8080 } },
  { text: '[fe80::1%eth0]:1', expected: { host: 'fe80::1%eth0', port: 1 } },
  { text: '0', expected: 'disabled' },
  { text: '', expected: 'disabled' },
  { text: '8080', expected: undefined },
  { text: ':', expected: undefined },
  { text: ':65536', expected: undefined },
  { text: ':-1', expected: undefined },
  { text: '::1:8080', expected: undefined },
  { text: 'http://a:1', expected: undefined },
])('$text', ({ text, expected }) => {
  expect(parseBindAddress(text)).toEqual(expected);
});
