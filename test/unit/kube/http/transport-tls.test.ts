import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { tokenCredentials } from '../../../../src/kube/auth/credentials.ts';
import type { TlsMaterial } from '../../../../src/kube/http/endpoint.ts';
import { loadClusterConnection } from '../../../../src/kube/auth/load.ts';
import { createTransport, type HttpTransport } from '../../../../src/kube/http/http-transport.ts';
import { newAuthority } from '../../../certificate.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { startTransport, get, never } from './start-transport.ts';
import { ok } from './fault-server.ts';

/** Writes a key and a certificate for 127.0.0.1 that is its own CA. */
async function certify(dir: string, name: string): Promise<void> {
  const { certificate, key } = newAuthority(name, ['IP:127.0.0.1']);
  await writeFile(join(dir, `${name}.crt`), certificate);
  await writeFile(join(dir, `${name}.key`), key);
}

describe('TLS', () => {
  const request = { ...get, retries: 0 };
  let dir: string;
  let server: Server;
  let url: string;
  let transport: HttpTransport | undefined;
  const peers: string[] = [];
  /** Send the responses to requests for /held. */
  const held: (() => void)[] = [];

  const pem = (file: string): Buffer => readFileSync(join(dir, file));
  const present = (name: string): void => {
    server.setSecureContext({ cert: pem(`${name}.crt`), key: pem(`${name}.key`), ca: pem('old.crt') });
    server.closeAllConnections();
  };
  const connect = (tls: TlsMaterial): HttpTransport =>
    (transport = createTransport({
      endpoint: { server: url, tls },
      auth: tokenCredentials('t'),
      clock: new FakeClock(),
    }));

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'dustpan-tls-'));
    await certify(dir, 'old');
    await certify(dir, 'new');
  });

  afterAll(() => rm(dir, { recursive: true }));

  beforeEach(async () => {
    peers.length = 0;
    held.length = 0;
    server = createServer({ requestCert: true, rejectUnauthorized: false }, ({ socket, url }, response) => {
      const subject = socket instanceof TLSSocket ? (socket.getPeerX509Certificate()?.subject ?? '') : '';
      peers.push(subject);
      const respond = (): void => void response.end('{}');
      if (url === '/held') held.push(respond);
      else respond();
    });
    present('old');
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterEach(async () => {
    transport?.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  test('trusts the given CA and sends the client certificate', async () => {
    await connect({ ca: pem('old.crt'), cert: pem('old.crt'), key: pem('old.key') }).send(request, never);
    expect(peers.at(-1)).toBe('CN=old');
  });

  test.each([
    { name: 'another CA', tls: () => ({ ca: pem('new.crt') }), why: 'its certificate is signed by itself' },
    { name: 'no CA', tls: () => ({}), why: 'its certificate is signed by itself' },
    {
      name: 'another name',
      tls: () => ({ ca: pem('old.crt'), servername: 'k.test' }),
      why: "Hostname/IP does not match certificate's altnames",
    },
  ])('rejects a server with $name, at once and in one line', async ({ tls, why }) => {
    const sending = connect(tls()).send(request, never);
    await expect(sending).rejects.toThrow(`cannot reach the API server ${url}: ${why}`);
    expect(peers).toEqual([]);
  });

  test('opens new connections for new TLS material; a request in progress succeeds on its old connection, which is then closed', async () => {
    const endpoint = { server: url, tls: { ca: pem('old.crt') } };
    transport = createTransport({ endpoint, auth: tokenCredentials('t'), clock: new FakeClock() });
    const sockets: Socket[] = [];
    server.on('secureConnection', (socket: Socket) => sockets.push(socket));
    const under = transport.send({ ...request, path: '/held' }, never);
    await expect.poll(() => held.length).toBe(1);
    endpoint.tls = { ca: pem('old.crt') };
    await transport.send(request, never);
    expect(sockets).toHaveLength(2);
    const [old] = sockets;
    const closed = old === undefined ? Promise.reject(new Error('no connection')) : once(old, 'close');
    held[0]?.();
    await under;
    await closed;
    expect(sockets[1]?.destroyed).toBe(false);
  });

  test('reports a server without TLS', async () => {
    const { url: plain } = await startTransport(ok());
    const secure = plain.replace('http', 'https');
    transport = createTransport({
      endpoint: { server: secure },
      auth: tokenCredentials('t'),
      clock: new FakeClock(),
    });
    await expect(transport.send(request, never)).rejects.toThrow(
      `cannot reach the API server ${secure}: the TLS handshake failed (does it speak TLS?)`,
    );
  });

  test('follows a rotated CA at once', async () => {
    const [caFile, tokenFile] = [join(dir, 'ca'), join(dir, 'token')];
    await copyFile(join(dir, 'old.crt'), caFile);
    await writeFile(tokenFile, 't');
    const { port } = new URL(url);
    const clock = new FakeClock();
    const inCluster = { host: '127.0.0.1', port, tokenFile, caFile };
    transport = createTransport({ ...(await loadClusterConnection({ inCluster }, clock)), clock });
    await transport.send(request, never);

    await writeFile(caFile, await readFile(join(dir, 'new.crt')));
    present('new');
    await transport.send(request, never);
    expect(clock.monotonicMs()).toBe(0);
  });
});
