import { Failure } from './failure.ts';

/** The form of an answer. */
export interface Media {
  readonly encoding: 'json' | 'protobuf';
  /** Only the metadata of each object is asked for. */
  readonly metadataOnly: boolean;
}

/** What is to be written, as far as it limits the form. */
interface Written {
  /** The kind has a protobuf form. */
  readonly binary: boolean;
  readonly list: boolean;
}

interface Clause {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const types: Readonly<Record<string, Media['encoding']>> = {
  'application/json': 'json',
  '*/*': 'json',
  'application/vnd.kubernetes.protobuf': 'protobuf',
};

const notAcceptable =
  '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf';
const acceptedTypes =
  'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf';

/** The first form in the Accept header, best first, that this can be written in; throws 406 when there is none. */
export function negotiate(accept: string, written: Written): Media {
  const known = clauses(accept).filter(({ type }) => type in types);
  for (const clause of known) {
    const media = mediaOf(clause, written);
    if (media !== undefined) return media;
  }
  const message = known.length === 0 ? notAcceptable : acceptedTypes;
  throw new Failure(message, { code: 406, reason: 'NotAcceptable' });
}

/** The form of an error: the first type that the client names and the server knows. */
export function negotiateError(accept: string): Media['encoding'] {
  const known = clauses(accept).find(({ type }) => type in types);
  return types[known?.type ?? ''] ?? 'json';
}

function mediaOf({ type, parameters }: Clause, { binary, list }: Written): Media | undefined {
  const encoding = types[type] ?? 'json';
  const as = parameters.get('as');
  if (as === undefined) return encoding === 'json' || binary ? { encoding, metadataOnly: false } : undefined;
  if (as === 'PartialObjectMetadata' && list) {
    const message = 'you requested PartialObjectMetadata, but the requested object is a list';
    throw new Failure(message, { code: 406, reason: 'NotAcceptable' });
  }
  const wanted = list ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  return as === wanted ? { encoding, metadataOnly: true } : undefined;
}

/** Best first. The sort is stable: among equals the client's order counts. */
function clauses(accept: string): readonly Clause[] {
  const all = (accept === '' ? '*/*' : accept).split(',').map(clauseOf);
  return all.toSorted((a, b) => weight(b) - weight(a));
}

function clauseOf(text: string): Clause {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  return { type, parameters: new Map(parameters.map((parameter) => pairOf(parameter))) };
}

function pairOf(parameter: string): [string, string] {
  const [name = '', value = ''] = parameter.split('=');
  return [name, value];
}

const weight = ({ parameters }: Clause): number => Number(parameters.get('q') ?? 1);
