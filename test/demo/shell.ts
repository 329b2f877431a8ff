import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { GCPolicy } from '../../src/api/gen/gcpolicy.gen.ts';
import { policiesPath, reportsPath, until, type Context } from './context.ts';
import { startNode } from './node.ts';
import { startPods } from './pods.ts';
import { bold, dim, print } from './screen.ts';

const commands = [
  'dustpan status',
  'dustpan plan --kept',
  'dustpan why pod ci/finished-ci-runners-03',
  'dustpan why image registry.example.com/ci/build:2',
  'dustpan snapshot ./snapshot',
];
const kubectlCommands = [
  'kubectl get gcpolicies,nodegcreports -o wide',
  `kubectl patch gcpolicy default --type merge -p '{"spec":{"mode":"Enforce"}}'`,
];

/** Opens a shell on the same cluster and node, with controller and agent in DryRun; resolves when the shell exits. */
export async function shell(context: Context): Promise<number> {
  const { directory, send } = context;
  await startPods(context);
  const node = process.platform === 'linux' ? await startNode(context) : undefined;
  await until('status can show the pods and the node', async () => {
    const { status } = (await send('GET', `${policiesPath}/default`)) as Pick<GCPolicy, 'status'>;
    const { items } = await send('GET', reportsPath);
    return (status?.pods !== undefined && (items as unknown[]).length > 0) || node === undefined || undefined;
  });
  print(`${bold('a shell')} on this cluster and its node node-a, all in DryRun; exit ends it`);
  const path = process.env['PATH'] ?? '';
  const hasKubectl = path.split(delimiter).some((place) => existsSync(join(place, 'kubectl')));
  const note = ['kubectl is not on the PATH; with it you can also change policies and pods'];
  for (const line of [...commands, ...(hasKubectl ? kubectlCommands : note)]) print(dim(`  ${line}`));
  const bin = join(directory, 'bin');
  mkdirSync(bin);
  for (const name of ['dustpan', 'kubectl-dustpan', 'kubectl_complete-dustpan'])
    symlinkSync(join(process.cwd(), 'dist/main.js'), join(bin, name));
  // Not synchronously: this process also is the container runtime.
  const child = spawn(process.env['SHELL'] ?? 'sh', {
    stdio: 'inherit',
    env: {
      ...{ ...process.env, ...(node ?? context).env, PATH: [bin, path].join(delimiter) },
      // kubectl keeps the discovered APIs there, by default in the user's home.
      KUBECACHEDIR: join(directory, 'kubectl'),
    },
  });
  await once(child, 'exit');
  return 0;
}
