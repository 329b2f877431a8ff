import { readFileSync } from 'node:fs';
import { tokenCredentials } from '../../src/kube/auth/credentials.ts';
import { createTransport } from '../../src/kube/http/http-transport.ts';
import { systemClock } from '../../src/runtime/scheduling/clock.ts';
import type { ContractServer } from '../contract/server.ts';
import type { KubeletSandbox } from '../sandbox/kubelet/server.ts';
import type { Program } from './program.ts';
import type { Screen } from './screen.ts';

/** The limit of each wait of the demo. */
export const timeoutMs = 90_000;

/** What the parts of the demo share. */
export interface Context {
  readonly screen: Screen;
  /** Sends a request as an administrator and resolves with the object in the response. */
  readonly send: (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ) => Promise<Record<string, unknown>>;
  /** For every dustpan of the demo. */
  readonly env: { readonly KUBECONFIG: string };
  /** undefined where the simulated kubelet cannot run: it needs Linux. */
  readonly kubelet: KubeletSandbox | undefined;
  /** Removed at the end. */
  readonly directory: string;
  /** Registers a program, which is stopped at the end. */
  readonly started: (program: Program) => Program;
  /** Registers a cleanup; the last one runs first. */
  readonly atEnd: (cleanup: () => void) => void;
}

type Given = Pick<Context, 'screen' | 'kubelet' | 'directory' | 'started' | 'atEnd'>;

export function contextOn(server: ContractServer, given: Given): Context {
  const ca = server.caFile === undefined ? undefined : readFileSync(server.caFile);
  const transport = createTransport({
    endpoint: { server: server.url, tls: { ca } },
    auth: tokenCredentials(server.token),
    clock: systemClock,
  });
  const signal = AbortSignal.timeout(timeoutMs * 4);
  return {
    ...given,
    send: async (method, path, body) => {
      const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
      const response = await transport.send({ method, path, body, contentType, retries: 3 }, signal);
      return JSON.parse(response.body.toString()) as Record<string, unknown>;
    },
    env: { KUBECONFIG: server.kubeconfigFile },
  };
}

export const policiesPath = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';
