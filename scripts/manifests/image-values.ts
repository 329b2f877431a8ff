/** The location of the released image, as in the chart's values. */
interface ImageValues {
  readonly registry: string;
  readonly repository: string;
}

interface ReleasedImage extends ImageValues {
  /** '' = the tag is the chart's appVersion. */
  readonly digest: string;
}

/** The icon in the repository. */
const iconPath = 'docs/images/icon.svg';

/** Splits `HOST/NAME[@sha256:…]` like a container runtime: a first part without a dot or a colon is not a host. */
export function imageValues(reference: string): ReleasedImage {
  const [name = '', digest = ''] = reference.split('@');
  const cut = name.indexOf('/');
  const host = name.slice(0, Math.max(cut, 0));
  const isHost = /[.:]/.test(host) || host === 'localhost';
  const repository = isHost ? name.slice(cut + 1) : name;
  if (!/^[a-z0-9]+([._/-][a-z0-9]+)*$/.test(repository) || !/^(sha256:[0-9a-f]{64})?$/.test(digest))
    throw new Error(`--image must be HOST/NAME or HOST/NAME@sha256:…, without a tag: ${reference}`);
  return { registry: isHost ? host : '', repository, digest };
}

/**
 * Adds the digest of the released image to the text of Chart.yaml. In values.yaml it would look like a digest that a user sets beside a tag, and
 * `helm upgrade --reuse-values` would restore the previous image.
 */
export function withDigest(chartText: string, digest: string): string {
  const key = /^annotations:\n/m;
  if (!key.test(chartText)) throw new Error('Chart.yaml has no annotations');
  return digest === ''
    ? chartText
    : chartText.replace(key, `annotations:\n  gc.dustpan.dev/image-digest: ${JSON.stringify(digest)}\n`);
}

/** Adds where the chart comes from to the text of Chart.yaml: the repository whose workflow releases it, which also has the icon. */
export function withRepository(chartText: string, repository: string): string {
  const { pathname, origin } = new URL(repository);
  const [, owner = ''] = pathname.split('/');
  const [, version] = /^version: (\S+)$/m.exec(chartText) ?? [];
  if (version === undefined) throw new Error('Chart.yaml has no version');
  const quoted = JSON.stringify(repository);
  const icon = JSON.stringify(`${repository}/raw/v${version}/${iconPath}`);
  return `${chartText.trimEnd()}\nhome: ${quoted}\nicon: ${icon}\nsources: [${quoted}]\nmaintainers:\n  - {name: ${JSON.stringify(owner)}, url: ${JSON.stringify(`${origin}/${owner}`)}}\n`;
}

/** Sets registry and repository in the text of values.yaml; changes nothing else. */
export function withImage(valuesText: string, { registry, repository }: ImageValues): string {
  // The key and the indented lines below it.
  const { 0: block, index: start } = /^image:\n( .*\n|\n)*/m.exec(valuesText) ?? { 0: '', index: 0 };
  const changed = [
    ['registry', registry],
    ['repository', repository],
  ].reduce((text, [key = '', value = '']) => withLine(text, key, value), block);
  return `${valuesText.slice(0, start)}${changed}${valuesText.slice(start + block.length)}`;
}

function withLine(block: string, key: string, value: string): string {
  const line = new RegExp(`^  ${key}: .*$`, 'm');
  if (!line.test(block)) throw new Error(`values.yaml has no image.${key}`);
  return block.replace(line, `  ${key}: ${JSON.stringify(value)}`);
}
