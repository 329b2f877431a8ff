import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tokenCredentials } from '../../src/kube/auth/credentials.ts';
import { createTransport } from '../../src/kube/http/http-transport.ts';
import { systemClock } from '../../src/runtime/scheduling/clock.ts';
import type { ContractServer, StartServer } from '../contract/server.ts';
import { startKubeletSandbox, type KubeletSandbox } from '../sandbox/kubelet/server.ts';
import { Program } from './program.ts';
import { bold, print, red } from './screen.ts';

/** What the parts of the demo share. */
export interface Context {
  /** Sends a request as an administrator and resolves with the object in the response. */
  readonly send: (
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ) => Promise<Record<string, unknown>>;
  /** For every dustpan of the demo. */
  readonly env: Readonly<Record<string, string>>;
  /** undefined where the simulated kubelet cannot run: it needs Linux. */
  readonly kubelet: KubeletSandbox | undefined;
  /** Removed at the end. */
  readonly directory: string;
  /** Starts the controller or the agent, which is stopped at the end, with a pass each second. */
  readonly start: (args: readonly string[], env: Readonly<Record<string, string>>) => Program;
  /** Registers a cleanup; the last one runs first. */
  readonly atEnd: (cleanup: () => void) => void;
}

export const policiesPath = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';
export const reportsPath = '/apis/gc.dustpan.dev/v1alpha1/nodegcreports';
export const nodeName = 'node-a';

const timeoutMs = 90_000;

/** Reads until there is a value, and resolves with it. */
export async function until<T>(what: string, read: () => Promise<T | undefined>): Promise<T> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    if (Date.now() > deadlineMs) throw new Error(`still not so after ${timeoutMs / 1_000} s: ${what}`);
    await sleep(200);
  }
}

/** The exit code of a program that was ended from the keyboard. */
const interrupted = 130;

/** What the demo does in its cluster; resolves with the exit code. */
export type Run = (context: Context) => Promise<number>;

/** Starts the servers, runs the demo and removes everything; resolves with the exit code. */
export async function demo(where: string, startServer: StartServer, run: Run): Promise<number> {
  print(`${bold('dustpan demo')}: dustpan cleans up pods and a node, on ${where}`);
  const server = await startServer();
  const directory = mkdtempSync(join(tmpdir(), 'dustpan-demo-'));
  const kubelet = await startKubelet(directory, server.token);
  const programs: Program[] = [];
  const cleanups: (() => void)[] = [];
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => (ending ??= cleanUp());
  const cleanUp = async (): Promise<void> => {
    await Promise.all(programs.map((program) => program.stop()));
    await kubelet?.stop();
    await server.stop();
    for (const cleanup of cleanups.toReversed()) cleanup();
    rmSync(directory, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void end().finally(() => process.exit(interrupted)));
  const start: Context['start'] = (args, env) => {
    const program = new Program(args, join(directory, `${args[0] ?? ''}.log`), env);
    programs.push(program);
    return program;
  };
  const env = { KUBECONFIG: server.kubeconfigFile };
  const atEnd = (cleanup: () => void): unknown => cleanups.push(cleanup);
  try {
    return await run({ send: sender(server), env, kubelet, directory, start, atEnd });
  } catch (err) {
    if (ending !== undefined) return interrupted;
    print(red(`the demo failed: ${String(err)}`));
    for (const program of programs) print(program.lastLines);
    return 1;
  } finally {
    await end();
  }
}

function sender(server: ContractServer): Context['send'] {
  const ca = server.caFile === undefined ? undefined : readFileSync(server.caFile);
  const transport = createTransport({
    endpoint: { server: server.url, tls: { ca } },
    auth: tokenCredentials(server.token),
    clock: systemClock,
  });
  const signal = AbortSignal.timeout(timeoutMs * 4);
  return async (method, path, body) => {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await transport.send({ method, path, body, contentType, retries: 3 }, signal);
    return JSON.parse(response.body.toString()) as Record<string, unknown>;
  };
}

/** A simulated kubelet, with its certificate where the agent reads it. */
async function startKubelet(directory: string, token: string): Promise<KubeletSandbox | undefined> {
  if (process.platform !== 'linux') return undefined;
  const kubelet = await startKubeletSandbox({ nodeName, token });
  const pki = join(directory, 'kubelet/pki');
  mkdirSync(pki, { recursive: true });
  writeFileSync(join(pki, 'kubelet.crt'), kubelet.certificate.chain);
  return kubelet;
}
