import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { Registry } from 'prom-client';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ListeningServer } from '../../../src/runtime/serving/http-server.ts';
import { startMetricsServer, type Authorize } from '../../../src/runtime/serving/metrics-server.ts';
import { ServingCertificate } from '../../../src/runtime/serving/serving-certificate.ts';
import { ManualClock } from '../../fakes/manual-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { certify, type ServingCertificate as Material } from '../../certificate.ts';

let first: Material | undefined;
let second: Material | undefined;
let directory: string;
let server: ListeningServer | undefined;
let clock: ManualClock;
let log: RecordingLogger;

beforeAll(() => {
  [first, second] = [certify(['IP:127.0.0.1']), certify(['IP:127.0.0.1'])];
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'dustpan-serving-'));
  clock = new ManualClock();
  log = new RecordingLogger();
  generation = 0;
  mount(first);
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(directory, { recursive: true });
});

/** Mounts a certificate like the kubelet: a new folder, and one replaced link. */
let generation = 0;
function mount(material: Pick<Material, 'chain' | 'key'> | undefined): void {
  if (material === undefined) throw new Error('no certificate');
  const folder = `..generation-${(generation += 1)}`;
  mkdirSync(join(directory, folder));
  writeFileSync(join(directory, folder, 'tls.crt'), material.chain);
  writeFileSync(join(directory, folder, 'tls.key'), material.key);
  symlinkSync(folder, join(directory, '..data_tmp'));
  renameSync(join(directory, '..data_tmp'), join(directory, '..data'));
  if (generation > 1) return;
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), join(directory, name));
}

async function start(authorize?: Authorize): Promise<void> {
  const certificate = new ServingCertificate({ directory, clock, log });
  const options = { bindAddress: '127.0.0.1:0', registry: new Registry(), log };
  server = await startMetricsServer({ ...options, certificate, authorize });
}

interface Response {
  readonly status: number | undefined;
  readonly body: string;
  /** Fingerprint of the server's certificate. */
  readonly fingerprint: string;
}

/** Sends a request on a new connection that trusts only this CA. */
function get(path: string, ca: string | undefined, headers: Record<string, string> = {}): Promise<Response> {
  const [host, port] = (server?.address ?? '').split(':');
  return new Promise((resolve, reject) => {
    const sent = request({ host, port, path, ca, headers, agent: false }, (response) => {
      const socket = response.socket as TLSSocket;
      const { fingerprint256 } = socket.getPeerCertificate();
      void text(response).then((body) => {
        resolve({ status: response.statusCode, body, fingerprint: fingerprint256 });
      });
    });
    sent.on('error', reject).end();
  });
}

describe('with a certificate', () => {
  test('serves only TLS', async () => {
    await start();
    expect(await get('/metrics', first?.ca)).toMatchObject({ status: 200 });
    await expect(get('/metrics', second?.ca)).rejects.toThrow(/unable to verify|self.signed/i);
    await expect(fetch(`http://${server?.address ?? ''}/metrics`)).rejects.toThrow();
  });

  test('uses a renewed certificate after ten seconds; half a renewal is one warning, and keeps the old one', async () => {
    await start();
    const { fingerprint } = await get('/metrics', first?.ca);
    mount({ chain: second?.chain ?? '', key: first?.key ?? '' });
    for (let reads = 0; reads < 3; reads += 1) {
      await expect.poll(() => clock.sleeping).toContain(10_000);
      clock.advance(10_000);
    }
    await expect.poll(() => clock.sleeping).toContain(10_000);
    const message = 'serving certificate cannot be read, keeping the old one';
    const fields = { reason: expect.stringMatching(/key values mismatch/) as unknown };
    expect(log.lines).toMatchObject([{ level: 'warn', message, fields }]);
    expect((await get('/metrics', first?.ca)).fingerprint).toBe(fingerprint);
    mount(second);
    clock.advance(10_000);
    await expect.poll(() => log.lines.length).toBeGreaterThan(1);
    expect((await get('/metrics', second?.ca)).fingerprint).not.toBe(fingerprint);
    await expect(get('/metrics', first?.ca)).rejects.toThrow();
  });
});

describe('with authorization', () => {
  const byToken: Authorize = (authorization, path) => {
    if (path !== '/metrics') throw new Error(`unexpected path ${path}`);
    if (authorization === 'Bearer error') return Promise.reject(new Error('making a TokenReview'));
    if (authorization === undefined) return Promise.resolve('unauthenticated');
    return Promise.resolve('allowed');
  };

  test.each([
    { name: 'a token whose review fails', token: 'error', status: 500 },
    { name: 'no token on an unknown path', path: '/other', status: 401 },
  ])('$name: $status', async ({ path = '/metrics', token, status }) => {
    await start(byToken);
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await get(path, first?.ca, headers);
    expect(response.status).toBe(status);
    expect(response.body).not.toContain('TokenReview');
    expect(log.lines.map(({ message }) => message)).toEqual(status === 500 ? ['request failed'] : []);
  });
});
