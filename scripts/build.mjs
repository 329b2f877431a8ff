// npm run build [-- --metafile=FILE --single=FILE]: bundles src/main.ts into dist/, in chunks, so that each command loads only what it runs;
// with --single into one file, for an executable. Beside it is THIRD-PARTY.txt: the licences of the bundled packages, and of Node.
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { licences } from './bundled-packages.ts';

const { metafile, single } = parseArgs({
  options: { metafile: { type: 'string' }, single: { type: 'string' } },
}).values;
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const revision = gitRevision();
/**
 * The policy operator's library loads all of client-node and an HTTP client, and its constructor opens a kubeconfig and a queue: 21 MiB of
 * memory. src/kube/actions/operator.ts overrides everything that would use them, so the bundle replaces them by stubs.
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
 * dustpan uses only client-node's OIDC for kubeconfigs. The package's index also loads the generated classes of every kind,
 * 19 MiB of memory. Only KubeConfig.makeApiClient needs them, and only fetch dispatchers need undici: dustpan calls neither.
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
 * Libraries that every command loads, reduced to the used parts. Winston's index loads every transport and format and a copy of Node's streams,
 * prom-client's the push gateway and clusters; grpc-js reads .proto files only to serve channelz, which is off. Newly used parts must be added
 * here: otherwise they are undefined.
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
      // Its own behaviour with READABLE_STREAM=disable in the environment.
      'readable-stream': "module.exports = require('stream');",
      'readable-stream/lib/_stream_writable.js': "module.exports = require('stream').Writable;",
      '@grpc/proto-loader': '',
      // For exemplars, which dustpan's metrics do not have.
      '@opentelemetry/api': '',
    };
    const filter =
      /^(winston|prom-client|readable-stream(\/lib\/_stream_writable\.js)?|@grpc\/proto-loader|@opentelemetry\/api)$/;
    onResolve({ filter }, ({ path }) => ({ path, namespace: 'used-only' }));
    onLoad({ filter: /.*/, namespace: 'used-only' }, ({ path }) => ({
      contents: parts[path],
      resolveDir: process.cwd(),
    }));
  },
};

/**
 * Of a module of Node that is imported, not required, every lazy property is read, for the names of its exports: `http.WebSocket` loads undici,
 * `tls` parses its root certificates, `crypto` loads WebCrypto. dustpan uses none of them, and they are 4 MiB of memory.
 */
const requiredBuiltins = {
  name: 'required-builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /.*/ }, ({ path, kind, importer }) =>
      // What checks the version of Node loads no chunk before.
      kind === 'import-statement' && isBuiltin(path) && !importer.endsWith('/src/main.ts')
        ? { path, namespace: 'required-builtins' }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'required-builtins' }, ({ path }) => ({
      contents: `module.exports = require('${path}');`,
    }));
  },
};

const common = {
  metafile: true,
  plugins: [frameOnly, kubeconfigOnly, usedOnly, requiredBuiltins],
  bundle: true,
  platform: 'node',
  // Keeps names for readable stack traces; `keepNames` would cost a call per function at start.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
  define: {
    __DUSTPAN_VERSION__: JSON.stringify(version),
    __DUSTPAN_REVISION__: JSON.stringify(revision),
    'process.env.NODE_ENV': '"production"',
  },
};

if (single !== undefined) {
  // Node runs only CommonJS from an executable, without an await outside of functions. Its Node is new enough: src/main.ts, which checks that, is left out.
  const stdin = { contents: "void import('./dustpan.ts');", resolveDir: 'src' };
  writeFacts(
    dirname(single),
    await build({ ...common, stdin, outfile: single, format: 'cjs', target: 'node24' }),
  );
} else {
  rmSync('dist', { recursive: true, force: true });
  const built = await build({
    ...common,
    entryPoints: { main: 'src/main.ts' },
    outdir: 'dist',
    splitting: true,
    format: 'esm',
    target: 'node22',
    banner: {
      js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  chmodSync('dist/main.js', 0o755);
  writeFacts('dist', built);
}

function writeFacts(folder, { metafile: facts }) {
  Object.keys(facts.outputs).forEach(writeAsAscii);
  writeFileSync(join(folder, 'THIRD-PARTY.txt'), licences(facts));
  if (metafile !== undefined) writeFileSync(metafile, JSON.stringify(facts));
}

/** V8 keeps a text with one other character in two bytes for each. Only literals of regular expressions have them: esbuild escapes all others. */
function writeAsAscii(file) {
  const text = readFileSync(file, 'utf8');
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  writeFileSync(file, text.replace(/[^\0-\x7f]/g, escaped));
}

function gitRevision() {
  // Without a repository, as in the Dockerfile, the caller sets it.
  if (process.env.DUSTPAN_REVISION) return process.env.DUSTPAN_REVISION;
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
  } catch {
    return 'unknown';
  }
}
