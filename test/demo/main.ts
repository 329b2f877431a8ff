import { join } from 'node:path';
import { inJail } from '../cluster/run.ts';
import { cannotRun } from '../cluster/jail/requirements.ts';
import { hasOwnMounts, withOwnMounts } from '../sandbox/node/own-mounts.ts';
import { shellAct } from './shell-act.ts';
import { cleaning, story, type Acts } from './story.ts';

const usage = 'usage: npm run demo [-- [--real] [--shell]]\n';
const flags = process.argv.slice(2);
const self = [process.execPath, join(process.cwd(), 'test/demo/main.ts'), ...flags];
const acts: Acts = flags.includes('--shell') ? shellAct : cleaning;

if (flags.some((flag) => flag !== '--real' && flag !== '--shell')) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else {
  process.exitCode = flags.includes('--real') ? await real() : await builtIn();
}

/** A process that may mount shows more; where there is none, this one does. */
async function builtIn(): Promise<number> {
  const code = hasOwnMounts() ? undefined : await withOwnMounts(self);
  if (code !== undefined) return code;
  const { startSandbox } = await import('../sandbox/server.ts');
  return story('the built-in API server', startSandbox, acts);
}

/** The real API server runs in a jail; inside it this same program starts it. */
async function real(): Promise<number> {
  if (process.env['DUSTPAN_BED_BIN'] !== undefined) {
    const { startContractCluster } = await import('../cluster/servers/contract.ts');
    return story('a real kube-apiserver with etcd', startContractCluster, acts);
  }
  const reason = cannotRun(['etcd', 'api']);
  if (reason !== undefined) {
    process.stderr.write(`demo: the real API server cannot run here: ${reason}\n`);
    return 1;
  }
  return inJail(self, { parts: ['etcd', 'api'] });
}
