import { Gauge, Registry } from 'prom-client';
import { afterEach, describe, expect, test } from 'vitest';
import { errorLine } from '../../../src/runtime/errors.ts';
import { parseBindAddress } from '../../../src/runtime/serving/bind-address.ts';
import { eventLoopCheck } from '../../../src/runtime/serving/event-loop-lag.ts';
import { startHealthServer, type Check } from '../../../src/runtime/serving/health.ts';
import type { ListeningServer } from '../../../src/runtime/serving/http-server.ts';
import { startMetricsServer } from '../../../src/runtime/serving/metrics-server.ts';
import { silentLogger } from '../../fakes/logger.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const bindAddress = '127.0.0.1:0';
const servers: ListeningServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

describe('health probes', () => {
  const good: Check = { name: 'podgc', check: () => undefined };
  const bad: Check = { name: 'informers', check: () => 'pods not synced: secret detail' };
  const broken: Check = {
    name: 'broken',
    check: () => {
      throw new Error('bug');
    },
  };

  async function started(live = [good]) {
    const log = new RecordingLogger();
    const server = await startHealthServer({ bindAddress, live, ready: [bad], log });
    servers.push(server);
    const get = async (path: string, method = 'GET') => {
      const response = await fetch(`http://${server.address ?? ''}${path}`, { method });
      return { status: response.status, body: await response.text() };
    };
    return { log, get };
  }

  test.each([
    ['/healthz', 200, 'ok'],
    ['/healthz?verbose', 200, '[+]ping ok\n[+]podgc ok\nhealthz check passed\n'],
    ['/healthz/nothing', 404, 'not found\n'],
    ['/readyz', 500, '[+]ping ok\n[-]informers failed: reason withheld\nreadyz check failed\n'],
  ])('%s', async (path, status, body) => {
    const { get } = await started();
    expect(await get(path)).toEqual({ status, body });
    expect(await get(path, 'HEAD')).toEqual({ status, body: '' });
  });

  test.each([
    { probe: 'readyz', level: 'debug', check: bad, reason: 'pods not synced: secret detail' },
    { probe: 'healthz', level: 'warn', check: broken, reason: 'check threw: Error: bug' },
  ])('the reason of a failed $probe is in the log, not in the response', async (row) => {
    const { get, log } = await started([broken]);
    const { status, body } = await get(`/${row.probe}`);
    expect([status, body.includes(row.reason)]).toEqual([500, false]);
    const fields = { probe: row.probe, check: row.check.name, reason: row.reason };
    expect(log.lines).toMatchObject([{ level: row.level, fields }]);
  });

  test('an event loop that was blocked is a failure', () => {
    const checked = (seconds: number) => eventLoopCheck({ takeMaxSeconds: () => seconds }, 10_000).check();
    expect([0.2, 12].map(checked)).toEqual([undefined, 'blocked for 12.0 s']);
  });
});

describe('a metrics server', () => {
  const registry = new Registry();
  new Gauge({ name: 'dustpan_x', help: 'X.', registers: [registry] }).set(3);

  async function started(address = bindAddress) {
    const server = await startMetricsServer({ bindAddress: address, registry, log: silentLogger });
    servers.push(server);
    return server;
  }

  test('serves the text format 0.0.4', async () => {
    const { address = '' } = await started();
    const response = await fetch(`http://${address}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await response.text()).toContain('dustpan_x 3\n');
  });

  test('serves nothing at the address 0, and reports one in use in one line', async () => {
    expect((await started('0')).address).toBeUndefined();
    const first = await started();
    const second: unknown = await started(first.address).catch((err: unknown) => err);
    expect(errorLine(second)).toMatch(
      /^serving metrics on 127\.0\.0\.1:\d+: listen EADDRINUSE: address already in use 127\.0\.0\.1:\d+$/,
    );
  });
});

test.each([
  { text: ':8080', expected: { host: undefined, port: 8080 } },
  { text: 'localhost:9', expected: { host: 'localhost', port: 9 } },
  { text: '[fe80::1%eth0]:1', expected: { host: 'fe80::1%eth0', port: 1 } },
  { text: '0', expected: 'disabled' },
  { text: '', expected: 'disabled' },
  { text: '8080', expected: undefined },
  { text: ':65536', expected: undefined },
  { text: '::1:8080', expected: undefined },
])('the bind address $text', ({ text, expected }) => {
  expect(parseBindAddress(text)).toEqual(expected);
});
