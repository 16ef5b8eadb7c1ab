// `switchboard reset-second-factor` in a running cluster: the node that serves the workspace does it, once, also while
// the workspace moves and when an answer is lost.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import t from 'tap';
import { CallRefused, CallTimedOut } from '../../engine/runtime/cluster/ports.ts';
import { askOwner } from '../../http/cli/cluster-asking.ts';
import { type OperatorAuditRow, operatorAudit } from '../../store/directory/operator-audit.ts';
import { clusterEnv, startNode } from '../support/cluster-nodes.ts';
import { tempFolder } from '../support/folder.ts';
import { openStore, skip, startNats } from '../support/nats.ts';
import { runCommand } from '../support/process.ts';
import { codeOf } from '../support/second-factors.ts';
import { password } from '../support/service.ts';

// Commands as processes, on a machine that may be busy.
t.setTimeout(300_000);

t.test('[cluster] an operator lets an agent in who lost every second factor', { skip }, async (t) => {
  const nats = await startNats(t);
  const env = { RATE_LIMITS: 'off' };
  const first = await startNode(t, nats, { node: 'first', env });
  const second = await startNode(t, nats, { node: 'second', env });
  const run = (email: string) =>
    runCommand(['reset-second-factor', email], {
      ...clusterEnv(nats),
      DATA_DIR: join(tempFolder(t), 'nothing'),
    });
  const store = await openStore(t, nats.url, { name: 'switchboard', node: 'operator' });
  const { email, workspaceId, agentId, token } = await first.workspace({ available: true, assignOnReply: true });
  const login = () => second.post('/auth/login', { email, password });
  const enrol = async (signedIn: string): Promise<void> => {
    const { body } = await first.post('/me/totp', undefined, signedIn);
    const code = await codeOf(body.secret, Date.now());
    t.match(await first.post('/me/totp/confirm', { code }, signedIn), { status: 200 });
    t.match(await login(), { status: 401, body: { error: 'second_factor_required' } });
  };
  /** As the directory has it now, oldest first. */
  const noted = async (): Promise<OperatorAuditRow[]> => {
    const { directory } = first.running.services;
    await directory.change('nothing', {});
    return operatorAudit(directory.db);
  };
  const moveTo = async (node: string): Promise<void> => {
    for (;;) {
      const owner = (await store.owners.of(workspaceId))?.ownership.node ?? '';
      if (owner === node) return;
      await store.calls.ask(owner, 'move', { workspaceId, node }, 60_000).catch((error: unknown) => {
        if (!(error instanceof CallRefused)) throw error;
      });
    }
  };
  const done = {
    code: 0,
    stdout: `Removed the second factors of ${email}. The password is enough to sign in now.\n`,
    stderr: '',
  };

  await t.test('as of a server alone: the sign-ins end, the agent is told, and both logs record it', async (t) => {
    t.match(await run(email), { code: 1, stdout: '', stderr: `switchboard: ${email} has no second factor\n` });
    t.match(await run('nobody@example.org'), {
      code: 1,
      stderr: 'switchboard: the cluster switchboard has no agent with the email nobody@example.org\n',
    });
    t.same(await noted(), []);
    await enrol(token);
    await moveTo('second');
    t.same(await run(email.toUpperCase()), { ...done, stdout: done.stdout.replace(email, email.toUpperCase()) });
    t.match(await first.get('/me', token), { status: 401, body: { error: 'token_revoked' } });
    const { status, body } = await login();
    t.equal(status, 200);
    t.match(await first.get('/me/security', body.token), { body: { totp: null, recoveryCodesLeft: 0 } });
    t.match(await first.audited('agent.mfa_disabled', body.token), [
      { actorAgentId: null, targetId: agentId, context: { method: 'all', by: 'operator' } },
    ]);
    t.match(await noted(), [
      { action: 'agent.second_factors_reset', targetKind: 'agent', targetId: agentId, context: { workspaceId } },
    ]);
    // After others, such as the one about the app that was added.
    let mail = await second.mail(email);
    while (mail.subject !== 'Your second factor was removed') mail = await second.mail(email);
    t.match(mail.text, /The operator of the service removed /);
    t.match(await run(email), { code: 1, stderr: /has no second factor/ });
    t.equal((await noted()).length, 1);
  });

  await t.test('while the workspace moves', async (t) => {
    await enrol((await login()).body.token);
    const [ran] = await Promise.all([run(email), moveTo('first').then(() => moveTo('second'))]);
    t.same(ran, done);
    const { body } = await login();
    t.equal((await first.audited('agent.mfa_disabled', body.token)).length, 2);
    t.equal((await noted()).length, 2);
  });

  t.test('an answer that is lost is asked for again, and nothing is done twice', async (t) => {
    await enrol((await login()).body.token);
    let asked = 0;
    const calls: Pick<typeof store.calls, 'ask'> = {
      async ask(node, name, params, timeoutMs) {
        const answer = await store.calls.ask(node, name, params, timeoutMs);
        asked += 1;
        if (asked === 1) throw new CallTimedOut('the answer is lost');
        return answer;
      },
    };
    const params = { entryId: randomUUID(), workspaceId, agentId };
    const call = { name: 'reset-second-factors', params };
    const lossy = { owners: store.owners, calls: { ...calls, answer: () => {} } };
    t.same(await askOwner(lossy, workspaceId, call), { result: false, mayHaveBeenDone: true });
    const { body } = await login();
    t.equal((await first.audited('agent.mfa_disabled', body.token)).length, 3);
    t.same((await noted()).filter(({ id }) => id === params.entryId).length, 1);
    t.equal((await noted()).length, 3);
    await t.rejects(askOwner(store, randomUUID(), call), /has no workspace with the id/);
  });
});
