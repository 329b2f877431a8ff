/** What Node's codes for a connection that failed mean to a person, whatever the server: half a sentence each. */
export const connectionPhrases: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection closed by the other side',
  EPIPE: 'connection closed by the other side',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'no such host name',
  EAI_AGAIN: 'looking up the host name failed',
  EPROTO: 'the TLS handshake failed (does it speak TLS?)',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the TLS handshake failed (does it speak TLS?)',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet (is the clock right?)',
};
