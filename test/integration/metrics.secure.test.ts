import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certify } from '../certificate.ts';
import { startSandbox, type Sandbox } from '../sandbox/server.ts';
import { RunningController, until } from './built.ts';
import { fillCluster } from './controller/environment.ts';

const material = certify(['IP:127.0.0.1']);
let sandbox: Sandbox;
let directory: string;
let controller: RunningController;
let address: { readonly metrics: string; readonly health: string };

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'dustpan-metrics-'));
  writeFileSync(join(directory, 'tls.crt'), material.chain);
  writeFileSync(join(directory, 'tls.key'), material.key);
  const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];
  sandbox = await startSandbox({
    users: [
      { name: 'reader', token: 'reader', rules },
      { name: 'stranger', token: 'stranger', rules: [] },
    ],
  });
  fillCluster(sandbox, 0);
  controller = new RunningController(sandbox.kubeconfigFile, [
    ...['--health-probe-bind-address=127.0.0.1:0', '--leader-elect=false'],
    ...['--metrics-secure', `--metrics-cert-dir=${directory}`, '--metrics-auth'],
  ]);
  const serving = () => controller.lines.find(({ msg }) => msg === 'serving metrics and health probes');
  await until('serves', () => serving() !== undefined);
  address = serving() as unknown as typeof address;
});

afterAll(async () => {
  await controller.stop();
  await sandbox.stop();
  rmSync(directory, { recursive: true });
});

function scrape(token?: string): Promise<{ readonly status: number | undefined; readonly body: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const options = { ca: material.ca, headers, agent: false };
    get(`https://${address.metrics}/metrics`, options, (response) => {
      void text(response).then((body) => resolve({ status: response.statusCode, body }));
    }).on('error', reject);
  });
}

test.each([
  [undefined, 401],
  ['nobody', 401],
  ['stranger', 403],
])('the token %s gets %d and no metric', async (token, status) => {
  const answer = await scrape(token);
  expect(answer.status).toBe(status);
  expect(answer.body).not.toContain('dustpan_');
});

test('readers get the metrics, and the probes need no TLS', async () => {
  const answer = await scrape('reader');
  expect(answer.status).toBe(200);
  expect(answer.body).toContain('dustpan_build_info{');
  // Who needs no lease leads.
  expect(answer.body).toContain('dustpan_leader_election_master_status{name="dustpan-controller"} 1');
  expect((await fetch(`http://${address.health}/healthz`)).status).toBe(200);
});

test('exits at once without its certificate, with one log line', async () => {
  const args = ['--health-probe-bind-address=127.0.0.1:0', '--metrics-secure', '--metrics-cert-dir=/nowhere'];
  const lost = new RunningController(sandbox.kubeconfigFile, args);
  expect(await lost.ended()).toBe(1);
  expect(lost.stderr).toMatch(
    /^.*serving metrics on 127\.0\.0\.1:0: reading the serving certificate in \/nowhere: ENOENT.*\n$/,
  );
});
