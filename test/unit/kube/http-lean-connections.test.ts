import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { LeanConnections } from '../../../src/kube/http-lean-connections.ts';

let server: Server;
let accepted: Socket[];
let connections: LeanConnections;
let port: number;

beforeEach(async () => {
  accepted = [];
  server = createServer((socket) => {
    accepted.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  connections = new LeanConnections(() => connect({ host: '127.0.0.1', port }));
});

afterEach(async () => {
  connections.close();
  server.close();
  await once(server, 'close');
});

const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const send = async (text: string): Promise<string> => {
  const connection = connections.take();
  const { body } = await connection.exchange(text, 'X');
  connection.release();
  return body.toString();
};
const ask = (): Promise<string> => send('x');
/** Of the connection that was used first. */
const closed = async (): Promise<unknown> => once(accepted[0] ?? server, 'close');

test('what comes unasked ends the connection, and is nobody’s answer', async () => {
  await ask();
  const ended = closed();
  accepted[0]?.write('HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n');
  await ended;
  await ask();
  expect(accepted).toHaveLength(2);
});

test('one that the server closes while it is idle is not used again', async () => {
  await ask();
  accepted[0]?.end();
  await closed();
  await ask();
  expect(accepted).toHaveLength(2);
});

test('one that is broken, which nobody has told yet, is not used again', async () => {
  const first = connections.take();
  await first.exchange('x', 'X');
  first.release();
  first.destroy();
  expect(connections.take()).not.toBe(first);
});

test('one that is idle for long is given back', async () => {
  connections = new LeanConnections(() => connect({ host: '127.0.0.1', port }).setTimeout(50));
  await ask();
  await closed();
});

test('after its certificates have changed none is kept, and what is under way ends well', async () => {
  const under = ask();
  connections.retire();
  await under;
  await closed();
});

test('closing breaks what is under way', async () => {
  const under = ask();
  connections.close();
  await expect(under).rejects.toThrow('socket hang up');
});

test('answers are those of their own requests, however many go at once', async () => {
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    accepted.push(socket);
    socket.on('data', (asked) => {
      const text = `HTTP/1.1 200 OK\r\ncontent-length: ${asked.length}\r\n\r\n${asked.toString()}`;
      setTimeout(() => socket.write(text), Math.random() * 5);
    });
  });
  const worker = async (_: unknown, first: number): Promise<void> => {
    for (let i = first; i < 200; i += 8) expect(await send(`request ${i}`)).toBe(`request ${i}`);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  expect(accepted).toHaveLength(8);
});
