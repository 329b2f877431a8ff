import { compile } from 'json-schema-to-typescript';
import { decodedName } from '../../src/api/policy/decode.ts';
import { closedSchema, decodingOf, storedSchema } from './schema.mjs';

const metadata = `{ name: string; uid?: string; generation?: number; resourceVersion?: string; labels?: Record<string, string>; annotations?: Record<string, string>; creationTimestamp?: string; ownerReferences?: { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean; blockOwnerDeletion?: boolean }[] }`;

/** TypeScript of one kind before defaulting: fields with defaults are optional. */
export async function types(source, crd) {
  const { kind } = crd.spec.names;
  const { properties, ...rest } = storedSchema(crd);
  const root = {
    ...rest,
    properties: { ...properties, metadata: { description: 'Standard object metadata.', tsType: metadata } },
  };
  const text = await interfaces(
    root,
    kind,
    `// @ts-nocheck\n// Made from ${source} by npm run generate. Do not edit.`,
  );
  // A field that is not known may be written as undefined.
  return `${withUndefined(text)}\n${fitOf(kind, properties.status)}`;
}

const withUndefined = (text) => text.replace(/\?: (.*);$/gm, '?: $1 | undefined;');

/** The functions that write and read a status by its schema. */
const fitOf = (kind, status) => `import { fitted } from '../report/fit.ts';
import { readable } from '../report/read.ts';
const statusSchema = ${JSON.stringify(closedSchema(status))};

/** Cuts a status to the bounds of the CRD. */
export const fitStatus: <S extends ${kind}Status>(status: S) => S = (status) => fitted(status, statusSchema);

/** Reads a status; what the CRD refuses is absent. */
export const readStatus = (json: unknown): ${kind}Status => readable(json, statusSchema) ?? {};
`;

/** TypeScript of a value after defaulting and decoding (src/api/policy/decode.ts): readonly, and fields with defaults are required. */
export async function decodedTypes(schema, name) {
  const text = await interfaces(decoded(schema), name, '');
  return withUndefined(text)
    .replace(/^( +)((?:\w+|'[^']+')\??: )/gm, '$1readonly $2')
    .replace(/([\w']+|\([^()]*\))\[\]/g, 'readonly $1[]');
}

const interfaces = (schema, name, bannerComment) =>
  compile(named(schema, name), name, {
    bannerComment,
    additionalProperties: false,
    ignoreMinAndMaxItems: true,
    style: { singleQuote: true, printWidth: 110 },
  });

function decoded({ required = [], properties, items, ...rest }) {
  const decoding = decodingOf(rest);
  if (decoding !== undefined)
    return {
      description: rest.description,
      tsType: decoding === 'quantity' ? 'number | undefined' : 'number',
    };
  const fields = Object.entries(properties ?? {});
  const defaulted = fields.filter(([, field]) => 'default' in field).map(([name]) => name);
  return {
    ...rest,
    required: [...required, ...defaulted].map((name) => decodedName(name, decodingOf(properties[name]))),
    ...(items && { items: decoded(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        fields.map(([name, field]) => [decodedName(name, decodingOf(field)), decoded(field)]),
      ),
    }),
  };
}

/** Names every object by its path, so that code can import its type; drops keywords of validation. */
function named(schema, title) {
  const {
    type,
    description,
    enum: words,
    required,
    items,
    properties,
    additionalProperties,
    tsType,
  } = schema;
  if (tsType !== undefined) return { description, tsType };
  const plain = { type, description, ...(words && { enum: words }), ...(required && { required }) };
  if (items !== undefined) return { ...plain, items: named(items, singular(title)) };
  if (type !== 'object') return plain;
  if (additionalProperties !== undefined)
    return { ...plain, additionalProperties: named(additionalProperties, `${title}Value`) };
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [
    name,
    named(field, title + capital(name)),
  ]);
  return { ...plain, title, properties: Object.fromEntries(fields) };
}

const capital = (name) => name[0].toUpperCase() + name.slice(1);
const singular = (title) => (title.endsWith('s') ? title.slice(0, -1) : `${title}Item`);
