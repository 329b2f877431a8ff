import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GCPolicy } from '../../src/api/gen/gcpolicy.gen.ts';
import { setScene, startAgent } from './node-act.ts';
import { nodeName } from './node-mess.ts';
import type { Scene } from './node-scene.ts';
import { makeMess, startController } from './pod-act.ts';
import { bold, dim } from './screen.ts';
import { patienceMs, type Stage } from './stage.ts';

const commandNames = ['dustpan', 'kubectl-dustpan', 'kubectl_complete-dustpan'];

/** The same mess with controller and agent beside it, both in DryRun, and a shell in which every command finds them; until it ends. */
export async function shellAct(stage: Stage): Promise<number> {
  await makeMess(stage);
  stage.started(startController(stage));
  const scene = process.platform === 'linux' ? await setScene(stage) : undefined;
  if (scene) stage.started(startAgent(stage, scene));
  await counted(stage, scene !== undefined);
  introduce(stage);
  // The runtime is simulated in this very process: it must go on answering.
  const child = spawn(process.env['SHELL'] ?? 'sh', { stdio: 'inherit', env: environment(stage, scene) });
  await once(child, 'exit');
  return 0;
}

/** Until `status` has something to show of pods and, with an agent, of its node; who waits for a shell gets it in any case. */
async function counted({ transport, signal }: Stage, hasAgent: boolean): Promise<void> {
  const get = async (what: string): Promise<unknown> => {
    const path = `/apis/gc.dustpan.dev/v1alpha1/${what}`;
    const { body } = await transport.send({ method: 'GET', path }, signal);
    return JSON.parse(body.toString());
  };
  const until = Date.now() + patienceMs;
  while (Date.now() < until) {
    const policy = (await get('gcpolicies/default')) as GCPolicy;
    const { items } = (await get('nodegcreports')) as { readonly items: readonly unknown[] };
    if (policy.status?.pods !== undefined && (items.length > 0 || !hasAgent)) return;
    await sleep(200);
  }
}

function introduce({ screen, takesKubectl }: Stage): void {
  screen.say(`${bold('a shell')} on this cluster and its node node-a, all in DryRun; exit ends it`);
  for (const line of [
    'dustpan status',
    'dustpan plan --kept',
    'dustpan why pod ci/finished-ci-runners-03',
    'dustpan why image registry.example.com/ci/build:2',
    'dustpan snapshot ./snapshot',
    ...(takesKubectl ? [`kubectl patch gcpolicy default --type merge -p '{"spec":{"mode":"Enforce"}}'`] : []),
  ])
    screen.say(dim(`  ${line}`));
}

function environment({ kubeconfig, kubelet, directory }: Stage, scene: Scene | undefined): NodeJS.ProcessEnv {
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  for (const name of commandNames) symlinkSync(join(process.cwd(), 'dist/main.js'), join(bin, name));
  const path = [bin, process.env['PATH']].join(delimiter);
  const cluster = { ...process.env, PATH: path, KUBECONFIG: kubeconfig };
  if (scene === undefined) return cluster;
  return {
    ...cluster,
    NODE_NAME: nodeName,
    DUSTPAN_CRI_SOCKET: scene.cri.socket,
    DUSTPAN_STATE_DIR: scene.path('state'),
    DUSTPAN_POD_LOGS_DIR: scene.path('pods'),
    DUSTPAN_CONTAINER_LOGS_DIR: scene.path('containers'),
    DUSTPAN_KUBELET_ROOT_DIR: scene.path('kubelet'),
    ...(kubelet && { DUSTPAN_KUBELET_ENDPOINT: kubelet.endpoint }),
  };
}
