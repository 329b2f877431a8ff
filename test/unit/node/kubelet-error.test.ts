import { expect, test } from 'vitest';
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

test('a server without a certificate has a text of its own for the kubelet', () => {
  const code = 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR';
  expect(ofServer(code)).toBe(`cannot reach the API server S: words of Node for ${code}`);
  expect(ofKubelet(code)).toContain(
    ' the kubelet K: it has no serving certificate yet (is its signing request approved?)',
  );
  expect(ofKubelet('EOTHER')).toContain(' the kubelet K: words of Node for EOTHER');
});

test('an error before the connection keeps its message', () => {
  const noCredentials = new Error('getting credentials', { cause: new Error('no such plugin') });
  expect(kubeletError(noCredentials, request)).toMatchObject({
    failure: 'unavailable',
    message: 'cannot reach the kubelet K: getting credentials: no such plugin',
  });
});
