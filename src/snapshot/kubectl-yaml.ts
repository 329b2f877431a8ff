import { CORE_SCHEMA, Type } from 'js-yaml';

/** YAML as kubectl reads it: times stay texts, and `<<: *anchor` merges. */
export const kubectlYaml = CORE_SCHEMA.extend({
  implicit: [new Type('tag:yaml.org,2002:merge', { kind: 'scalar', resolve: (key) => key === '<<' })],
});
