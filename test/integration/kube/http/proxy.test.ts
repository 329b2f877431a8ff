import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { loadClusterConnection, type ConnectionSources } from '../../../../src/kube/auth/load.ts';
import { createTransport } from '../../../../src/kube/http/http-transport.ts';
import { newAuthority } from '../../../certificate.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { startConnectProxy, startSocksProxy, type LoopbackProxy } from '../../../proxies.ts';
import { get, never } from './start-transport.ts';

/** No resolver knows it: only a proxy can reach it. */
const host = 'api.test';
const authority = newAuthority('ca', [`DNS:${host}`, 'IP:fd00::1']);
let dir: string;
let server: Server;

const port = (): number => (server.address() as AddressInfo).port;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dustpan-proxy-'));
  const respond = (_: unknown, response: { end(text: string): unknown }) => response.end('{}');
  server = createServer({ cert: authority.certificate, key: authority.key }, respond);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  server.close();
  await rm(dir, { recursive: true });
});

/** A proxy, stopped after the test. */
async function proxy(starting: Promise<LoopbackProxy>): Promise<LoopbackProxy> {
  const started = await starting;
  onTestFinished(() => started.stop());
  return started;
}

/** Sends two requests one after the other, and returns the status of the last. */
async function send(cluster: object, variables: ConnectionSources['proxies'] = {}): Promise<number> {
  const file = join(dir, 'config');
  const ca = Buffer.from(authority.certificate).toString('base64');
  const entry = { server: `https://${host}:6443`, 'certificate-authority-data': ca, ...cluster };
  const config = {
    'current-context': 'c',
    clusters: [{ name: 'k', cluster: entry }],
    contexts: [{ name: 'c', context: { cluster: 'k' } }],
    users: [],
  };
  await writeFile(file, JSON.stringify(config));
  const clock = new FakeClock();
  const connection = await loadClusterConnection({ kubeconfig: file, proxies: variables }, clock);
  const transport = createTransport({ ...connection, clock });
  try {
    await transport.send({ ...get, retries: 0 }, never);
    return (await transport.send({ ...get, retries: 0 }, never)).status;
  } finally {
    transport.close();
  }
}

test.each([
  ['the HTTP proxy of a proxy-url, on one connection, with TLS to the server', startConnectProxy],
  ['a SOCKS5 proxy, which looks up the name', startSocksProxy],
])('requests go through %s', async (_name, startProxy) => {
  const { url, requested } = await proxy(startProxy(port));
  expect(await send({ 'proxy-url': url })).toBe(200);
  expect(requested).toEqual([`${host}:6443`]);
});

test('an IPv6 address has brackets in the request to an HTTP proxy', async () => {
  const { url, requested } = await proxy(startConnectProxy(port));
  expect(await send({ server: 'https://[fd00::1]:6443', 'proxy-url': url })).toBe(200);
  expect(requested).toEqual(['[fd00::1]:6443']);
});

test('HTTPS_PROXY is used, with its user and password, which an error does not show', async () => {
  const { url, requested } = await proxy(startConnectProxy(port, 'me:secret'));
  expect(await send({}, { httpsProxy: url.replace('//', '//me:secret@') })).toBe(200);
  expect(requested).toEqual([`${host}:6443`]);
  await expect(send({}, { httpsProxy: url.replace('//', '//me:wrong@') })).rejects.toThrow(
    `cannot reach the API server https://${host}:6443 through the proxy ${url}: Failed to establish tunnel to ${host}:6443 via ${url}/: HTTP/1.1 407`,
  );
});

test.each([
  ['a name', { 'tls-server-name': 'other.test' }, /through the proxy .*does not match certificate/],
  ['an IPv6 address', { server: 'https://[fd00::2]:6443' }, /through the proxy .*fd00::2 is not in the cert/],
])('the proxy does not weaken the check of the certificate for %s', async (_name, cluster, problem) => {
  const { url } = await proxy(startConnectProxy(port));
  await expect(send({ ...cluster, 'proxy-url': url })).rejects.toThrow(problem);
});
