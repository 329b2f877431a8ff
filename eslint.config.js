import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const imports = (...patterns) => ({ '@typescript-eslint/no-restricted-imports': ['error', { patterns }] });
const syntax = (...rules) => ({ 'no-restricted-syntax': ['error', ...rules] });

const noDefaultExport = { selector: 'ExportDefaultDeclaration', message: 'Use a named export.' };
const noSpreadLiteral = {
  selector: 'ObjectExpression > SpreadElement > ObjectExpression',
  message: 'Write the fields out: a spread literal turns off the check for misspelt properties.',
};
const noRestOfPod = {
  selector: "ObjectPattern > RestElement[argument.name='pod']",
  message: 'Name the fields: a rest pattern drops the getters of a PodRecord, such as its phase.',
};
const noAmbientTime = [
  {
    selector: "NewExpression[callee.name='Date'][arguments.length=0]",
    message: 'Take `now` as an argument, or use Clock.',
  },
  {
    selector: 'CallExpression[callee.name=/^set(Timeout|Interval)$/]',
    message: 'Use Clock.sleep or loop().',
  },
  {
    selector: "MemberExpression[object.name='Date'][property.name='now']",
    message: 'Take `now` as an argument, or use Clock.',
  },
];
const noAmbientEnvironment = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Only src/process/config.ts reads the environment.',
};
const decisionsArePure = [
  {
    selector: ':function[async=true]',
    message: 'Only controller.ts, manager.ts, act.ts and checks.ts may wait.',
  },
  {
    selector: 'ImportDeclaration[importKind!="type"][source.value=/(logger|clock|loop)/]',
    message: 'Decisions return facts; the caller logs and waits.',
  },
];

const typesOnly = {
  group: [
    '**/kube/**',
    '**/cri/**',
    '**/containerd/**',
    // Plain values.
    '!**/containerd/store.ts',
    '!**/containerd/graph.ts',
    '**/node/**',
    '**/snapshot/**',
    '@kubernetes/client-node',
    '@grpc/*',
    'node:*',
  ],
  allowTypeImports: true,
  message: 'Units take their I/O as a dependency.',
};
const wiring = {
  group: ['**/process/**', '**/evaluation/**', '**/daemon/**', '**/commands/**'],
  message: 'Units do not know what calls them.',
};
/** Forbids the folders of other units, of both daemons, except these. */
const otherUnits = (...allowed) => ({
  regex: `^\\.\\./(\\.\\./(agent|controllers)/)?(?!(${allowed.join('|')})/)[^./]+/`,
  message: 'Units import each other only along unitEdges (eslint.config.js).',
});
/** Which unit may import from which others: from the one that owns the concept. Without a circle. */
const unitEdges = {
  'agent/nodepressure': ['localstorage'],
  'agent/imagegc': ['nodepressure'],
  'agent/containergc': ['nodepressure'],
  'agent/usage': ['localstorage', 'nodepressure', 'imagegc', 'containergc', 'leftovers'],
  'agent/report': ['localstorage', 'nodepressure', 'imagegc', 'containergc', 'leftovers'],
  'controllers/eviction': ['localstorage', 'nodepressure'],
};

