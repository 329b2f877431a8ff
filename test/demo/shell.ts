import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GCPolicy } from '../../src/api/gen/gcpolicy.gen.ts';
import { policiesPath, timeoutMs, type Context } from './context.ts';
import { startAgent, startNode } from './node/setup.ts';
import { preparePods, startController } from './pods/part.ts';
import { bold, dim } from './screen.ts';

const commandNames = ['dustpan', 'kubectl-dustpan', 'kubectl_complete-dustpan'];

/** Opens a shell on the same cluster and node, with controller and agent in DryRun; resolves when the shell exits. */
export async function shell(context: Context): Promise<number> {
  await preparePods(context);
  context.started(startController(context));
  const node = process.platform === 'linux' ? await startNode(context) : undefined;
  if (node) context.started(startAgent(context, node));
  await firstStatus(context, node !== undefined);
  introduce(context);
  // Not synchronously: this process also is the container runtime.
  const child = spawn(process.env['SHELL'] ?? 'sh', {
    stdio: 'inherit',
    env: {
      ...{ ...process.env, ...(node ?? context).env, PATH: pathWithCommands(context) },
      // kubectl keeps the discovered APIs there, by default in the user's home.
      KUBECACHEDIR: join(context.directory, 'kubectl'),
    },
  });
  await once(child, 'exit');
  return 0;
}

/** Waits until `status` can show the pods and, with an agent, its node; after a timeout the shell starts anyway. */
async function firstStatus({ send }: Context, hasAgent: boolean): Promise<void> {
  const deadlineMs = Date.now() + timeoutMs;
  while (Date.now() < deadlineMs) {
    const { status } = (await send('GET', `${policiesPath}/default`)) as Pick<GCPolicy, 'status'>;
    const { items } = await send('GET', '/apis/gc.dustpan.dev/v1alpha1/nodegcreports');
    if (status?.pods !== undefined && ((items as unknown[]).length > 0 || !hasAgent)) return;
    await sleep(200);
  }
}

const kubectlCommands = [
  'kubectl get gcpolicies,nodegcreports -o wide',
  'kubectl get pods -n ci -l app=ci-runner',
  `kubectl patch gcpolicy default --type merge -p '{"spec":{"mode":"Enforce"}}'`,
];

function introduce({ screen }: Context): void {
  screen.print(`${bold('a shell')} on this cluster and its node node-a, all in DryRun; exit ends it`);
  for (const line of [
    'dustpan status',
    'dustpan plan --kept',
    'dustpan why pod ci/finished-ci-runners-03',
    'dustpan why image registry.example.com/ci/build:2',
    'dustpan snapshot ./snapshot',
    ...(hasKubectl()
      ? kubectlCommands
      : ['kubectl is not on the PATH; with it you can also change policies and pods']),
  ])
    screen.print(dim(`  ${line}`));
}

const hasKubectl = (): boolean =>
  (process.env['PATH'] ?? '').split(delimiter).some((place) => existsSync(join(place, 'kubectl')));

function pathWithCommands({ directory }: Context): string {
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  for (const name of commandNames) symlinkSync(join(process.cwd(), 'dist/main.js'), join(bin, name));
  return [bin, process.env['PATH']].join(delimiter);
}
