import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StartServer } from '../contract/server.ts';
import { startKubeletSandbox, type KubeletSandbox } from '../sandbox/kubelet/server.ts';
import { nodeAct } from './node-act.ts';
import { nodeName } from './node-mess.ts';
import { podAct } from './pod-act.ts';
import type { Program } from './program.ts';
import { bold, green, red, Screen } from './screen.ts';
import { storageAct } from './storage-act.ts';
import { stageOn, type Stage } from './stage.ts';

/** As a shell counts a program that was ended from the keyboard. */
const interrupted = 130;

/** What the demo does with its cluster; resolves with the exit code. */
export type Acts = (stage: Stage) => Promise<number>;

/** The demo from start to end; resolves with the exit code. */
export async function story(where: string, start: StartServer, acts: Acts): Promise<number> {
  const screen = new Screen();
  screen.say(`${bold('dustpan demo')}: a day's mess on ${where}, and how it is cleaned`);
  const server = await start();
  const directory = mkdtempSync(join(tmpdir(), 'dustpan-demo-'));
  const kubelet = await startKubelet(directory, server.token);
  const programs: Program[] = [];
  const ends: (() => void)[] = [];
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => (ending ??= tidyUp());
  const tidyUp = async (): Promise<void> => {
    await Promise.all(programs.map((program) => program.stop()));
    await kubelet?.stop();
    await server.stop();
    for (const act of ends.toReversed()) act();
    rmSync(directory, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void end().finally(() => process.exit(interrupted)));
  const stage = stageOn(server, {
    screen,
    kubelet,
    directory,
    started: (program) => {
      programs.push(program);
      return program;
    },
    atEnd: (act) => ends.push(act),
  });
  try {
    return await acts(stage);
  } catch (err) {
    if (ending !== undefined) return interrupted;
    screen.say(red(`the demo failed: ${String(err)}`));
    for (const program of programs) screen.say(program.lastWords());
    return 1;
  } finally {
    await end();
  }
}

/** A simulated kubelet with its certificate where the agent looks for it; undefined where there is none. */
async function startKubelet(directory: string, token: string): Promise<KubeletSandbox | undefined> {
  if (process.platform !== 'linux' || !hasOpenssl()) return undefined;
  const kubelet = await startKubeletSandbox({ nodeName, token });
  const pki = join(directory, 'kubelet/pki');
  mkdirSync(pki, { recursive: true });
  writeFileSync(join(pki, 'kubelet.crt'), kubelet.certificate.chain);
  return kubelet;
}

const hasOpenssl = (): boolean => spawnSync('openssl', ['version'], { stdio: 'ignore' }).status === 0;

/** Cleans the pods, then the node, then lets a volume fill up: 0 when exactly what should go went. */
export async function cleaning(stage: Stage): Promise<number> {
  const { screen } = stage;
  const went = [await podAct(stage), await nodeAct(stage), await storageAct(stage)];
  screen.say();
  if (!went.every(Boolean)) {
    screen.say(red('the demo failed: not everything went as it should'));
    return 1;
  }
  screen.say(green('all is as it should be: what was garbage is gone, what was in use is there'));
  return 0;
}
