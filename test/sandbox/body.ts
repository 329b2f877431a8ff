import { load } from 'js-yaml';
import type { IncomingMessage } from 'node:http';
import type { RequestBody } from './dispatch.ts';
import { badRequest, Failure, unsupportedMediaType } from './failure.ts';
import { isObject } from './json.ts';
import { applyType } from './patch.ts';

const maxBytes = 3 * 1024 * 1024;
const accepted =
  'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf';

/** The bytes of the body; throws 413 beyond what the real server takes. */
export async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > maxBytes) {
      const message = `Request entity too large: limit is ${maxBytes}`;
      throw new Failure(message, { code: 413, reason: 'RequestEntityTooLarge' });
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** The content of a body by its type; undefined when there is none. */
export function parseBody(method: string, contentType: string, bytes: Buffer): RequestBody | undefined {
  if (bytes.length === 0)
    return method === 'PATCH' ? { type: mediaType(contentType), content: undefined } : undefined;
  const type = mediaType(contentType);
  if (method === 'PATCH') return { type, content: type === applyType ? yaml(bytes) : patchJson(bytes) };
  if (type === 'application/yaml') return { type, content: objectOrThrow(yaml(bytes)) };
  if (type !== '' && type !== 'application/json') throw unsupportedMediaType(accepted);
  return { type, content: objectOrThrow(bodyJson(bytes)) };
}

const mediaType = (contentType: string): string => (contentType.split(';')[0] ?? '').trim();

function yaml(bytes: Buffer): unknown {
  try {
    return load(bytes.toString());
  } catch (err) {
    throw badRequest(`error decoding YAML: ${String(err)}`);
  }
}

function patchJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (err) {
    throw badRequest(`error decoding patch: ${String(err)}`);
  }
}

function bodyJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch (err) {
    throw badRequest(
      `the object provided is unrecognized: couldn't get version/kind; json parse error: ${String(err)}`,
    );
  }
}

function objectOrThrow(value: unknown): unknown {
  if (isObject(value)) return value;
  throw badRequest("the object provided is unrecognized: couldn't get version/kind; json parse error");
}
