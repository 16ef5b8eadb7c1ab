// The files of a NATS whose users sign in by credentials: an operator, an account with JetStream, and a user of it.

import { createHash, randomUUID } from 'node:crypto';
import { nkeys } from '@nats-io/transport-node';

type KeyPair = ReturnType<typeof nkeys.createUser>;

export interface Accounts {
  /** Lines for the server's configuration. */
  readonly config: string;
  /** A credentials file. */
  readonly creds: string;
}

export function makeAccounts(): Accounts {
  const operator = nkeys.createOperator();
  const system = nkeys.createAccount();
  const account = nkeys.createAccount();
  const user = nkeys.createUser();
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const limits = { subs: -1, conn: -1, leaf: -1, imports: -1, exports: -1, data: -1, payload: -1, wildcards: true };
  const accountToken = tokenOf(operator, account, { type: 'account', limits: { ...limits, ...storage } });
  const systemToken = tokenOf(operator, system, { type: 'account', limits });
  const userToken = tokenOf(account, user, { type: 'user', subs: -1, data: -1, payload: -1 });
  return {
    config: [
      `operator: ${tokenOf(operator, operator, { type: 'operator' })}`,
      `system_account: ${system.getPublicKey()}`,
      'resolver: MEMORY',
      `resolver_preload { ${account.getPublicKey()}: ${accountToken}, ${system.getPublicKey()}: ${systemToken} }`,
    ].join('\n'),
    creds: [
      '-----BEGIN NATS USER JWT-----',
      userToken,
      '------END NATS USER JWT------',
      '',
      '-----BEGIN USER NKEY SEED-----',
      new TextDecoder().decode(user.getSeed()),
      '------END USER NKEY SEED------',
      '',
    ].join('\n'),
  };
}

function tokenOf(issuer: KeyPair, subject: KeyPair, nats: object): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const claims = {
    jti: createHash('sha256').update(randomUUID()).digest('hex'),
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: 'test',
    nats: { ...nats, version: 2 },
  };
  const signed = `${encode({ typ: 'JWT', alg: 'ed25519-nkey' })}.${encode(claims)}`;
  return `${signed}.${Buffer.from(issuer.sign(Buffer.from(signed))).toString('base64url')}`;
}
