// npm run build [-- --metafile=FILE]: one ESM entry, the agent's thread and their chunks into dist/; each face (controller, agent, …) loads only what it runs.
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const { metafile } = parseArgs({ options: { metafile: { type: 'string' } } }).values;
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const revision = gitRevision();
rmSync('dist', { recursive: true, force: true });
/**
 * The policy operator's frame loads the whole of client-node and an HTTP client, and its constructor opens a kubeconfig and a queue: 21 MiB
 * resident. src/kube/cache/operator.ts overrides everything that would use them, so the bundle has these in their place.
 */
const frameOnly = {
  name: 'frame-only',
  setup({ onResolve, onLoad }) {
    const parts = {
      '@kubernetes/client-node':
        'exports.KubeConfig = class KubeConfig { loadFromDefault() {} makeApiClient() {} };',
      gaxios: '',
      async: 'exports.queue = () => undefined;',
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

/**
 * Of client-node we run what reads a kubeconfig and gets its credentials. The generated classes of every kind of the API, which the package's
 * index loads beside it, would cost 19 MiB resident; only KubeConfig.makeApiClient needs them, and only the dispatchers of fetch need undici: nobody
 * calls those.
 */
const kubeconfigOnly = {
  name: 'kubeconfig-only',
  setup({ onResolve, onLoad }) {
    const dist = dirname(createRequire(import.meta.url).resolve('@kubernetes/client-node'));
    const parts = {
      './gen/index.js': 'export class ServerConfiguration {} export function createConfiguration() {}',
      './middleware.js': 'export function setHeaderMiddleware() {}',
      undici: 'export class Agent {} export class ProxyAgent {}',
    };
    onResolve({ filter: /^@kubernetes\/client-node$/ }, ({ importer }) =>
      importer.endsWith('/src/kube/auth/kubeconfig.ts') ? { path: join(dist, 'config.js') } : undefined,
    );
    onResolve({ filter: /^(\.\/gen\/index\.js|\.\/middleware\.js|undici)$/ }, ({ importer, path }) =>
      importer === join(dist, 'config.js') ? { path, namespace: 'kubeconfig-only' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'kubeconfig-only' }, ({ path }) => ({ contents: parts[path] }));
  },
};

/**
 * Of the libraries that every face loads we run a part; the rest would be read and parsed, and some of it run, in each process.
 * Winston's index loads every transport and format and a copy of Node's own streams, prom-client's the push gateway and clusters;
 * grpc-js reads .proto files only to serve channelz, which is off. What we begin to use of them must be named here: else it is undefined.
 */
const usedOnly = {
  name: 'used-only',
  setup({ onResolve, onLoad }) {
    const parts = {
      winston: `
        exports.createLogger = require('winston/lib/winston/create-logger');
        exports.format = require('logform/format');
        exports.transports = { Console: require('winston/lib/winston/transports/console') };`,
      'prom-client': `
        exports.collectDefaultMetrics = require('prom-client/lib/defaultMetrics');
        exports.Registry = require('prom-client/lib/registry');
        exports.Counter = require('prom-client/lib/counter');
        exports.Gauge = require('prom-client/lib/gauge');
        exports.Histogram = require('prom-client/lib/histogram');`,
      // What it does itself when READABLE_STREAM=disable is in the environment.
      'readable-stream': "module.exports = require('stream');",
      'readable-stream/lib/_stream_writable.js': "module.exports = require('stream').Writable;",
      '@grpc/proto-loader': '',
    };
    const filter =
      /^(winston|prom-client|readable-stream(\/lib\/_stream_writable\.js)?|@grpc\/proto-loader)$/;
    onResolve({ filter }, ({ path }) => ({ path, namespace: 'used-only' }));
    onLoad({ filter: /.*/, namespace: 'used-only' }, ({ path }) => ({
      contents: parts[path],
      resolveDir: process.cwd(),
    }));
  },
};

const { metafile: facts } = await build({
  plugins: [frameOnly, kubeconfigOnly, usedOnly],
  metafile: true,
  entryPoints: { main: 'src/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node22',
  // Names stay as they are: people read stack traces, and keeping names beside short ones (`keepNames`) is a call for each function at start.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  define: {
    __DUSTPAN_VERSION__: JSON.stringify(version),
    __DUSTPAN_REVISION__: JSON.stringify(revision),
    'process.env.NODE_ENV': '"production"',
  },
  banner: {
    js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
chmodSync('dist/main.js', 0o755);
if (metafile !== undefined) writeFileSync(metafile, JSON.stringify(facts));

function gitRevision() {
  // Where there is no repository, such as in the Dockerfile, the caller knows.
  if (process.env.DUSTPAN_REVISION) return process.env.DUSTPAN_REVISION;
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return 'unknown';
  }
}
