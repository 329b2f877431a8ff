import { describe, expect, test } from 'vitest';
import { connectionError, type ConnectionError } from '../../../src/kube/http/connection-errors.ts';
import { kubeletError } from '../../../src/node/kubelet/error.ts';

const failed = (code: string): ConnectionError =>
  connectionError(Object.assign(new Error(`words of Node for ${code}`), { code }), { server: 'S' });
const ofServer = (code: string): string => failed(code).message;
const request = {
  endpoint: 'K',
  path: '/p',
  timeoutMs: 1000,
  tried: ["the cluster's CA"],
  names: ['node-1'],
};
const ofKubelet = (code: string): string => kubeletError(failed(code), request).message;

describe('a failed connection', () => {
  test.each([
    {
      code: 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
      server: 'words of Node for ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
      kubelet: 'it has no serving certificate yet (is its signing request approved?)',
    },
    { code: 'EOTHER', server: 'words of Node for EOTHER', kubelet: 'words of Node for EOTHER' },
  ])('$code has its own text for each', ({ code, server, kubelet }) => {
    expect(ofServer(code)).toBe(`cannot reach the API server S: ${server}`);
    expect(ofKubelet(code)).toContain(` the kubelet K: ${kubelet}`);
  });
});

test('an error before the connection keeps its message', () => {
  const noCredentials = new Error('getting credentials', { cause: new Error('no such plugin') });
  expect(kubeletError(noCredentials, request)).toMatchObject({
    failure: 'unavailable',
    message: 'cannot reach the kubelet K: getting credentials: no such plugin',
  });
});
