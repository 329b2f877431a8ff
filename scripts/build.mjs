// npm run build: one ESM entry and its chunks into dist/. With --splitting each face (controller, agent, …) loads only what it runs.
import { build } from 'esbuild';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { execFileSync } from 'node:child_process';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const revision = gitRevision();
rmSync('dist', { recursive: true, force: true });
/**
 * Of the policy operator's frame we run its event queue alone. What the rest of it loads at import (the whole of client-node, an HTTP client)
 * would cost 21 MiB resident, so the bundle leaves it out; src/kube/operator.ts overrides everything that would use it.
 */
const frameOnly = {
  name: 'frame-only',
  setup({ onResolve, onLoad }) {
    const parts = {
      '@kubernetes/client-node': 'exports.KubeConfig = class KubeConfig {};',
      gaxios: '',
      async: "exports.queue = require('async/queue');",
    };
    onResolve({ filter: /^(@kubernetes\/client-node|gaxios|async)$/ }, ({ path, importer }) =>
      importer.includes('@dot-i/k8s-operator') ? { path, namespace: 'frame-only' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'frame-only' }, ({ path }) => ({
      contents: parts[path],
      resolveDir: process.cwd(),
    }));
  },
};

await build({
  plugins: [frameOnly],
  entryPoints: { main: 'src/cli/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  minify: true,
  keepNames: true,
  legalComments: 'none',
  logLevel: 'warning',
  define: { __DUSTPAN_VERSION__: JSON.stringify(version), __DUSTPAN_REVISION__: JSON.stringify(revision) },
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
chmodSync('dist/main.js', 0o755);

function gitRevision() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return 'unknown';
  }
}
