import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StartServer } from '../contract/server.ts';
import { startKubeletSandbox, type KubeletSandbox } from '../sandbox/kubelet/server.ts';
import { contextOn, type Context } from './context.ts';
import { forecastPart } from './forecast.ts';
import { nodeName } from './node/objects.ts';
import { nodePart } from './node/part.ts';
import { podPart } from './pods/part.ts';
import type { Program } from './program.ts';
import { bold, green, red, Screen } from './screen.ts';
import { storagePart } from './storage.ts';

/** The exit code of a program that was ended from the keyboard. */
const interrupted = 130;

/** What the demo does in its cluster; resolves with the exit code. */
export type Run = (context: Context) => Promise<number>;

/** Starts the servers, runs the demo and removes everything; resolves with the exit code. */
export async function demo(where: string, startServer: StartServer, run: Run): Promise<number> {
  const screen = new Screen();
  screen.print(`${bold('dustpan demo')}: dustpan cleans up pods and a node, on ${where}`);
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
  const started = (program: Program): Program => {
    programs.push(program);
    return program;
  };
  const atEnd = (cleanup: () => void): unknown => cleanups.push(cleanup);
  try {
    return await run(contextOn(server, { screen, kubelet, directory, started, atEnd }));
  } catch (err) {
    if (ending !== undefined) return interrupted;
    screen.print(red(`the demo failed: ${String(err)}`));
    for (const program of programs) screen.print(program.lastLines());
    return 1;
  } finally {
    await end();
  }
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

/** Cleans up the pods, then the node, then lets a volume and a disk fill up; 0 if every object had the expected outcome. */
export async function allParts(context: Context): Promise<number> {
  const { screen } = context;
  const results = [
    await podPart(context),
    await nodePart(context),
    await storagePart(context),
    await forecastPart(context),
  ];
  screen.print();
  if (!results.every(Boolean)) {
    screen.print(red('the demo failed: not every object had the expected outcome'));
    return 1;
  }
  screen.print(green('all is as it should be: the garbage is gone, everything in use is there'));
  return 0;
}
