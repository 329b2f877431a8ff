import { spawnSync } from 'node:child_process';
import { findProgram } from '../programs/find.ts';
import { programsOf, type Part } from '../programs/parts.ts';

/** Why this machine cannot run these parts; undefined when it can. */
export function cannotRun(parts: readonly Part[], env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (process.platform !== 'linux') return 'not Linux';
  if (process.getuid?.() !== 0) return 'not root';
  return missingCommand(parts, env) ?? namespacesRefused(env) ?? missingProgram(parts, env);
}

type Packages = Readonly<Record<string, string>>;

const always: Packages = {
  ip: 'iproute2',
  openssl: 'openssl',
  unshare: 'util-linux',
  setpriv: 'util-linux',
  flock: 'util-linux',
};
const ofPart: Readonly<Partial<Record<Part, Packages>>> = {
  ctd: { runc: 'runc', busybox: 'busybox-static', 'mkfs.ext4': 'e2fsprogs' },
  proxy: { iptables: 'iptables' },
};

function missingCommand(parts: readonly Part[], env: NodeJS.ProcessEnv): string | undefined {
  const needed = [always, ...parts.map((part) => ofPart[part] ?? {})].flatMap(Object.entries<string>);
  const missing = needed.find(([command]) => spawnSync(command, ['--version'], { env }).error !== undefined);
  if (missing) return `${missing[0]} missing: apt-get install ${missing[1]}`;
  return parts.includes('ctd') ? dynamicBusybox(env) : undefined;
}

/** Images hold nothing but the program. */
function dynamicBusybox(env: NodeJS.ProcessEnv): string | undefined {
  const { status } = spawnSync('ldd', ['/bin/busybox'], { env });
  return status === 0 ? '/bin/busybox is not static: apt-get install busybox-static' : undefined;
}

function namespacesRefused(env: NodeJS.ProcessEnv): string | undefined {
  const namespaces = ['--net', '--mount', '--pid', '--uts', '--ipc', '--fork', '--mount-proc'];
  const { status, stderr } = spawnSync('unshare', [...namespaces, 'true'], { env, encoding: 'utf8' });
  return status === 0 ? undefined : `no namespaces of its own: ${stderr.trim()}`;
}

function missingProgram(parts: readonly Part[], env: NodeJS.ProcessEnv): string | undefined {
  const missing = programsOf(parts).find((program) => !findProgram(program, env));
  const trouble = missing && goTrouble(env);
  return trouble && `${trouble} and no ${missing.name}`;
}

function goTrouble(env: NodeJS.ProcessEnv): string | undefined {
  const { stdout, error } = spawnSync('go', ['version'], { env, encoding: 'utf8' });
  if (error) return 'no go';
  const [version = 'go', major = '0', minor = '0'] = /go(\d+)\.(\d+)/.exec(stdout) ?? [];
  // `tool` lines in go.mod came with 1.24.
  return Number(major) * 1000 + Number(minor) < 1024 ? `${version} is older than go1.24` : undefined;
}
