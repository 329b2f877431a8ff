import { storedSchema, walk } from './schema.mjs';

/** docs/reference/crd.md. */
export function reference(crds) {
  const intro = [
    '# API reference',
    '',
    '<!-- Made from crds/*.yaml by npm run generate. Do not edit. -->',
    '',
    'The same texts as `kubectl explain`. A block without a default is off when it is absent; an empty block (`{}`) is on, with the defaults of its',
    'fields. Durations are those of Go, such as `90s` or `1h30m`, with weeks and days before them: `7d`, `1d12h`. A day has 24 hours.',
  ];
  return `${[...intro, ...crds.flatMap(({ crd }) => kindSection(crd))].join('\n')}\n`;
}

function kindSection(crd) {
  const { group, names, scope, versions } = crd.spec;
  const schema = storedSchema(crd);
  const { name: version } = versions.find(({ storage }) => storage);
  const head = ['', `## ${names.kind}`, '', schema.description, ''];
  const facts = `\`apiVersion: ${group}/${version}\`, scope ${scope}, \`kubectl get ${[names.plural, ...names.shortNames].join('|')}\`.`;
  return [
    ...head,
    facts,
    ...['spec', 'status'].flatMap((part) => partSection(part, schema.properties[part])),
  ];
}

function partSection(part, schema) {
  if (schema === undefined) return [];
  const rows = [...walk(schema, part)].slice(1).map(row);
  return [
    '',
    `### ${part}`,
    '',
    schema.description,
    '',
    '| Field | Type | Default | Allowed | |',
    '|---|---|---|---|---|',
    ...rows,
  ];
}

function row({ schema, path }) {
  const cells = [`\`${path}\``, typeOf(schema), defaultOf(schema), allowed(schema), schema.description];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}

function typeOf(schema) {
  if (schema.type === 'array') return `list of ${schema.items.type}`;
  return schema.additionalProperties === undefined
    ? schema.type
    : `map of ${schema.additionalProperties.type}`;
}

const defaultOf = (schema) => ('default' in schema ? `\`${JSON.stringify(schema.default)}\`` : '');

function allowed(schema) {
  const {
    enum: words,
    minimum,
    maximum,
    maxLength,
    minLength = 0,
    maxItems,
    maxProperties,
    pattern,
    format,
  } = schema;
  const rules = (schema['x-kubernetes-validations'] ?? []).map(({ fieldPath = '', message }) =>
    `${fieldPath.slice(1)} ${message}`.trim(),
  );
  const facts = [
    words?.map((word) => `\`${word}\``).join(', '),
    format === 'date-time' ? 'RFC 3339' : undefined,
    minimum === undefined ? undefined : `${minimum} to ${maximum}`,
    maxLength === undefined
      ? undefined
      : `${minLength === 0 ? 'at most' : `${minLength} to`} ${maxLength} characters`,
    maxItems === undefined ? undefined : `at most ${maxItems}`,
    maxProperties === undefined ? undefined : `at most ${maxProperties}`,
    pattern === undefined ? undefined : `\`${pattern}\``,
    ...rules,
  ];
  return facts.filter((fact) => fact !== undefined).join('; ');
}
