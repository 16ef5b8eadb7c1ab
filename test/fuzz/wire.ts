// A WebSocket as bytes (RFC 6455): a client that can also send what no library allows. It reads the server's frames as
// they arrive, and writes any frame, valid or not.

import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import type { Duplex } from 'node:stream';

export interface WireFrame {
  /** 0 continuation, 1 text, 2 binary, 8 close, 9 ping, 10 pong; the others are reserved. */
  readonly opcode: number;
  readonly payload: Uint8Array;
  readonly isFinal?: boolean;
  readonly isMasked?: boolean;
  /** The three reserved bits. */
  readonly reserved?: number;
  /** Instead of the payload's real length. */
  readonly announcedLength?: number;
}

export function encoded(frame: WireFrame): Buffer {
  const { opcode, payload, isFinal = true, isMasked = true, reserved = 0, announcedLength = payload.length } = frame;
  const head = [(isFinal ? 0x80 : 0) | (reserved << 4) | opcode];
  const mask = isMasked ? 0x80 : 0;
  if (announcedLength < 126) head.push(mask | announcedLength);
  else if (announcedLength < 65_536) head.push(mask | 126, announcedLength >> 8, announcedLength & 255);
  else
    head.push(
      mask | 127,
      0,
      0,
      0,
      0,
      (announcedLength >>> 24) & 255,
      (announcedLength >>> 16) & 255,
      (announcedLength >>> 8) & 255,
      announcedLength & 255,
    );
  if (!isMasked) return Buffer.concat([Buffer.from(head), payload]);
  const key = randomBytes(4);
  return Buffer.concat([
    Buffer.from(head),
    key,
    Buffer.from(payload).map((byte, index) => byte ^ (key[index % 4] ?? 0)),
  ]);
}

export class Wire {
  readonly #stream: Duplex;
  #received: Buffer;
  /** The received text frames, in order. */
  readonly texts: string[] = [];
  /** 1006 for a connection lost without a close frame; undefined while it is open. */
  closeCode: number | undefined;
  #wake: (() => void)[] = [];

  private constructor(stream: Duplex, head: Buffer) {
    this.#stream = stream;
    this.#received = head;
    stream.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#read();
    });
    stream.on('close', () => {
      this.closeCode ??= 1006;
      this.#wakeAll();
    });
    stream.on('error', () => {
      // The server closed it; the close event follows.
    });
    this.#read();
  }

  /** Rejects if the server does not upgrade. */
  static open(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const asking = request(url, {
        headers: {
          Connection: 'Upgrade',
          Upgrade: 'websocket',
          'Sec-WebSocket-Version': '13',
          'Sec-WebSocket-Key': randomBytes(16).toString('base64'),
          ...headers,
        },
        signal,
      });
      asking.on('upgrade', (_reply, socket, head) => resolve(new Wire(socket, head)));
      asking.on('response', (reply) => reject(new Error(`not upgraded: ${reply.statusCode}`)));
      asking.on('error', reject);
      asking.end();
    });
  }

  write(bytes: Uint8Array): void {
    if (this.closeCode === undefined) this.#stream.write(bytes);
  }

  /** Resolves when the condition holds, or the connection is closed. Rejects when the signal aborts. */
  async until(isIt: () => boolean, signal: AbortSignal): Promise<void> {
    while (!isIt() && this.closeCode === undefined) {
      signal.throwIfAborted();
      await new Promise<void>((resolve, reject) => {
        const giveUp = (): void => reject(signal.reason);
        signal.addEventListener('abort', giveUp, { once: true });
        this.#wake.push(() => {
          signal.removeEventListener('abort', giveUp);
          resolve();
        });
      });
    }
  }

  end(): void {
    this.#stream.destroy();
  }

  #read(): void {
    for (let taken = this.#take(); taken !== undefined; taken = this.#take()) {
      if (taken.opcode === 1) this.texts.push(taken.payload.toString('utf8'));
      if (taken.opcode === 8) this.closeCode = taken.payload.length >= 2 ? taken.payload.readUInt16BE(0) : 1005;
    }
    this.#wakeAll();
  }

  /** The server's frames are complete, unmasked and not fragmented. */
  #take(): { opcode: number; payload: Buffer } | undefined {
    const bytes = this.#received;
    if (bytes.length < 2) return undefined;
    const short = (bytes[1] ?? 0) & 127;
    const start = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (bytes.length < start) return undefined;
    const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
    if (bytes.length < start + length) return undefined;
    this.#received = bytes.subarray(start + length);
    return { opcode: (bytes[0] ?? 0) & 15, payload: bytes.subarray(start, start + length) };
  }

  #wakeAll(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const call of wake) call();
  }
}
