import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

const lowest = 20_000;
const span = 10_000;
/** A part may bind its port much later, or again. */
const given = new Set<number>();

/**
 * Free ports of 127.0.0.1, none of them given before, below those the kernel gives to clients:
 * a client that retries while a server is down could otherwise be given the very port, and connect to itself.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers: Server[] = [];
  const ports: number[] = [];
  while (ports.length < count) {
    const port = lowest + Math.floor(Math.random() * span);
    const server = given.has(port) ? undefined : await listen(port);
    if (!server) continue;
    given.add(port);
    servers.push(server);
    ports.push(port);
  }
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}

async function listen(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}
