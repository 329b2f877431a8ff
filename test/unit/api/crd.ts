import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';
import { isObject } from '../../../src/api/json.ts';

/** A YAML file of the repository, one object. */
export function yamlObject(path: string): object {
  const object = load(readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8'));
  if (!isObject(object)) throw new Error(`${path} holds no object`);
  return object;
}

export const gcPolicyCrd = yamlObject('crds/gc.dustpan.dev_gcpolicies.yaml');
export const nodeGcReportCrd = yamlObject('crds/gc.dustpan.dev_nodegcreports.yaml');
