import { connect } from 'node:net';
import { once } from 'node:events';
import { Gauge, Registry } from 'prom-client';
import { afterEach, describe, expect, test } from 'vitest';
import { errorLine } from '../../../src/runtime/errors.ts';
import { EventLoopLag } from '../../../src/runtime/serving/event-loop-lag.ts';
import type { ListeningServer } from '../../../src/runtime/serving/http-server.ts';
import { startMetricsServer } from '../../../src/runtime/serving/metrics-server.ts';
import { registerProcessMetrics } from '../../../src/runtime/serving/process-metrics.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const servers: ListeningServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function started(registry = new Registry(), bindAddress = '127.0.0.1:0') {
  const log = new RecordingLogger();
  const server = await startMetricsServer({ bindAddress, registry, log });
  servers.push(server);
  return { log, server, url: `http://${server.address ?? ''}` };
}

describe('metrics server', () => {
  test('serves the text format 0.0.4', async () => {
    const registry = new Registry();
    new Gauge({ name: 'dustpan_x', help: 'X.', registers: [registry] }).set(3);
    const { url } = await started(registry);
    const response = await fetch(`${url}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await response.text()).toContain('dustpan_x 3\n');
  });

  test('logs one error if a metric cannot be collected', async () => {
    const registry = new Registry();
    const collect = (): void => {
      throw new Error('no');
    };
    new Gauge({ name: 'dustpan_bad', help: 'Bad.', registers: [registry], collect });
    const { url, log } = await started(registry);
    expect((await fetch(`${url}/metrics`)).status).toBe(500);
    const line = { level: 'error', message: 'request failed', fields: { server: 'metrics' } };
    expect(log.lines).toMatchObject([line]);
  });

  test.each(['0', ''])('bind address %j serves nothing', async (bindAddress) => {
    const { server } = await started(new Registry(), bindAddress);
    expect(server.address).toBeUndefined();
    await server.close();
  });

  test('reports an address in use in one line', async () => {
    const { server } = await started();
    const second: unknown = await started(new Registry(), server.address).catch((err: unknown) => err);
    expect(errorLine(second)).toMatch(
      /^serving metrics on 127\.0\.0\.1:\d+: listen EADDRINUSE: address already in use 127\.0\.0\.1:\d+$/,
    );
  });

  test('closes a keep-alive connection', async () => {
    const { server } = await started();
    const [host, port] = (server.address ?? '').split(':');
    const socket = connect(Number(port), host);
    socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    const ended = once(socket, 'close');
    await server.close();
    await ended;
  });
});

test('process metrics include the build', async () => {
  const registry = new Registry();
  registerProcessMetrics(registry, { version: '1.2.3', revision: 'abc' });
  const info = `dustpan_build_info{version="1.2.3",revision="abc",nodeversion="${process.version}"} 1`;
  expect(await registry.metrics()).toContain(info);
});

test('the event loop lag is 0 without a measurement', () => {
  expect(new EventLoopLag().takeMaxSeconds()).toBe(0);
});