export default defineConfig(
  {
    ignores: [
      'dist',
      'coverage',
      '.cache',
      // Its packages are installed by its own step.
      'test/browser',
      'eslint.config.js',
      'scripts/**/*.mjs',
      'helm/**/*.mjs',
      '**/gen/**',
      '**/*.gen.ts',
    ],
  },
  tseslint.configs.strictTypeChecked,
  tseslint.configs.stylisticTypeChecked,
  { languageOptions: { parserOptions: { projectService: true } } },
  {
    rules: {
      complexity: ['error', { max: 12, variant: 'modified' }],
      'max-depth': ['error', 3],
      'max-params': ['error', 4],
      'max-lines': ['error', { max: 500, skipBlankLines: false }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-console': 'error',
      'no-warning-comments': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // @kubernetes/client-node declares API objects as classes but hands out plain JSON.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      ...syntax(noDefaultExport),
    },
  },
  {
    files: ['src/**'],
    ignores: ['src/runtime/scheduling/clock.ts'],
    rules: syntax(noDefaultExport, noSpreadLiteral, noRestOfPod, ...noAmbientTime, noAmbientEnvironment),
  },
  {
    files: ['src/process/config.ts'],
    rules: syntax(noDefaultExport, noSpreadLiteral, noRestOfPod, ...noAmbientTime),
  },

  // Dependency direction: runtime < api < gc < adapters < units < process < evaluation, daemon < commands.
  {
    files: ['src/runtime/**'],
    rules: imports({
      regex:
        '/(api|gc|kube|cri|containerd|node|snapshot|agent|controllers|process|evaluation|daemon|commands)/',
      message: 'runtime/ is leaf code.',
    }),
  },
  {
    files: ['src/api/**'],
    rules: imports({
      regex: '/(gc|kube|cri|containerd|node|snapshot|agent|controllers|process|evaluation|daemon|commands)/',
      message: 'api/ may import only runtime/.',
    }),
  },
  {
    files: ['src/gc/**'],
    rules: imports({
      regex: '/(kube|cri|containerd|node|snapshot|agent|controllers|process|evaluation|daemon|commands)/',
      message: 'gc/ may import only api/ and runtime/.',
    }),
  },
  {
    files: ['src/{kube,cri,containerd,node,snapshot}/**'],
    rules: imports({
      regex: '/(agent|controllers|process|evaluation|daemon|commands)/',
      message: 'Adapters do not know the units or the CLI.',
    }),
  },
  {
    files: ['src/process/**'],
    rules: imports({
      regex: '/(agent|controllers|evaluation|daemon|commands)/',
      message: 'process/ has only what every program needs.',
    }),
  },
  {
    files: ['src/evaluation/**'],
    rules: imports({
      regex: '/(daemon|commands)/',
      message: 'evaluation/ decides and explains; it shows nothing.',
    }),
  },
  {
    files: ['src/daemon/**'],
    rules: imports({ regex: '/(evaluation|commands)/', message: 'daemon/ is what the cluster runs.' }),
  },
  { files: ['src/{controllers,agent}/*/**'], rules: imports(typesOnly, wiring, otherUnits()) },
  ...Object.entries(unitEdges).map(([unit, allowed]) => ({
    files: [`src/${unit}/**`],
    rules: imports(typesOnly, wiring, otherUnits(...allowed)),
  })),
  {
    files: ['src/{controllers,agent}/*/**'],
    ignores: ['**/{controller,manager,act,checks}.ts'],
    rules: syntax(
      noDefaultExport,
      noSpreadLiteral,
      noRestOfPod,
      ...noAmbientTime,
      noAmbientEnvironment,
      ...decisionsArePure,
    ),
  },
  // Types that libraries infer from what is declared here.
  {
    files: [
      '**/metrics.ts',
      '**/metric-rows.ts',
      'src/{commands,daemon}/**/command.ts',
      'src/commands/cli/plan-options.ts',
      'src/process/{config,connection,option,output}.ts',
      'src/commands/{report/{data,sections,usage},status/view,top/rows}.ts',
    ],
    rules: { '@typescript-eslint/explicit-module-boundary-types': 'off' },
  },
  // One function that runs in a browser: it has the browser's timers, and cannot be split.
  {
    files: ['src/commands/report/page.ts'],
    rules: { 'max-lines-per-function': 'off', 'no-restricted-syntax': 'off' },
  },
  // One switch with a case for each reason.
  { files: ['src/**/words.ts'], rules: { 'max-lines-per-function': ['error', { max: 150 }] } },
  // A plugin inherits the environment of the user's shell, and the size of the thread pool is read from there.
  { files: ['src/kube/auth/exec-plugin.ts', 'src/main.ts'], rules: { 'no-restricted-syntax': 'off' } },
  { files: ['vitest.config.ts', 'test/mutants/vitest.config.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['test/**'],
    rules: {
      'max-lines-per-function': 'off',
      // A table of rows is one concept, however long.
      'max-lines': ['error', { max: 600 }],
      'no-restricted-properties': [
        'error',
        { object: 'vi', property: 'mock', message: 'Pass a fake instead.' },
        { object: 'vi', property: 'spyOn', message: 'Pass a fake instead.' },
      ],
    },
  },
);
