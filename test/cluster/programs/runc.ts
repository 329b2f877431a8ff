import type { Patch } from './patched-module.ts';

const file = 'libcontainer/seccomp/seccomp_unsupported.go';

/** Seccomp profiles in a runc that is built without libseccomp: our own code compiles and loads them. */
export const seccompPatches: readonly Patch[] = [
  { file, from: '\t"errors"\n', to: '\t"errors"\n\n\t"dustpan.dev/test/runc/filter"\n' },
  { file, from: '\t\treturn -1, ErrSeccompNotEnabled\n', to: '\t\treturn -1, filter.Load(config)\n' },
  { file, from: 'const Enabled = false\n', to: 'const Enabled = true\n' },
];
