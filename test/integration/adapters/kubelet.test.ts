import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ClusterConnection } from '../../../src/kube/auth/credentials.ts';
import type { TlsMaterial } from '../../../src/kube/http/endpoint.ts';
import { defaultKubeletEndpoint } from '../../../src/process/config.ts';
import { KubeletUsage, type KubeletUsageOptions } from '../../../src/node/kubelet/source.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { certify } from '../../certificate.ts';
import { startKubeletSandbox, type KubeletSandbox } from '../../sandbox/kubelet/server.ts';

const never = new AbortController().signal;
let sandbox: KubeletSandbox;
let kubelet: KubeletUsage;
/** The content of the service account's files; `refresh` reads them. */
let account: { token: string; ca: string; onFile: string };

function connect(options: Partial<KubeletUsageOptions> = {}): KubeletUsage {
  let tls: TlsMaterial = {};
  const cluster: ClusterConnection = {
    endpoint: {
      server: 'https://unused',
      get tls(): TlsMaterial {
        return tls;
      },
    },
    auth: {
      // Like a kubeconfig: the material is read with the first headers, and is a new object after a change.
      headers: () => {
        if (tls.ca !== account.ca) tls = { ca: account.ca };
        return Promise.resolve({ authorization: `Bearer ${account.token}` });
      },
      refresh: () => {
        account.token = account.onFile;
      },
    },
    source: 'test',
  };
  kubelet = new KubeletUsage({
    ...{ endpoint: sandbox.endpoint, nodeName: 'node-1', cluster, clock: systemClock },
    trust: { isInsecure: false, caFile: undefined, ownFile: '/nowhere/kubelet.crt' },
    ...options,
  });
  return kubelet;
}

beforeEach(async () => {
  sandbox = await startKubeletSandbox({ nodeName: 'node-1', token: 'good' });
  sandbox.pods = [{ uid: 'u1', name: 'web', volumes: { data: 1_000_000 } }];
  account = { token: 'good', ca: sandbox.certificate.ca, onFile: 'good' };
  connect();
});
afterEach(async () => {
  kubelet.close();
  await sandbox.stop();
});

const dataBytes = async (): Promise<number | undefined> =>
  (await kubelet.usage(never)).pods.get('u1')?.volumes.get('data')?.bytes;

describe('continues', () => {
  test('after a restart of the kubelet, with a rotated token, which is read again', async () => {
    await dataBytes();
    sandbox.dropConnections();
    sandbox.tokens.delete('good');
    sandbox.tokens.set('next', 'stats');
    account.onFile = 'next';
    expect(await dataBytes()).toBe(1_000_000);
  });

  test('with a new self-signed certificate, by its file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dustpan-kubelet-'));
    const ownFile = join(folder, 'kubelet.crt');
    await writeFile(ownFile, sandbox.certificate.ca);
    account.ca = certify(['DNS:x']).ca;
    connect({ trust: { isInsecure: false, caFile: undefined, ownFile } });
    expect(await dataBytes()).toBe(1_000_000);
    sandbox.present(certify(['DNS:node-1']));
    await writeFile(ownFile, sandbox.certificate.ca);
    expect(await dataBytes()).toBe(1_000_000);
    await rm(folder, { recursive: true });
  });

  test('with a certificate of a new CA, once it is known', async () => {
    await dataBytes();
    sandbox.present(certify(['DNS:node-1']));
    await expect(dataBytes()).rejects.toThrow('cannot trust');
    account.ca = sandbox.certificate.ca;
    expect(await dataBytes()).toBe(1_000_000);
  });

  test.each([
    ['with a certificate for its address alone', 'IP:127.0.0.1', 'node-1'],
    ['on a node that is named by its address', 'IP:10.0.0.7', '10.0.0.7'],
  ])('%s', async (_, name, nodeName) => {
    sandbox.present(certify([name]));
    account.ca = sandbox.certificate.ca;
    connect({ nodeName });
    expect(await dataBytes()).toBe(1_000_000);
  });
});

describe('reports', () => {
  const body = (text: string) => ({ kind: 'body', text }) as const;
  const status500 = (text: string) => ({ kind: 'status', status: 500, text }) as const;
  const noRootFs = 'Internal Error: failed to get rootFs stats: failed to get rootFs info: cannot find it';
  const [notSummary, notJson] = [/not a stats summary/, /is not JSON \(\/stats\/summary\)$/];
  test.each<readonly [string, KubeletSandbox['faults'][number], string, RegExp]>([
    [
      'a hanging kubelet',
      { kind: 'hang' },
      'deadline',
      /^the kubelet https:\S+ did not respond to \/stats\/summary within 2 s$/,
    ],
    ['a truncated response', { kind: 'cut' }, 'unavailable', /cut off|closed by the other side|aborted/],
    [
      'a failure',
      status500('Internal Error: no cadvisor\nstack'),
      'unavailable',
      /^the kubelet responds to \/stats\/summary with 500: Internal Error: no cadvisor$/,
    ],
    [
      'missing local storage measurements, and the consequence',
      status500(noRootFs),
      'unavailable',
      /cannot find it; with localStorageCapacityIsolation: false .*dustpan evicts no pod of this node$/,
    ],
    ['a redirect, which is never followed', { kind: 'status', status: 302 }, 'unavailable', /with 302$/],
    ['a response of another server', body('{"kind":"Status","pods":[]}'), 'malformed', notSummary],
    ['a pod that is not JSON', body('{"node":{},"pods":[{"podRef":{"uid":}}]}'), 'malformed', notJson],
    [
      'a response that ends early',
      body('{"node":{},"pods":[{"podRef":{"uid":"u1"}}'),
      'malformed',
      notSummary,
    ],
    [
      'an endless response',
      body(`{"node":{},"x":"${'x'.repeat(70_000)}"}`),
      'malformed',
      /longer than 60000/,
    ],
  ])('%s', async (_name, fault, failure, message) => {
    connect({ timeoutMs: 2_000, maxBytes: 60_000 });
    sandbox.faults.push(fault);
    await expect(kubelet.usage(never)).rejects.toMatchObject({
      failure,
      message: expect.stringMatching(message) as string,
    });
    // And is well again afterwards.
    expect(await dataBytes()).toBe(1_000_000);
  });
});

test.each([
  ['an address', '10.0.0.7', 'https://10.0.0.7:10250'],
  ['an IPv6 address', 'fd00::7', 'https://[fd00::7]:10250'],
  ['an empty one', '', 'https://127.0.0.1:10250'],
])('the endpoint of a node with %s', (_name, hostIp, expected) => {
  expect(defaultKubeletEndpoint(hostIp)).toBe(expected);
});
