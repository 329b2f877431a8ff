import { beforeEach, describe, expect, test } from 'vitest';
import type { ClusterConnection, TlsMaterial } from '../../../src/kube/auth/credentials.ts';
import { KubeletCredentials, type KubeletAddress } from '../../../src/node/kubelet/trust.ts';
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

const credentials = (trust: Partial<KubeletAddress['trust']> = {}): KubeletCredentials =>
  new KubeletCredentials({
    ...{ endpoint: 'https://10.0.0.7:10250', nodeName: 'node-1', cluster },
    trust: { isInsecure: false, caFile: undefined, ownFile: at('kubelet.crt'), ...trust },
  });

beforeEach(() => {
  tls = { ca: 'CA of the cluster', cert: 'cert', key: 'key' };
  refreshed = 0;
});

describe('the certificate of a kubelet is verified', () => {
  const read = async (kubelet: KubeletCredentials) => {
    await kubelet.headers(never);
    const { ca, insecure, names } = kubelet.endpoint.tls ?? {};
    return { ca: [ca].flat().map(String), insecure, names };
  };
  const names = ['node-1', '10.0.0.7'];

  test('by the CA of the cluster, or as its own', async () => {
    expect(await read(credentials())).toEqual({ ca: ['CA of the cluster'], insecure: undefined, names });
    file(at('kubelet.crt'), 'own');
    expect(await read(credentials())).toMatchObject({ ca: ['CA of the cluster', 'own'], names });
  });

  test('by the configured CA alone', async () => {
    file(at('kubelet.crt'), 'own');
    const kubelet = credentials({ caFile: file(at('ca.crt'), 'configured') });
    expect(await read(kubelet)).toMatchObject({ ca: ['configured'], names });
  });

  test('by no other CA than these', async () => {
    tls = {};
    await expect(read(credentials())).rejects.toMatchObject({ failure: 'untrusted' });
    await expect(read(credentials({ caFile: at('missing') }))).rejects.toMatchObject({
      failure: 'untrusted',
    });
  });

  test('unless the flag disables that', async () => {
    expect(await read(credentials({ isInsecure: true }))).toMatchObject({ insecure: true });
  });
});

test('the material is read again when that of the cluster is another', async () => {
  const kubelet = credentials();
  await kubelet.headers(never);
  const before = kubelet.endpoint.tls;
  await kubelet.headers(never);
  expect(kubelet.endpoint.tls).toBe(before);
  tls = { ca: 'rotated' };
  await kubelet.headers(never);
  expect(kubelet.endpoint.tls?.ca).toEqual(['rotated']);
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
