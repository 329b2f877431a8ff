import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { build, type Built } from '../build.ts';

let built: Built;
let facts: Metafile;

beforeAll(() => {
  built = build();
  const place = dirname(dirname(built.main));
  const file = join(place, 'meta.json');
  execFileSync(process.execPath, [join(process.cwd(), 'scripts', 'build.mjs'), `--metafile=${file}`], {
    cwd: place,
  });
  facts = JSON.parse(readFileSync(file, 'utf8')) as Metafile;
});
afterAll(() => built.remove());

/** The modules that the chunk of `entry` loads through these kinds of import. */
function modulesOf(entry: string, kinds: readonly string[]): string[] {
  const chunk = Object.keys(facts.outputs).find((name) => facts.outputs[name]?.entryPoint?.endsWith(entry));
  const queue = [chunk ?? ''];
  const seen = new Set<string>();
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    const imports = facts.outputs[name]?.imports ?? [];
    queue.push(
      ...imports
        .filter(({ kind, external }) => external !== true && kinds.includes(kind))
        .map(({ path }) => path),
    );
  }
  return [...seen].flatMap((name) => Object.keys(facts.outputs[name]?.inputs ?? {}));
}

test('no chunk imports a module of Node: that would load what dustpan never uses, such as undici', () => {
  const ofNode = Object.values(facts.outputs)
    .filter(({ entryPoint }) => entryPoint?.endsWith('src/main.ts') !== true)
    .flatMap(({ imports }) => imports)
    .filter(({ path }) => isBuiltin(path));
  expect(ofNode.map(({ path }) => path)).toEqual(expect.arrayContaining(['node:http', 'node:tls']));
  expect(ofNode.filter(({ kind }) => kind !== 'require-call')).toEqual([]);
});

test('every chunk is ASCII: V8 keeps a text with one other character in two bytes for each', () => {
  const folder = dirname(built.main);
  const chunks = readdirSync(folder).filter((file) => file.endsWith('.js'));
  expect(chunks.length).toBeGreaterThan(10);
  const read = (file: string): Buffer => readFileSync(join(folder, file));
  expect(chunks.filter((file) => read(file).some((byte) => byte > 127))).toEqual([]);
});

const atOnce = ['import-statement'];
const agent = 'src/daemon/agent/agent.ts';

test.each([
  {
    name: 'the command line loads no other command: the agent has their options, not their code',
    entry: 'src/dustpan.ts',
    loaded: /src\/commands\/plan\/command\.ts/,
    never: /src\/(agent|controllers|kube|cri|snapshot)\/|winston|prom-client/,
  },
  {
    name: 'the agent loads neither the operator nor client-node nor any controller module',
    entry: agent,
    loaded: /src\/agent\/imagegc\/manager\.ts/,
    never:
      /k8s-operator|client-node|js-yaml|src\/(controllers\/|commands\/controller\/(controller|units|metrics)\.ts)/,
  },
  {
    name: 'the agent in a pod does not load the reader of kubeconfigs, which runs plugins',
    entry: agent,
    loaded: /src\/kube\/auth\/load\.ts/,
    never: /src\/kube\/auth\/(kubeconfig|exec-plugin)/,
  },
  {
    name: 'a kubeconfig does not load the generated API classes',
    entry: agent,
    kinds: [...atOnce, 'dynamic-import'],
    loaded: /client-node\/dist\/config\.js/,
    never: /client-node\/dist\/(gen\/|index|api\.)|k8s-operator/,
  },
])('$name', ({ entry, kinds = atOnce, loaded, never }) => {
  const modules = modulesOf(entry, kinds);
  expect(modulesOf('src/daemon/controller/controller.ts', atOnce).join('\n')).toContain(
    '@dot-i/k8s-operator',
  );
  expect(modules.join('\n')).toMatch(loaded);
  expect(modules.filter((module) => never.test(module))).toEqual([]);
});
