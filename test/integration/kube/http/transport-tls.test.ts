import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { tokenCredentials } from '../../../../src/kube/auth/credentials.ts';
import type { Endpoint } from '../../../../src/kube/http/endpoint.ts';
import { loadClusterConnection } from '../../../../src/kube/auth/load.ts';
import { createTransport, type HttpTransport } from '../../../../src/kube/http/http-transport.ts';
import { newAuthority, type Certified } from '../../../certificate.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { get, never, ok, startTransport } from './start-transport.ts';

/** Certificates for 127.0.0.1, each its own CA. */
const [oldOne, newOne] = [newAuthority('old', ['IP:127.0.0.1']), newAuthority('new', ['IP:127.0.0.1'])];
const clock = new FakeClock();
let dir: string;

beforeAll(async () => (dir = await mkdtemp(join(tmpdir(), 'dustpan-tls-'))));
afterAll(() => rm(dir, { recursive: true }));

function connect(endpoint: Endpoint, auth = tokenCredentials('t')): HttpTransport {
  const transport = createTransport({ endpoint, auth, clock });
  onTestFinished(() => transport.close());
  return transport;
}

async function startServer() {
  /** Whose certificates it got. */
  const peers: string[] = [];
  /** Send the responses to requests for /held. */
  const held: (() => void)[] = [];
  const server = createServer(
    { requestCert: true, rejectUnauthorized: false },
    ({ socket, url }, response) => {
      peers.push(socket instanceof TLSSocket ? (socket.getPeerX509Certificate()?.subject ?? '') : '');
      const respond = (): void => void response.end('{}');
      if (url === '/held') held.push(respond);
      else respond();
    },
  );
  const present = ({ certificate, key }: Certified): void => {
    server.setSecureContext({ cert: certificate, key, ca: oldOne.certificate });
    server.closeAllConnections();
  };
  present(oldOne);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { server, present, peers, held, port, url: `https://127.0.0.1:${port}` };
}

test('trusts the given CA and sends the client certificate', async () => {
  const { url, peers } = await startServer();
  const { certificate, key } = oldOne;
  await connect({ server: url, tls: { ca: certificate, cert: certificate, key } }).send(get, never);
  expect(peers.at(-1)).toBe('CN=old');
});

test.each([
  { name: 'another CA', tls: { ca: newOne.certificate }, why: 'its certificate is signed by itself' },
  { name: 'no CA', tls: {}, why: 'its certificate is signed by itself' },
  {
    name: 'another name',
    tls: { ca: oldOne.certificate, servername: 'k.test' },
    why: "Hostname/IP does not match certificate's altnames",
  },
])('rejects a server with $name, at once and in one line', async ({ tls, why }) => {
  const { url, peers } = await startServer();
  const sending = connect({ server: url, tls }).send(get, never);
  await expect(sending).rejects.toThrow(`cannot reach the API server ${url}: ${why}`);
  expect(peers).toEqual([]);
  expect(clock.monotonicMs()).toBe(0);
});

test('opens new connections for new TLS material; a request in progress succeeds on its old connection, which is then closed', async () => {
  const { url, server, held } = await startServer();
  const endpoint = { server: url, tls: { ca: oldOne.certificate } };
  const transport = connect(endpoint);
  const sockets: Socket[] = [];
  server.on('secureConnection', (socket: Socket) => sockets.push(socket));
  const under = transport.send({ ...get, path: '/held' }, never);
  await expect.poll(() => held.length).toBe(1);
  endpoint.tls = { ca: oldOne.certificate };
  await transport.send(get, never);
  expect(sockets).toHaveLength(2);
  const [old] = sockets;
  const closed = old === undefined ? Promise.reject(new Error('no connection')) : once(old, 'close');
  held[0]?.();
  await under;
  await closed;
  expect(sockets[1]?.destroyed).toBe(false);
});

test('reports a server without TLS', async () => {
  const { url } = await startTransport(ok());
  const server = url.replace('http', 'https');
  await expect(connect({ server }).send(get, never)).rejects.toThrow(
    `cannot reach the API server ${server}: the TLS handshake failed (does it speak TLS?)`,
  );
});

test('follows a rotated CA at once', async () => {
  const { present, port } = await startServer();
  const [caFile, tokenFile] = [join(dir, 'ca'), join(dir, 'token')];
  await writeFile(caFile, oldOne.certificate);
  await writeFile(tokenFile, 't');
  const inCluster = { host: '127.0.0.1', port: String(port), tokenFile, caFile };
  const { endpoint, auth } = await loadClusterConnection({ inCluster }, clock);
  const transport = connect(endpoint, auth);
  await transport.send(get, never);

  await writeFile(caFile, newOne.certificate);
  present(newOne);
  await transport.send(get, never);
  expect(clock.monotonicMs()).toBe(0);
});
