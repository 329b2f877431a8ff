// npm run test:contract: the contract suite of kube against a real API server, if this machine has its programs: in KUBEBUILDER_ASSETS, on
// the PATH or in the test bed's cache. It needs no jail and no root: ports of 127.0.0.1 and directories are its own.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { findProgram } from '../cluster/programs/find.ts';
import { programsOf } from '../cluster/programs/parts.ts';
import { addSkipped } from './results.ts';

const suite = 'test/contract/kube/';
const needed = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'];
const found = programsOf(['etcd', 'api', 'kcm'])
  .filter(({ name }) => needed.includes(name))
  .map((program) => ({ name: program.name, path: findProgram(program, process.env) }));
const missing = found.filter(({ path }) => path === undefined).map(({ name }) => name);

if (process.env['DUSTPAN_REQUIRE_CLUSTER'] === '1') {
  process.stdout.write(`${suite} runs against a real API server in npm run test:all\n`);
} else if (missing.length > 0) {
  addSkipped(
    `${suite} against a real API server (${missing.join(', ')} missing; npm run test:all builds them)`,
  );
} else {
  process.exitCode = runSuite();
}

function runSuite(): number {
  const dir = mkdtempSync(join(tmpdir(), 'dustpan-contract-'));
  try {
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    for (const { name, path } of found) if (path !== undefined) symlinkSync(path, join(bin, name));
    const env = {
      ...process.env,
      BED_DIR: dir,
      DUSTPAN_BED_BIN: bin,
      PATH: [bin, process.env['PATH']].join(delimiter),
    };
    const args = ['run', '--project', 'cluster', suite];
    return spawnSync('vitest', args, { env, stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
