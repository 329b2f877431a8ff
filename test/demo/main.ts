import { join } from 'node:path';
import { inJail } from '../cluster/run.ts';
import { cannotRun } from '../cluster/jail/requirements.ts';
import { hasOwnMounts, withOwnMounts } from '../sandbox/node/own-mounts.ts';
import { demo, type Context, type Run } from './context.ts';
import { nodePart } from './node.ts';
import { podPart } from './pods.ts';
import { green, print, red } from './screen.ts';
import { shell } from './shell.ts';

const usage = 'usage: npm run demo [-- [--real] [--shell]]\n';
const flags = process.argv.slice(2);
const self = [process.execPath, join(process.cwd(), 'test/demo/main.ts'), ...flags];
const run: Run = flags.includes('--shell') ? shell : allParts;

if (flags.some((flag) => flag !== '--real' && flag !== '--shell')) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  process.exitCode = flags.includes('--real') ? await real() : await builtIn();
}

/** Cleans up the pods, then the node, whose disk then fills up; 0 if every object had the expected outcome. */
async function allParts(context: Context): Promise<number> {
  const results = [await podPart(context), await nodePart(context)];
  print();
  if (!results.every(Boolean)) {
    print(red('the demo failed: not every object had the expected outcome'));
    return 1;
  }
  print(green('all is as it should be: the garbage is gone, everything in use is there'));
  return 0;
}

/** Runs in a process that may mount the disk of the images; without such a process, in this one. */
async function builtIn(): Promise<number> {
  const code = hasOwnMounts() ? undefined : await withOwnMounts(self);
  if (code !== undefined) return code;
  const { startSandbox } = await import('../sandbox/server.ts');
  return demo('the built-in API server', () => startSandbox({ tls: true }), run);
}

/** The real API server runs in a jail: this program starts itself there. */
async function real(): Promise<number> {
  if (process.env['DUSTPAN_BED_BIN'] !== undefined) {
    const { startContractCluster } = await import('../cluster/servers/contract.ts');
    return demo('a real kube-apiserver with etcd', startContractCluster, run);
  }
  const reason = cannotRun(['etcd', 'api']);
  if (reason !== undefined) {
    process.stderr.write(`demo: the real API server cannot run here: ${reason}\n`);
    return 1;
  }
  return inJail(self, { parts: ['etcd', 'api'] });
}
