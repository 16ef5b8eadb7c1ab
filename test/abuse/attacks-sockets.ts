// Attacks by sockets: malformed frames, calls at full speed, abandoned sockets, and sockets that read nothing.

import type { Socket } from 'node:net';
import type { Attack, Attacker } from './attack.ts';
import { statusOf } from './wire.ts';

const opcodes = { text: 1, ping: 9 } as const;
const maskBytes = 4;

/** RFC 6455 5.2, with a mask of zeros, which leaves the payload unchanged. */
function frame(opcode: number, payload: Buffer): Buffer {
  const length = payload.length;
  const head =
    length < 126
      ? Buffer.from([0x80 | opcode, 0x80 | length])
      : Buffer.from([0x80 | opcode, 0x80 | 126, length >> 8, length & 0xff]);
  return Buffer.concat([head, Buffer.alloc(maskBytes), payload]);
}

/** Keeps this many sockets with a token open, reopens closed ones, and calls `onOpen` after each upgrade. */
function sockets(
  attacker: Attacker,
  { count, path, token }: { count: number; path: string; token: string | undefined },
  onOpen: (socket: Socket) => void,
): Promise<void> {
  return attacker.connections(count, (socket) => {
    const protocols = ['messaging.v1', ...(token === undefined ? [] : [`bearer.${token}`])];
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: abuse.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: ${protocols.join(', ')}\r\n\r\n`,
    );
    socket.once('data', (chunk: Buffer) => {
      const status = statusOf(chunk);
      attacker.count(status);
      if (status === 101) onOpen(socket);
    });
  });
}

/** Writes the same bytes as fast as the socket accepts them. */
function pour(socket: Socket, bytes: Buffer): void {
  const write = (): void => {
    while (socket.writable && socket.write(bytes));
  };
  socket.on('drain', write);
  write();
}

const frames: readonly {
  readonly name: string;
  readonly what: string;
  readonly bytes: Buffer;
  readonly count?: number;
}[] = [
  {
    name: 'nested-frames',
    what: 'frames of 60 KiB of brackets',
    bytes: frame(opcodes.text, Buffer.from('['.repeat(30_000) + ']'.repeat(30_000))),
  },
  {
    name: 'array-frames',
    what: 'calls with a list of 30,000 attachments',
    bytes: frame(
      opcodes.text,
      Buffer.from(
        `{"id":1,"method":"widget.startChat","params":{"body":"x","attachments":[${Array(29_000).fill('1').join(',')}]}}`,
      ),
    ),
  },
  {
    name: 'small-frames',
    what: 'frames of one byte',
    bytes: Buffer.concat(Array(1000).fill(frame(opcodes.text, Buffer.from('x')))),
  },
  {
    name: 'pings',
    what: "WebSocket pings and the service's own",
    bytes: Buffer.concat(
      Array(500).fill(
        Buffer.concat([frame(opcodes.ping, Buffer.from('x')), frame(opcodes.text, Buffer.from('{"type":"ping"}'))]),
      ),
    ),
  },
  {
    name: 'socket-calls',
    what: 'calls at full speed',
    bytes: Buffer.concat(
      Array(100).fill(frame(opcodes.text, Buffer.from('{"id":1,"method":"widget.listChats","params":{}}'))),
    ),
  },
];

const byVisitor: Attack[] = frames.map(({ name, what, bytes }) => ({
  name,
  what: `${what}, on 8 of a visitor's sockets`,
  async prepare(attacker) {
    const token = await attacker.visitor();
    return () => sockets(attacker, { count: 8, path: '/visitor', token }, (socket) => pour(socket, bytes));
  },
}));

const all: readonly Omit<Attack, 'reaches'>[] = [
  ...byVisitor,
  {
    name: 'unread-calls',
    what: "calls without reading the replies, on 20 of a visitor's sockets",
    async prepare(attacker) {
      const token = await attacker.visitor();
      const id = await attacker.chat(token);
      for (let index = 0; index < 20; index += 1)
        await attacker.caller.call('POST', `/widget/conversations/${id}/messages`, {
          token,
          body: { body: 'x'.repeat(10_000) },
        });
      const call = frame(
        opcodes.text,
        Buffer.from(`{"id":1,"method":"widget.listMessages","params":{"conversationId":"${id}","limit":200}}`),
      );
      return () =>
        sockets(attacker, { count: 20, path: '/visitor', token }, (socket) => {
          socket.pause();
          socket.write(Buffer.concat(Array(200).fill(call)));
        });
    },
  },
  {
    name: 'strange-sockets',
    what: '1,000 sockets that never authenticate',
    prepare: async (attacker) => () => sockets(attacker, { count: 1000, path: '/agent', token: undefined }, () => {}),
  },
  {
    name: 'opened-sockets',
    what: 'sockets of a visitor, opened and closed at full speed',
    async prepare(attacker) {
      const token = await attacker.visitor();
      return () => sockets(attacker, { count: 32, path: '/visitor', token }, (socket) => socket.destroy());
    },
  },
  {
    name: 'deaf-agents',
    what: '50 sockets of an agent that read nothing, while its own visitors write',
    async prepare(attacker) {
      const { token, embedId } = await attacker.workspace();
      const visitor = await attacker.visitor(embedId);
      const id = await attacker.chat(visitor);
      const message = attacker.request('POST', `/api/v1/widget/conversations/${id}/messages`, {
        token: visitor,
        body: { body: 'x'.repeat(10_000) },
      });
      return async () => {
        await Promise.all([
          sockets(attacker, { count: 50, path: '/agent', token }, (socket) => socket.pause()),
          attacker.flood(message, { connections: 4 }),
        ]);
      };
    },
  },
  {
    name: 'replayed-events',
    what: 'sockets of an agent that request every event since the first, repeatedly',
    async prepare(attacker) {
      const { token, embedId } = await attacker.workspace();
      const visitor = await attacker.visitor(embedId);
      const id = await attacker.chat(visitor);
      for (let index = 0; index < 100; index += 1)
        await attacker.caller.call('POST', `/widget/conversations/${id}/messages`, {
          token: visitor,
          body: { body: 'x'.repeat(10_000) },
        });
      return () =>
        sockets(attacker, { count: 16, path: '/agent?since=0', token }, (socket) => {
          let bytes = 0;
          socket.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > 500_000) socket.destroy();
          });
        });
    },
  },
];

export const socketAttacks: readonly Attack[] = all.map((attack) => ({ ...attack, reaches: [101] }));
