import { describe, expect, test } from 'vitest';
import { connectionError } from '../../../src/kube/connection-errors.ts';
import { connectionFailure } from '../../../src/node/kubelet-error.ts';
import { connectionPhrases } from '../../../src/runtime/connection-phrases.ts';

const failed = (code: string): Error => Object.assign(new Error(`words of Node for ${code}`), { code });
const ofServer = (code: string): string => connectionError(failed(code), { server: 'S' }).message;
const ofKubelet = (code: string): string =>
  connectionFailure(failed(code), 'K', { tried: ["the cluster's CA"], names: ['node-1'] }).message;

describe('a connection that failed', () => {
  test.each(Object.entries(connectionPhrases))('%s is "%s" of both', (code, words) => {
    expect(ofServer(code)).toBe(`cannot reach the API server S: ${words}`);
    expect(ofKubelet(code)).toContain(` the kubelet K: ${words}`);
  });

  test.each([
    {
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      server: 'its certificate is not signed by the configured CA',
      kubelet: "its certificate is not signed by a CA we know (tried the cluster's CA); --kubelet-",
    },
    {
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      server: 'words of Node for ERR_TLS_CERT_ALTNAME_INVALID',
      kubelet: 'its certificate is for another name (expected node-1); --kubelet-',
    },
    {
      code: 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
      server: 'words of Node for ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
      kubelet: 'it has no serving certificate yet (is its signing request approved?)',
    },
    { code: 'EOTHER', server: 'words of Node for EOTHER', kubelet: 'words of Node for EOTHER' },
  ])('$code is told of each in its own words', ({ code, server, kubelet }) => {
    expect(ofServer(code)).toBe(`cannot reach the API server S: ${server}`);
    expect(ofKubelet(code)).toContain(` the kubelet K: ${kubelet}`);
  });
});
