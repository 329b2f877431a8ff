import { expect, test } from 'vitest';
import { UsageError } from '../../../../src/process/exit.ts';
import { formatted } from '../../../../src/process/output.ts';
import { missingField, printerOf, type Template } from '../../../../src/process/template.ts';

const containers = [
  { name: 'main', image: 'nginx:1', ports: [{ containerPort: 80 }, { containerPort: 443 }] },
  { name: 'side', image: 'busybox', ports: undefined },
  { name: 'log', image: 'fluent' },
];
const pod = {
  kind: 'Pod',
  metadata: { name: 'web', labels: { 'a-b': 'c', 'app.kubernetes.io/name': 'web' } },
  spec: { containers, priority: 5, hostNetwork: false, nodeName: null },
};

// kubectl 1.32 prints the same of this pod (kubectl annotate --local -o), but for null, which is <nil> there.
test.each([
  ['{.kind}', 'Pod'],
  ['kind is {.kind}', 'kind is Pod'],
  ['{ $.kind }{@.kind}', 'PodPod'],
  ['{.spec.containers[*].name}', 'main side log'],
  ['{.spec.containers[0].name}{.spec.containers[-1].name}', 'mainlog'],
  ['{.spec.containers[0:2].name}', 'main side'],
  ['{.spec.containers[-1:].name}{.spec.containers[:-1].name}', 'logmain side'],
  [
    '{range .spec.containers[*]}{.name}{"\\t"}{.image}{"\\n"}{end}',
    'main\tnginx:1\nside\tbusybox\nlog\tfluent\n',
  ],
  [
    '{range .spec.containers[*]}[{.name}: {range .ports[*]}{.containerPort},{end}] {end}',
    '[main: 80,443,] [side: ] [log: ] ',
  ],
  ["{.metadata.labels['a-b']}{.metadata.labels.a-b}", 'cc'],
  ['{.metadata.labels.app\\.kubernetes\\.io/name}', 'web'],
  ["{.metadata.labels['app\\.kubernetes\\.io/name']}", 'web'],
  ['{..image}', 'nginx:1 busybox fluent'],
  ['{.spec.containers[?(@.name=="side")].image}', 'busybox'],
  ["{.spec.containers[?(@.name!='side')].name}", 'main log'],
  ['{.spec.containers[?(@.ports)].name}', 'main'],
  ['{.spec.containers[*].ports[?(@.containerPort>100)].containerPort}', '443'],
  ['{.spec.containers[*].ports[?(@.containerPort<=80)].containerPort}', '80'],
  ['{.nothing}{.spec.nothing.more}{.spec.containers.name}', ''],
  ['{.metadata.labels.*}', 'c web'],
  ['{.spec.containers[*].ports}', '[{"containerPort":80},{"containerPort":443}]'],
  ['{.spec.priority} {.spec.hostNetwork} {.spec.nodeName}', '5 false null'],
  ['{"a\\"b"}{\'x"y\'}{"}"}', 'a"bx"y}'],
])('jsonpath=%s', (template, expected) => {
  expect(printerOf(`jsonpath=${template}`)(pod, true)).toBe(expected);
});

test.each<readonly [template: Template, missing: string | undefined]>([
  ['jsonpath={.items[0].kind}', 'items'],
  ['jsonpath=kind{"\\n"}{range .items[*]}{.kind}{end}', 'items'],
  ['jsonpath={ $.items }', 'items'],
  ['jsonpath={.kind}{.items}', undefined],
  ['jsonpath={range ..containers[*]}{.name}{end}', undefined],
  ["jsonpath={['items']}", undefined],
  ['jsonpath={"{.items}"}{.kind}', undefined],
  ['custom-columns=A:.items', undefined],
])('%s begins with a field that is not there: %s', (template, missing) => {
  expect(missingField(template, pod)).toBe(missing);
});

test('a field that is not there is a warning, which names those that are', async () => {
  const warnings: string[] = [];
  const stderr = (text: string): number => warnings.push(text);
  const text = await formatted('jsonpath={.items[0].name}', { kind: 'Plan', decisions: [] }, () => '', {
    stderr,
  });
  expect(text).toBe('');
  expect(warnings).toEqual(['dustpan: warning: -o: the JSON has no field items; it has kind, decisions\n']);
});

test('control characters of values are escaped, those of the template are not', () => {
  expect(printerOf('jsonpath={.a}{"\\n"}')({ a: 'x\u001b[31m\n' }, true)).toBe('x\\u001b[31m\\n\n');
});

test.each([
  [
    'an entry of a list for each row',
    { items: [{ a: 1 }, { b: { c: 'x' } }] },
    'A       B\n1       <none>\n<none>  x\n',
  ],
  ['the removals of a plan', { decisions: [{ a: 'x' }], totals: [] }, 'A  B\nx  <none>\n'],
  ['null', { items: [{ a: null, b: { c: [1, 2] } }] }, 'A     B\nnull  [1,2]\n'],
  ['a value without a list', { a: 'x' }, 'A  B\nx  <none>\n'],
  ['no entries', { items: [] }, 'A  B\n'],
  ['a list that is not known', { nodes: null }, 'A  B\n'],
])('columns: %s', (_, value, expected) => {
  const print = printerOf('custom-columns=A:.a,B:{.b.c}');
  expect(print(value, true)).toBe(expected);
  expect(print(value, false)).toBe(expected.split('\n').slice(1).join('\n'));
});

const bad: readonly Template[] = [
  'jsonpath=',
  'jsonpath=.kind',
  'jsonpath={.kind',
  'jsonpath={}',
  'jsonpath={.kind .name}',
  'jsonpath={.items[}',
  'jsonpath={.items[]}',
  'jsonpath={.items[name]}',
  "jsonpath={.items['a','b']}",
  'jsonpath={.items[?(@.a=~"b")]}',
  'jsonpath={.items[?(@.a==b)]}',
  'jsonpath={"\\x"}',
  'jsonpath={range .items}{.name}',
  'jsonpath={end}',
  'custom-columns=',
  'custom-columns=A',
  'custom-columns=A:',
  'custom-columns=A:.a,',
  'custom-columns=A:.a[',
];
test.each(bad)('-o %s is refused in one line', (template) => {
  expect(() => printerOf(template)).toThrow(UsageError);
  expect(() => printerOf(template)).toThrow(/^-o: .+/);
});
