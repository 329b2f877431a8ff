import { load } from 'js-yaml';
import { shapes } from './chart-shapes.mjs';

/**
 * values.yaml with its comments: a tree of { key, path, text, value, shape, children }. `# --` starts the text of the next key,
 * `# @type` names its shape, `# @schema` adds to it; a comment without them above a map is the text of that map.
 * Throws on a key without a text or a shape, and on values that are not one key per line.
 */
export function chartValues(source) {
  const root = { key: '', path: '', value: load(source), children: [] };
  const open = [{ node: root, indent: -1 }];
  let comments = [];
  for (const line of source.split('\n')) {
    const comment = /^\s*#\s?(.*)$/.exec(line);
    if (comment) comments.push(comment[1]);
    else if (line.trim() === '') comments = [];
    else {
      addKey(open, line, comments);
      comments = [];
    }
  }
  check(root);
  return root.children;
}

function addKey(open, line, comments) {
  const found = /^(\s*)([A-Za-z]\w*):(\s|$)/.exec(line);
  if (!found) throw new Error(`values.yaml: a key a line, lists and maps of Kubernetes in one: ${line}`);
  const [, { length: indent }, key] = found;
  while (open.at(-1).indent >= indent) open.pop();
  const parent = open.at(-1).node;
  const path = parent.path === '' ? key : `${parent.path}.${key}`;
  const node = { key, path, value: parent.value?.[key], children: [], ...readComments(path, comments) };
  parent.children.push(node);
  open.push({ node, indent });
}

function readComments(path, comments) {
  const typed = comments.filter((line) => line.startsWith('@type ')).map((line) => line.slice(6).trim());
  const added = comments
    .filter((line) => line.startsWith('@schema '))
    .map((line) => JSON.parse(line.slice(8)));
  const text = comments
    .filter((line) => !line.startsWith('@'))
    .map((line) => line.replace(/^-- /, ''))
    .join(' ')
    .trim();
  for (const name of typed) if (!(name in shapes)) throw new Error(`values.yaml: ${path}: no shape ${name}`);
  const given = [...typed.map((name) => shapes[name]), ...added];
  return { text, shape: given.length === 0 ? undefined : Object.assign({}, ...given) };
}

/** Verifies that every key of the file was read, and that each leaf has a text and a shape. */
function check({ path, value, children, shape, text }) {
  const isMap = children.length > 0 || path === '';
  const keys = isMap ? Object.keys(value ?? {}) : [];
  const seen = children.map(({ key }) => key);
  if (keys.join() !== seen.join()) throw new Error(`values.yaml: ${path}: ${keys} is not ${seen}`);
  if (!isMap && text === '') throw new Error(`values.yaml: ${path} has no text`);
  if (!isMap && shape?.type === undefined && !['string', 'boolean', 'number'].includes(typeof value))
    throw new Error(`values.yaml: ${path} does not show its shape: # @type`);
  children.forEach(check);
}

/** The leaves of a tree, in the file's order. */
export const leaves = (nodes) =>
  nodes.flatMap((node) => (node.children.length > 0 ? leaves(node.children) : [node]));
