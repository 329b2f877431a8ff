import { beforeEach, expect, test } from 'vitest';
import type { ClusterConnection } from '../../../src/kube/auth/credentials.ts';
import type { TlsMaterial } from '../../../src/kube/http/endpoint.ts';
import { KubeletCredentials } from '../../../src/node/kubelet/trust.ts';
import { file, temporaryDirectory } from './directory.ts';

const never = new AbortController().signal;
const at = temporaryDirectory();
let tls: TlsMaterial | undefined;
let refreshed: number;
const headers = { authorization: 'Bearer t' };
const cluster: ClusterConnection = {
  endpoint: {
    server: 'https://unused',
    get tls(): TlsMaterial {
      return tls ?? {};
    },
  },
  auth: { headers: () => Promise.resolve(headers), refresh: () => (refreshed += 1) },
  source: 'test',
};

const credentials = (): KubeletCredentials =>
  new KubeletCredentials({
    ...{ endpoint: 'https://10.0.0.7:10250', nodeName: 'node-1', cluster },
    trust: { isInsecure: false, caFile: undefined, ownFile: at('kubelet.crt') },
  });

beforeEach(() => {
  tls = { ca: 'CA of the cluster', cert: 'cert', key: 'key' };
  refreshed = 0;
});

test('after a refusal the material and the token are read again, for each refused request', async () => {
  const kubelet = credentials();
  expect(await kubelet.headers(never)).not.toBe(await kubelet.headers(never));
  file(at('kubelet.crt'), 'own');
  kubelet.refresh();
  await kubelet.headers(never);
  expect(refreshed).toBe(1);
  expect([kubelet.endpoint.tls?.ca].flat(2).map(String)).toEqual(['CA of the cluster', 'own']);
});
