// The mail behind a message, as it was received: with the history that it quotes, and what its sender's domain says.

import { Fragment, type JSX } from 'preact';
import { call } from '../../api.ts';
import { Dialog } from '../../design/dialog.tsx';
import { Failure, Loading } from '../../design/feedback.tsx';
import { useResource } from '../../design/resource.ts';
import type { Message, OriginalMail } from '../../records.ts';
import { hasRole } from '../../session.ts';
import { exactTime } from '../../times.ts';
import { MailSource } from './mail-source.tsx';

export function OriginalDialog({
  message,
  onClose,
}: {
  readonly message: Message;
  readonly onClose: () => void;
}): JSX.Element {
  const path = `/conversations/${message.conversationId}/messages/${message.id}/original`;
  const mail = useResource((signal) => call<OriginalMail>('GET', path, { signal }), [path]);
  return (
    <Dialog title="The email as it was received" wide onClose={onClose}>
      {mail.failure !== undefined && <Failure error={mail.failure} retry={mail.reload} />}
      {mail.value === undefined && mail.failure === undefined && <Loading />}
      {mail.value !== undefined && <Original mail={mail.value} message={message} />}
    </Dialog>
  );
}

function Original({ mail, message }: { readonly mail: OriginalMail; readonly message: Message }): JSX.Element {
  const { from, replyTo, to, subject, mailId, authentication, createdAt, text, html } = mail;
  const rows = [
    ['From', from.name === null ? from.address : `${from.name} <${from.address}>`],
    ...(replyTo === null ? [] : [['Answers to', replyTo]]),
    ['To', to.join(', ')],
    ['Subject', subject],
    ['Received', exactTime(createdAt)],
    ['Message-ID', mailId],
    ...(authentication === null
      ? []
      : [['Sender check', `SPF ${authentication.spf}, DKIM ${authentication.dkim}, DMARC ${authentication.dmarc}`]]),
  ];
  return (
    <div class="stack">
      <dl class="mail-original">
        {rows.map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
      {hasRole('admin') && <MailSource mail={mail} message={message} />}
      {text !== null && <Source title="Text" text={text} />}
      {html !== null && <Source title="HTML source" text={html} />}
    </div>
  );
}

function Source({ title, text }: { readonly title: string; readonly text: string }): JSX.Element {
  return (
    <section class="stack">
      <h3>{title}</h3>
      <pre class="mail-source" tabIndex={0} aria-label={title}>
        {text}
      </pre>
    </section>
  );
}
