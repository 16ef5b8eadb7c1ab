// Attacks by mail: through port 25, which is open to every machine, and to a workspace's address, which is open to
// every sender.

import type { Socket } from 'node:net';
import type { Attack, Attacker } from './attack.ts';

const smtpStatusOf = (chunk: Buffer): number => Number(/^\d{3}/.exec(chunk.toString('latin1', 0, 3))?.[0] ?? 0);

/** Sends its lines one at a time, each after the answer to the previous one, and starts over at the end. */
function converse(attacker: Attacker, socket: Socket, lines: readonly string[]): void {
  let at = 0;
  socket.on('data', (chunk: Buffer) => {
    const status = smtpStatusOf(chunk);
    if (at === lines.length) attacker.count(status);
    if (at === lines.length) at = 1;
    const line = lines[at];
    at += 1;
    if (line !== undefined) socket.write(line);
  });
}

const smtpUrl = ({ target }: Attacker): string => `tcp://127.0.0.1:${target.smtpPort}`;
const envelope = ({ target }: Attacker): string[] => [
  'EHLO hostile.example\r\n',
  'MAIL FROM:<x@hostile.example>\r\n',
  `RCPT TO:<${target.victim.mailbox}>\r\n`,
  'DATA\r\n',
];

/** The same mail repeatedly, on this many connections. */
function mails(name: string, what: string, text: string, count = 10): Attack {
  return {
    name,
    what,
    // 554: it was read, and refused.
    reaches: [250, 554],
    prepare: async (attacker) => () =>
      attacker.connections(
        count,
        (socket) => converse(attacker, socket, [...envelope(attacker), `${text}\r\n.\r\n`]),
        smtpUrl(attacker),
      ),
  };
}

const head = 'From: x@hostile.example\r\nTo: you@shop.example\r\nSubject: Hello\r\nMIME-Version: 1.0\r\n';
const nested = (depth: number): string =>
  Array.from(
    { length: depth },
    (_, level) => `Content-Type: multipart/mixed; boundary="b${level}"\r\n\r\n--b${level}\r\n`,
  ).join('');

export const mailAttacks: readonly Attack[] = [
  {
    name: 'smtp-idle',
    what: '300 connections to the mail port that send an occasional NOOP',
    reaches: [220, 421],
    prepare: async (attacker) => () =>
      attacker.connections(
        300,
        (socket) => {
          socket.once('data', (chunk: Buffer) => attacker.count(smtpStatusOf(chunk)));
          const timer = setInterval(() => socket.write('NOOP\r\n'), 1000);
          socket.once('close', () => clearInterval(timer));
        },
        smtpUrl(attacker),
      ),
  },
  {
    name: 'smtp-lines',
    what: 'endless lines to the mail port',
    reaches: [220, 421],
    prepare: async (attacker) => () =>
      attacker.connections(
        20,
        (socket) => {
          socket.once('data', (chunk: Buffer) => attacker.count(smtpStatusOf(chunk)));
          const write = (): void => {
            while (socket.writable && socket.write('x'.repeat(65_536)));
          };
          socket.on('drain', write);
          write();
        },
        smtpUrl(attacker),
      ),
  },
  mails('mails-small', 'mails at full speed', `${head}\r\nHello`),
  mails('mails-large', 'mails of 8 MiB', `${head}\r\n${`${'x'.repeat(998)}\r\n`.repeat(8400)}`, 4),
  mails('mails-nested', 'mails with 1,000 nested parts', `${head}${nested(1000)}Content-Type: text/plain\r\n\r\nHello`),
  mails(
    'mails-html',
    'mails with 1 MiB of unclosed elements',
    `${head}Content-Type: text/html\r\n\r\n${`${'<div><b>'.repeat(100)}\r\n`.repeat(1200)}`,
    4,
  ),
];
