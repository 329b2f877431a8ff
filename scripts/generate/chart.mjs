import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { load } from 'js-yaml';
import { crdTemplate } from './chart-crds.mjs';
import { chartReadme } from './chart-readme.mjs';
import { chartSchema } from './chart-schema.mjs';
import { chartValues } from './chart-values.mjs';

const chart = 'helm/dustpan';

/** The files of the chart that are generated from values.yaml and crds/, by path. */
export function chartFiles(root, crds) {
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const values = chartValues(read(`${chart}/values.yaml`));
  return {
    [`${chart}/values.schema.json`]: `${JSON.stringify(chartSchema(values), undefined, 2)}\n`,
    [`${chart}/README.md`]: chartReadme(read('scripts/generate/chart-readme.md'), values),
    ...Object.fromEntries(
      crds.map(({ source }) => [
        `${chart}/templates/crds/${basename(source)}`,
        crdTemplate(source, read(source)),
      ]),
    ),
  };
}

/** A line for each version in Chart.yaml that differs from the program's. */
export function chartComplaints(root) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return [chart, `${chart}-policies`].flatMap((folder) => {
    const facts = load(readFileSync(join(root, folder, 'Chart.yaml'), 'utf8'));
    return ['version', 'appVersion']
      .filter((field) => facts[field] !== version)
      .map((field) => `${folder}/Chart.yaml: ${field} is ${facts[field]}, package.json has ${version}`);
  });
}
