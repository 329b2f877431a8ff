import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { commandsOf } from '../../../../src/commands/cli/program.ts';
import { ran } from '../../../fakes/command-line.ts';
import { FakeSystem } from '../../../fakes/system.ts';

/** Accepts connections and never responds. */
let server: Server;
let sockets: Socket[];
let requested: string[];
let directory: string;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'dustpan-silent-'));
  writeFileSync(join(directory, 'config'), 'apiVersion: v1\nkind: Config\n');
  [sockets, requested] = [[], []];
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('data', (data) => requested.push(data.toString('latin1').split(/[ ?]/, 2).join(' ')));
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  rmSync(directory, { recursive: true });
});

const rows = [
  'plan',
  'plan --node=node-1',
  'plan --nodes',
  'why pod web/api',
  'why pod api',
  'why node node-1',
  'why image nginx',
  'why image nginx --node=node-1',
  'status',
  'status --installation',
  'top disk',
  'top nodes --node=node-1',
  'top pods -l app=web',
  'top workloads -A',
  'suggest',
  'report',
  'snapshot DIRECTORY',
];

test.each(rows)('%s: waits for --request-timeout once', async (line) => {
  const { port } = server.address() as AddressInfo;
  const words = line.replace('DIRECTORY', join(directory, 'snapshot')).split(' ');
  const { code, err } = await ran([
    ...words,
    `--server=http://127.0.0.1:${port}`,
    '--request-timeout=300ms',
    `--kubeconfig=${join(directory, 'config')}`,
  ]);
  expect(err).toMatch(/did not respond to GET \S+ within 0\.3 s/);
  expect(code).toBe(1);
  expect(new Set(requested).size).toBe(requested.length);
});

test('are all commands that reach the API server for a person', () => {
  const names = commandsOf(new FakeSystem())
    .filter(({ options }) => options.some(({ long }) => long === '--request-timeout'))
    .map((command) => command.name());
  expect(new Set(rows.map((row) => row.split(' ')[0]))).toEqual(new Set(names));
});
