// @bed node
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { imageLayout, nodePath } from '../../../scripts/image/layout.ts';
import { dustpanImage } from '../../../scripts/image/dustpan-image.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { crictl, inspectedImage, runSandbox, type Sandbox } from '../node/crictl.ts';
import { make, type BuiltImage } from '../node/image.ts';
import { repositoryRoot } from '../repository.ts';

const root = repositoryRoot();
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
let cluster: Cluster;
let built: BuiltImage | undefined;
let sandbox: Sandbox;

beforeAll(async () => {
  cluster = await startCluster({ parts: ['ctd'] });
  [built] = await cluster.importImages([dustpanImage({ root })]);
  sandbox = await runSandbox(cluster, { name: 'image' });
});

/** The security context of both components in the chart, without the uid. */
const confined = {
  readonly_rootfs: true,
  no_new_privs: true,
  capabilities: { drop_capabilities: ['ALL'] },
  seccomp: { profile_type: 0 },
};
const asRoot = { run_as_user: { value: 0 }, run_as_group: { value: 0 } };

interface Run {
  readonly name: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly security?: object;
}

interface Ran {
  readonly exitCode: number;
  readonly output: string;
  readonly process: { readonly user: { readonly uid: number; readonly gid: number } } & Readonly<
    Record<string, unknown>
  >;
}

/** Runs a container of the image to its end. */
async function run(options: Run): Promise<Ran> {
  const id = await start(options);
  await expect.poll(async () => (await inspect(id)).status.state).toBe('CONTAINER_EXITED');
  const { status, info } = await inspect(id);
  return { exitCode: status.exitCode, output: logOf(options.name), process: info.runtimeSpec.process };
}

async function start({ name, command, args, security = {} }: Run): Promise<string> {
  const configFile = join(cluster.dir, `${name}.json`);
  const config = {
    metadata: { name, attempt: 0 },
    image: { image: `dustpan:${version}` },
    command,
    args,
    log_path: `${name}.log`,
    linux: { security_context: { ...confined, ...security } },
  };
  writeFileSync(configFile, JSON.stringify(config));
  const id = await crictl(cluster, 'create', '--no-pull', sandbox.id, configFile, sandbox.configFile);
  await crictl(cluster, 'start', id);
  return id;
}

interface Inspected {
  readonly status: { readonly state: string; readonly exitCode: number };
  readonly info: { readonly runtimeSpec: { readonly process: Ran['process'] } };
}

const inspect = async (id: string): Promise<Inspected> =>
  JSON.parse(await crictl(cluster, 'inspect', id)) as Inspected;

/** The messages of a CRI log, without time, stream and tag. */
function logOf(name: string): string {
  const file = join('/var/log/pods/default_image_uid-image', `${name}.log`);
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return lines.map((line) => line.replace(/^\S+ (stdout|stderr) [FP] /, '')).join('\n');
}

describe('the image that npm run image makes', () => {
  test("is reproducible, and has the chart's default name", async () => {
    expect(make(dustpanImage({ root })).built).toEqual(built);
    expect((await inspectedImage(cluster, `dustpan:${version}`)).id).toBe(built?.id);
  });

  test('runs as an ordinary user, on a read-only root, without capabilities', async () => {
    const { exitCode, output, process } = await run({ name: 'version', args: ['version'] });
    expect({ exitCode, output }).toMatchObject({
      exitCode: 0,
      output: expect.stringContaining(version) as string,
    });
    expect(`${process.user.uid}:${process.user.gid}`).toBe(imageLayout.user);
    expect(process).toMatchObject({
      args: [...imageLayout.entrypoint, 'version'],
      cwd: '/app',
      noNewPrivileges: true,
    });
    expect(Object.values(process['capabilities'] ?? {}).flat()).toEqual([]);
  });

  test('is not writable, even for root without capabilities', async () => {
    const script = "require('fs').writeFileSync('/app/dist/main.js', '')";
    for (const [name, security] of [
      ['write', {}],
      ['write-root', asRoot],
    ] as const) {
      const { exitCode, output } = await run({ name, command: [nodePath], args: ['-e', script], security });
      expect(exitCode, name).not.toBe(0);
      expect(output).toContain('EROFS');
    }
  });

  test('has no shell, and prints the commands when none is given', async () => {
    await expect(start({ name: 'shell', command: ['/bin/sh'] })).rejects.toThrow('/bin/sh');
    const { output } = await run({ name: 'bare' });
    expect(output).toContain('controller');
  });
});
