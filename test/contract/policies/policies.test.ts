import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { specSchema, validateSpec } from '../../../src/api/gen/gcpolicy-spec.gen.ts';
import { checkSchema } from '../../../src/api/policy/schema.ts';
import { startEnvironment } from '../kube/environment.ts';
import { goodPolicies } from './good.ts';
import { badPolicies, policyOf } from './table.ts';

interface Outcome {
  readonly status: number;
  readonly body: {
    readonly message?: string;
    readonly spec?: object;
    readonly metadata?: { readonly generation?: number };
  };
}

// GCPolicies that the API server accepts or refuses, with its messages.

const { server } = await startEnvironment();
const ca = server.caFile === undefined ? undefined : await readFile(server.caFile);

/** Without our transport: the server is under test. */
async function create(policy: object): Promise<Outcome> {
  const url = new URL('/apis/gc.dustpan.dev/v1alpha1/gcpolicies?dryRun=All', server.url);
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };
  const { request } = url.protocol === 'https:' ? https : http;
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    request(url, { method: 'POST', headers, ...(ca === undefined ? {} : { ca }) }, resolve)
      .on('error', reject)
      .end(JSON.stringify(policy));
  });
  return { status: response.statusCode ?? 0, body: JSON.parse(await text(response)) as Outcome['body'] };
}

describe('refused', () => {
  test.each(badPolicies)('$name', async ({ spec, field, message }) => {
    const { status, body } = await create(policyOf('bad', spec));
    // The key of a map is [app] there.
    const answer = body.message?.replaceAll(/\[(\D\w*)\]/g, '.$1');
    expect({ status, answer }).toEqual({ status: 422, answer: expect.stringContaining(field) as string });
    expect(answer).toContain(message);
  });
});

describe('taken', () => {
  test.each(goodPolicies)('%s, with the defaults that dustpan expects', async (_name, spec) => {
    const { status, body } = await create(policyOf('good', spec));
    expect({ status, message: body.message }).toEqual({ status: 201, message: undefined });
    const checker = { schema: specSchema, validate: validateSpec, path: 'spec' };
    expect(body.spec).toEqual(checkSchema(spec, checker).value);
  });
});

test('unknown fields are dropped', async () => {
  const { status, body } = await create(policyOf('good', { bogus: 1, pods: { outOfService: { bogus: 1 } } }));
  expect(status).toBe(201);
  expect(body.spec).toMatchObject({ pods: { outOfService: {} } });
  expect(JSON.stringify(body.spec)).not.toContain('bogus');
});
