import { readFile } from 'node:fs/promises';
import { tokenCredentials } from '../../src/kube/credentials.ts';
import { createTransport, type HttpTransport } from '../../src/kube/http-transport.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import type { ContractServer } from './server.ts';

/** Our transport to a server under test, as its administrator or with another token. */
export async function contractTransport(server: ContractServer, token = server.token): Promise<HttpTransport> {
  const tls = server.caFile === undefined ? {} : { tls: { ca: await readFile(server.caFile) } };
  const endpoint = { server: server.url, ...tls };
  return createTransport({ endpoint, auth: tokenCredentials(token), clock: systemClock });
}
