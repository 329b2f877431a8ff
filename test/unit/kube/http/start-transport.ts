import { afterEach } from 'vitest';
import { tokenCredentials } from '../../../../src/kube/auth/credentials.ts';
import type { Credentials } from '../../../../src/kube/http/endpoint.ts';
import {
  createTransport,
  type ApiCall,
  type HttpTransport,
} from '../../../../src/kube/http/http-transport.ts';
import type { KubeRequest } from '../../../../src/kube/http/transport.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FaultServer, type Respond } from './fault-server.ts';

interface TestTransport {
  readonly server: FaultServer;
  readonly url: string;
  readonly clock: FakeClock;
  readonly transport: HttpTransport;
  readonly calls: ApiCall[];
}

interface Options {
  readonly auth?: Credentials;
  /** Below which the server is reached. */
  readonly path?: string;
  readonly qps?: number;
  readonly burst?: number;
}

/** A transport and its server, which sends the responses. Both are closed after the test. */
export async function startTransport(
  responses: Respond | readonly Respond[],
  { path = '', ...options }: Options = {},
): Promise<TestTransport> {
  const server = new FaultServer(...[responses].flat());
  const url = await server.start();
  const clock = new FakeClock();
  const calls: ApiCall[] = [];
  const transport = createTransport({
    endpoint: { server: `${url}${path}` },
    auth: tokenCredentials('t'),
    clock,
    random: () => 0.5,
    metrics: (call) => calls.push(call),
    ...options,
  });
  endings.push(
    () => server.stop(),
    () => {
      transport.close();
    },
  );
  return { server, url, clock, transport, calls };
}

const endings: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

export const never = new AbortController().signal;
export const get: KubeRequest = { method: 'GET', path: '/api/v1/pods' };
/** A read and a deletion: retries and faults are tested for both. */
export const methods = ['GET', 'DELETE'] as const;
