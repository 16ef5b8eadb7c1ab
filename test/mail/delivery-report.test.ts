import t from 'tap';
import { deliveryReportOf } from '../../workers/mail/delivery-report.ts';

/** Other servers' reports about one recipient, with the text for agents. */
const reports: readonly {
  readonly by: string;
  readonly isOfAddress: boolean;
  readonly fields: string;
  readonly words?: string;
}[] = [
  {
    by: 'postfix',
    isOfAddress: true,
    fields:
      'Action: failed\nStatus: 5.1.1\nRemote-MTA: dns; mx.example\nDiagnostic-Code: smtp; 550 5.1.1 <kim@customer.example>: Recipient address\n    rejected: User unknown in virtual mailbox table',
  },
  {
    by: 'postfix, local',
    isOfAddress: true,
    fields: 'Action: failed\nStatus: 5.1.1\nDiagnostic-Code: x-unix; user unknown',
  },
  {
    by: 'postfix, policy',
    isOfAddress: false,
    fields:
      'Action: failed\nStatus: 5.7.1\nDiagnostic-Code: smtp; 554 5.7.1 <kim@customer.example>: Recipient address\n    rejected: Access denied',
  },
  {
    by: 'postfix, size',
    isOfAddress: false,
    fields:
      'Action: failed\nStatus: 5.3.4\nDiagnostic-Code: x-postfix; message size 41243 exceeds size limit 10240 of server\n    mx.example',
  },
  {
    by: 'postfix, content',
    isOfAddress: false,
    fields: 'Action: failed\nStatus: 5.6.1\nDiagnostic-Code: smtp; 550 5.6.1 message content rejected',
  },
  {
    by: 'postfix, out of date',
    isOfAddress: false,
    fields:
      'Action: failed\nStatus: 4.4.1\nDiagnostic-Code: X-Postfix; connect to mx.example[192.0.2.1]:25: Connection timed out',
  },
  {
    by: 'exim, with a code',
    isOfAddress: true,
    fields:
      'Action: failed\nFinal-Recipient: rfc822;kim@customer.example\nStatus: 5.0.0\nRemote-MTA: dns; mx.example\nDiagnostic-Code: smtp; 550 5.1.1 <kim@customer.example>: Recipient address rejected: User unknown',
  },
  {
    by: 'exim, in words',
    isOfAddress: true,
    fields:
      'Action: failed\nFinal-Recipient: rfc822;kim@customer.example\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 No such user here',
  },
  {
    by: 'exim, for people alone',
    isOfAddress: true,
    fields: 'Action: failed\nFinal-Recipient: rfc822;kim@customer.example\nStatus: 5.0.0',
    words:
      'This is a permanent error. The following address(es) failed:\n\n  kim@customer.example\n    Unrouteable address',
  },
  {
    by: 'exim, spam',
    isOfAddress: false,
    fields:
      'Action: failed\nFinal-Recipient: rfc822;kim@customer.example\nStatus: 5.0.0\nDiagnostic-Code: smtp; 554 5.7.1 rejected as spam',
  },
  {
    by: 'exim, spam in words',
    isOfAddress: false,
    fields: 'Action: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 mailbox unavailable: rejected due to policy',
  },
  {
    by: 'exim, nothing said',
    isOfAddress: false,
    fields: 'Action: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 Administrative prohibition',
  },
  {
    by: 'exim, an address of a machine',
    isOfAddress: false,
    fields: 'Action: failed\nStatus: 5.0.0\nDiagnostic-Code: smtp; 550 5.1.1.7 is not welcome',
  },
  {
    by: 'Exchange',
    isOfAddress: true,
    fields:
      'Final-Recipient: rfc822;kim@customer.example\nAction: failed\nStatus: 5.1.10\nDiagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup',
  },
  {
    by: 'Exchange, at its edge',
    isOfAddress: true,
    fields:
      'Final-Recipient: rfc822;kim@customer.example\nAction: failed\nStatus: 5.4.1\nDiagnostic-Code: smtp;550 5.4.1 Recipient address rejected: Access denied. AS(201806281)',
  },
  {
    by: 'Outlook.com',
    isOfAddress: true,
    fields:
      'Action: failed\nStatus: 5.5.0\nDiagnostic-Code: smtp;550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302)',
  },
  {
    by: 'Exchange, members only',
    isOfAddress: false,
    fields:
      'Action: failed\nStatus: 5.7.133\nDiagnostic-Code: smtp;550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; authentication required',
  },
  {
    by: 'Exchange, size',
    isOfAddress: false,
    fields:
      'Action: failed\nStatus: 5.2.3\nDiagnostic-Code: smtp;550 5.2.3 RESOLVER.RST.RecipSizeLimit; message too large for this recipient',
  },
  {
    by: 'Exchange, full',
    isOfAddress: false,
    fields:
      'Action: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp;554 5.2.2 mailbox full; STOREDRV.Deliver: QuotaExceededException',
  },
  {
    by: 'Google',
    isOfAddress: true,
    fields:
      "Final-Recipient: rfc822; kim@customer.example\nAction: failed\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try\n 550-5.1.1 double-checking the recipient's email address for typos",
  },
  {
    by: 'Google, closed',
    isOfAddress: true,
    fields:
      'Action: failed\nStatus: 5.2.1\nDiagnostic-Code: smtp; 550 5.2.1 The email account that you tried to reach is inactive.',
  },
  {
    by: 'Google, unauthenticated',
    isOfAddress: false,
    fields:
      "Action: failed\nStatus: 5.7.26\nDiagnostic-Code: smtp; 550-5.7.26 Unauthenticated email from shop.example is not accepted due to domain's DMARC policy.",
  },
  {
    by: 'Google, full',
    isOfAddress: false,
    fields:
      'Action: failed\nStatus: 5.2.2\nDiagnostic-Code: smtp; 552-5.2.2 The email account that you tried to reach is over quota.',
  },
  {
    by: 'no mail at this domain (RFC 7505)',
    isOfAddress: true,
    fields: 'Action: failed\nStatus: 5.1.10\nDiagnostic-Code: smtp; 556 5.1.10 recipient address has null MX',
  },
  {
    by: 'our own address refused',
    isOfAddress: false,
    fields: 'Action: failed\nStatus: 5.1.8\nDiagnostic-Code: smtp; 550 5.1.8 sender domain does not exist',
  },
  { by: 'nobody', isOfAddress: false, fields: 'Action: failed' },
];

t.test('[RFC 3464] [RFC 3463] which reports are about the address, and which about the mail', async (t) => {
  for (const { by, fields, words = 'Your mail was not delivered.', isOfAddress } of reports) {
    const report = deliveryReportOf(
      [
        {
          contentType: 'message/delivery-status',
          text: `Reporting-MTA: dns; mx.example\r\n\r\n${fields.replaceAll('\n', '\r\n')}\r\n`,
        },
      ],
      words,
    );
    t.match(report, { action: 'failed', isOfAddress }, by);
  }
});
