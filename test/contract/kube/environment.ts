import { afterAll } from 'vitest';
import type { HttpTransport } from '../../../src/kube/http/http-transport.ts';
import type { User } from '../../cluster/servers/cluster.ts';
import { contractServer, startCrdCluster } from '../../cluster/servers/contract.ts';
import { startSandbox } from '../../sandbox/server.ts';
import { isReal } from '../project.ts';
import type { ContractServer } from '../server.ts';
import { contractTransport, Objects } from './objects.ts';

interface TestServer extends ContractServer {
  tokenOf(user: string): string;
}

interface Environment {
  readonly server: TestServer;
  /** The administrator's connection. */
  readonly transport: HttpTransport;
  readonly objects: Objects;
}

interface EnvironmentOptions {
  readonly users?: readonly Required<Pick<User, 'name' | 'rules'>>[];
}

/** Starts an API server of this project, with dustpan's CRDs, for the tests of one file. */
export async function startEnvironment(options: EnvironmentOptions = {}): Promise<Environment> {
  const server = isReal ? await startReal(options) : await startInProcess(options);
  const transport = await contractTransport(server);
  afterAll(async () => {
    transport.close();
    await server.stop();
  });
  const objects = new Objects(transport);
  await objects.start();
  return { server, transport, objects };
}

async function startReal({ users = [] }: EnvironmentOptions): Promise<TestServer> {
  const cluster = await startCrdCluster({ users });
  return { ...contractServer(cluster), tokenOf: (user) => cluster.token(user) };
}

async function startInProcess({ users = [] }: EnvironmentOptions): Promise<TestServer> {
  const tokenOf = (name: string): string => `token-of-${name}`;
  const sandbox = await startSandbox({
    users: users.map((user) => ({ ...user, token: tokenOf(user.name) })),
  });
  return { ...sandbox, tokenOf };
}
