import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';

interface Access {
  readonly ca?: string | undefined;
  readonly token?: string | undefined;
}

/** A busy machine may need seconds. */
const patienceMs = 5_000;

/** The status of one GET; undefined without a response. */
export async function statusOf(url: string, { ca, token }: Access = {}): Promise<number | undefined> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const options = { headers, agent: false, timeout: patienceMs, ...(ca === undefined ? {} : { ca }) };
  return await new Promise((resolve) => {
    const request = (url.startsWith('https:') ? getHttps : getHttp)(url, options, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
  });
}
