import { execFile } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** One replacement in a file of a Go module. */
export interface Patch {
  readonly file: string;
  /** Occurs in the file exactly once. */
  readonly from: string;
  readonly to: string;
}

/** Applies each patch below the folder; throws, naming the patch, where a text does not occur exactly once. */
function applyPatches(folder: string, patches: readonly Patch[]): void {
  for (const { file, from, to } of patches) {
    const path = join(folder, file);
    const [before, after, ...more] = readFileSync(path, 'utf8').split(from);
    if (before === undefined || after === undefined || more.length > 0) {
      const count = after === undefined ? 0 : more.length + 1;
      throw new Error(`${file} has ${JSON.stringify(from)} ${count} times, not once: look at it anew`);
    }
    writeFileSync(path, before + to + after);
  }
}

/** A module that is built with a patched copy of one that it requires. */
export interface PatchedModule extends Disposable {
  /** Arguments for `go install`. */
  readonly args: readonly string[];
}

interface Patching {
  /** The folder of the module that is built. */
  readonly folder: string;
  readonly module: string;
  readonly patches: readonly Patch[];
  readonly env: NodeJS.ProcessEnv;
}

/** Copies the required module from Go's cache and patches the copy; disposing the result removes the copy. */
export async function patchedModule({ folder, module, patches, env }: Patching): Promise<PatchedModule> {
  const dir = mkdtempSync(join(tmpdir(), 'dustpan-patched-'));
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  try {
    const copy = join(dir, 'module');
    mkdirSync(copy);
    const original = await downloaded(module, folder, env);
    // Files from Go's cache are read-only, which only root ignores.
    cpSync(original, copy, { recursive: true });
    applyPatches(copy, patches);
    copyFileSync(join(folder, 'go.sum'), join(dir, 'go.sum'));
    const lines = readFileSync(join(folder, 'go.mod'), 'utf8');
    writeFileSync(join(dir, 'go.mod'), `${lines}\nreplace ${module} => ${copy}\n`);
  } catch (err) {
    remove();
    throw err;
  }
  return { args: [`-modfile=${join(dir, 'go.mod')}`, '-mod=mod'], [Symbol.dispose]: remove };
}

/** The module's directory in Go's cache, in the version that go.mod requires. */
async function downloaded(module: string, folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], {
    cwd: folder,
    env,
  });
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir;
}
