import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LeanConnections } from '../../../src/kube/http-lean-connections.ts';

let server: Server;
let accepted: Socket[];
let connections: LeanConnections;

beforeEach(async () => {
  accepted = [];
  server = createServer((socket) => {
    accepted.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  connections = new LeanConnections(() => connect({ host: '127.0.0.1', port, timeout: 100 }));
});

afterEach(async () => {
  connections.close();
  server.close();
  await once(server, 'close');
});

const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const ask = async (): Promise<number> => (await connections.take().exchange('x', 'X')).status;
/** Of the connection that was used first. */
const closed = async (): Promise<unknown> => once(accepted[0] ?? server, 'close');

test('what comes unasked ends the connection, and is nobody’s answer', async () => {
  await ask();
  const ended = closed();
  accepted[0]?.write('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n');
  await ended;
  expect(await ask()).toBe(200);
  expect(accepted).toHaveLength(2);
});

test('one that the server closes while it is idle is not used again', async () => {
  await ask();
  accepted[0]?.end();
  await closed();
  expect(await ask()).toBe(200);
  expect(accepted).toHaveLength(2);
});

test('one that is idle for long is given back', async () => {
  await ask();
  await closed();
});

test('after its certificates have changed none is kept, and what is under way ends well', async () => {
  const under = connections.take().exchange('x', 'X');
  connections.retire();
  expect((await under).status).toBe(200);
  await closed();
});

test('closing breaks what is under way', async () => {
  const under = connections.take().exchange('x', 'X');
  connections.close();
  await expect(under).rejects.toThrow('socket hang up');
});

test('answers are those of their own requests, however many go at once', async () => {
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (asked) => {
      setTimeout(
        () => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${asked.length}\r\n\r\n${String(asked)}`),
        Math.random() * 5,
      );
    });
  });
  const echoed = Array.from({ length: 200 }, async (_, i) => {
    const { body } = await connections.take().exchange(`request ${i}`, 'X');
    return body.toString();
  });
  expect(await Promise.all(echoed)).toEqual(Array.from({ length: 200 }, (_, i) => `request ${i}`));
});
