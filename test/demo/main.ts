import { join } from 'node:path';
import { inJail } from '../cluster/run.ts';
import { cannotRun } from '../cluster/requirements.ts';
import { hasOwnMounts, withOwnMounts } from '../sandbox/node/own-mounts.ts';
import { story } from './story.ts';

const usage = 'usage: npm run demo [-- --real]\n';
const [flag, ...rest] = process.argv.slice(2);

if (rest.length > 0 || (flag !== undefined && flag !== '--real')) {
  process.stderr.write(usage);
  process.exitCode = 2;
} else if (flag === undefined) {
  process.exitCode = await builtIn();
} else {
  process.exitCode = await real();
}

/** A process that may mount shows more; where there is none, this one does. */
async function builtIn(): Promise<number> {
  const here = [
    process.execPath,
    join(process.cwd(), 'scripts/run.mjs'),
    join(process.cwd(), 'test/demo/main.ts'),
  ];
  const code = hasOwnMounts() ? undefined : await withOwnMounts(here);
  if (code !== undefined) return code;
  const { startSandbox } = await import('../sandbox/server.ts');
  return story('the built-in API server', startSandbox);
}

/** The real API server runs in a jail; inside it this same program starts it. */
async function real(): Promise<number> {
  if (process.env['DUSTPAN_BED_BIN'] !== undefined) {
    const { startContractCluster } = await import('../cluster/contract.ts');
    return story('a real kube-apiserver with etcd', startContractCluster);
  }
  const reason = cannotRun(['etcd', 'api']);
  if (reason !== undefined) {
    process.stderr.write(`demo: the real API server cannot run here: ${reason}\n`);
    return 1;
  }
  const root = process.cwd();
  return inJail(
    [process.execPath, join(root, 'scripts/run.mjs'), join(root, 'test/demo/main.ts'), '--real'],
    {
      parts: ['etcd', 'api'],
    },
  );
}
