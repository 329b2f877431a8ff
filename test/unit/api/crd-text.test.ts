import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

// kubectl and Helm read YAML 1.1, where an unquoted Off is the boolean false.
test('no enum of a CRD has an unquoted word that YAML 1.1 reads as a boolean', () => {
  const files = readdirSync('crds').filter((name) => name.endsWith('.yaml'));
  const texts = files.map((name) => readFileSync(`crds/${name}`, 'utf8'));
  const lists = texts.flatMap((text) => [...text.matchAll(/(?:enum: \[|^ +- )(.*?)\]?$/gm)]);
  const words = lists.flatMap(([, list = '']) => list.split(',').map((word) => word.trim()));
  expect(words).toContain('Fits');
  expect(words.filter((word) => /^(y|n|yes|no|on|off)$/i.test(word))).toEqual([]);
});
