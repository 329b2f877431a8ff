import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ListeningServer } from '../../../src/runtime/serving/http-server.ts';
import { startMetricsServer, type Authorize } from '../../../src/runtime/serving/metrics-server.ts';
import { ServingCertificate } from '../../../src/runtime/serving/serving-certificate.ts';
import { ManualClock } from '../../fakes/manual-clock.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { certify, type ServingCertificate as Material } from '../../certificate.ts';

const [first, second] = [certify(['IP:127.0.0.1']), certify(['IP:127.0.0.1'])];
let directory: string;
let server: ListeningServer | undefined;
let clock: ManualClock;
let log: RecordingLogger;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'dustpan-serving-'));
  clock = new ManualClock();
  log = new RecordingLogger();
  mount(first);
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(directory, { recursive: true });
});

function mount({ chain, key }: Pick<Material, 'chain' | 'key'>): void {
  writeFileSync(join(directory, 'tls.crt'), chain);
  writeFileSync(join(directory, 'tls.key'), key);
}

async function start(authorize?: Authorize): Promise<void> {
  const certificate = new ServingCertificate({ directory, clock, log });
  const options = { bindAddress: '127.0.0.1:0', registry: new Registry(), log };
  server = await startMetricsServer({ ...options, certificate, authorize });
}

/** Sends a request on a new connection that trusts only this certificate's CA. */
function get({ ca }: Material, path = '/metrics', headers: Record<string, string> = {}) {
  const [host, port] = (server?.address ?? '').split(':');
  return new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const sent = request({ host, port, path, ca, headers, agent: false }, (response) => {
      void text(response).then((body) => resolve({ status: response.statusCode, body }));
    });
    sent.on('error', reject).end();
  });
}

test('with a certificate, serves only TLS', async () => {
  await start();
  expect(await get(first)).toMatchObject({ status: 200 });
  await expect(get(second)).rejects.toThrow(/unable to verify|self.signed/i);
  await expect(fetch(`http://${server?.address ?? ''}/metrics`)).rejects.toThrow();
});

test('uses a renewed certificate after ten seconds; half a renewal is one warning, and keeps the old one', async () => {
  await start();
  mount({ chain: second.chain, key: first.key });
  for (let reads = 0; reads < 3; reads += 1) {
    await expect.poll(() => clock.sleeping).toContain(10_000);
    clock.advance(10_000);
  }
  await expect.poll(() => clock.sleeping).toContain(10_000);
  const message = 'serving certificate cannot be read, keeping the old one';
  const fields = { reason: expect.stringMatching(/key values mismatch/) as unknown };
  expect(log.lines).toMatchObject([{ level: 'warn', message, fields }]);
  expect(await get(first)).toMatchObject({ status: 200 });
  mount(second);
  clock.advance(10_000);
  await expect.poll(() => log.lines.length).toBeGreaterThan(1);
  expect(await get(second)).toMatchObject({ status: 200 });
  await expect(get(first)).rejects.toThrow();
});

test('with authorization, a review that fails serves nothing, and no path is named to who has no token', async () => {
  await start((authorization) =>
    authorization === undefined
      ? Promise.resolve('unauthenticated')
      : Promise.reject(new Error('making a TokenReview')),
  );
  expect(await get(first, '/other')).toMatchObject({ status: 401 });
  const { status, body } = await get(first, '/metrics', { authorization: 'Bearer x' });
  expect([status, body.includes('TokenReview')]).toEqual([500, false]);
  expect(log.lines.map(({ message }) => message)).toEqual(['request failed']);
});
