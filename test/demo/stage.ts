import { readFileSync } from 'node:fs';
import { tokenCredentials } from '../../src/kube/auth/credentials.ts';
import { createTransport } from '../../src/kube/http/http-transport.ts';
import type { KubeTransport } from '../../src/kube/http/transport.ts';
import { systemClock } from '../../src/runtime/scheduling/clock.ts';
import type { ContractServer } from '../contract/server.ts';
import type { KubeletSandbox } from '../sandbox/kubelet/server.ts';
import { sender } from './fill.ts';
import type { Program } from './program.ts';
import type { Screen } from './screen.ts';

/** Every wait of the demo ends by then, well or badly. */
export const patienceMs = 90_000;

/** What the acts of the demo have in common. */
export interface Stage {
  readonly screen: Screen;
  readonly send: ReturnType<typeof sender>;
  readonly transport: KubeTransport;
  readonly signal: AbortSignal;
  readonly kubeconfig: string;
  /** kubectl sends a token only over TLS. */
  readonly takesKubectl: boolean;
  /** The kubelet of the node; undefined where it cannot run: not on Linux, or without openssl for its certificate. */
  readonly kubelet: KubeletSandbox | undefined;
  /** Its own, removed at the end. */
  readonly directory: string;
  /** Every program must be known here: it is stopped at the end. */
  readonly started: (program: Program) => Program;
  /** What is done at the end, the latest first. */
  readonly atEnd: (act: () => void) => void;
}

type Given = Pick<Stage, 'screen' | 'kubelet' | 'directory' | 'started' | 'atEnd'>;

/** A stage with this server for a cluster. */
export function stageOn(server: ContractServer, given: Given): Stage {
  const ca = server.caFile === undefined ? undefined : readFileSync(server.caFile);
  const transport = createTransport({
    endpoint: { server: server.url, tls: { ca } },
    auth: tokenCredentials(server.token),
    clock: systemClock,
  });
  const signal = AbortSignal.timeout(patienceMs * 4);
  return {
    ...given,
    send: sender(transport, signal),
    transport,
    signal,
    kubeconfig: server.kubeconfigFile,
    takesKubectl: ca !== undefined,
  };
}
