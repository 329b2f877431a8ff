import { afterEach, describe, expect, test } from 'vitest';
import { eventLoopCheck } from '../../../src/runtime/serving/event-loop-lag.ts';
import { startHealthServer, type Check } from '../../../src/runtime/serving/health.ts';
import type { ListeningServer } from '../../../src/runtime/serving/http-server.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';

const good: Check = { name: 'podgc', check: () => undefined };
const bad: Check = { name: 'informers', check: () => 'pods not synced: secret detail' };
const broken: Check = {
  name: 'broken',
  check: () => {
    throw new Error('bug');
  },
};

const servers: ListeningServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function started({ live = [good], ready = [bad] }: { live?: Check[]; ready?: Check[] } = {}) {
  const log = new RecordingLogger();
  const server = await startHealthServer({ bindAddress: '127.0.0.1:0', live, ready, log });
  servers.push(server);
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`http://${server.address ?? ''}${path}`, { method });
    return { status: response.status, body: await response.text() };
  };
  return { log, get };
}

describe('health probes', () => {
  const unmatched = String.raw`no matches for "\u001b\u009b2J\n"`;
  test.each([
    ['/healthz', 200, 'ok'],
    ['/healthz/', 200, 'ok'],
    ['/healthz?verbose', 200, '[+]ping ok\n[+]podgc ok\nhealthz check passed\n'],
    ['/healthz/podgc', 200, 'ok'],
    ['/healthz/nothing', 404, 'not found\n'],
    ['/', 404, 'not found\n'],
    ['/readyz', 500, '[+]ping ok\n[-]informers failed: reason withheld\nreadyz check failed\n'],
    ['/readyz/informers', 500, '[-]informers failed: reason withheld\nreadyz/informers check failed\n'],
    ['/readyz/ping', 200, 'ok'],
    [
      '/readyz?verbose&exclude=informers&exclude=%1b%c2%9b2J%0a',
      200,
      `[+]ping ok\n[+]informers excluded: ok\nwarn: some health checks cannot be excluded: ${unmatched}\nreadyz check passed\n`,
    ],
  ])('%s', async (path, status, body) => {
    const { get } = await started();
    expect(await get(path)).toEqual({ status, body });
  });

  test.each([
    { probe: 'readyz', level: 'debug' },
    { probe: 'healthz', level: 'warn' },
  ])('the reason of a failed $probe is in the log, not in the response', async ({ probe, level }) => {
    const { get, log } = await started({ live: [bad] });
    expect((await get(`/${probe}`)).body).not.toContain('secret');
    const fields = { probe, check: 'informers', reason: 'pods not synced: secret detail' };
    expect(log.lines).toMatchObject([{ level, fields }]);
  });

  test('a check that throws fails', async () => {
    const { get } = await started({ live: [broken] });
    expect((await get('/healthz')).status).toBe(500);
  });

  test('HEAD has no body, POST is refused', async () => {
    const { get } = await started();
    expect(await get('/healthz', 'HEAD')).toEqual({ status: 200, body: '' });
    expect(await get('/healthz', 'POST')).toMatchObject({ status: 405 });
  });
});

describe('event loop check', () => {
  test.each([
    { seconds: 0.2, expected: undefined },
    { seconds: 12, expected: 'blocked for 12.0 s' },
  ])('$seconds s', ({ seconds, expected }) => {
    expect(eventLoopCheck({ takeMaxSeconds: () => seconds }, 10_000).check()).toBe(expected);
  });
});
