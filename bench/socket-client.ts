// A cheap WebSocket client, so that the server is measured: text frames of any size, masked with zeros, on a plain TCP
// connection. RFC 6455 without fragments and extensions, which the service does not use.

import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

const opcodes = { text: 1, close: 8, ping: 9, pong: 10 } as const;
const openTimeoutMs = 20_000;

export class SocketClient {
  readonly #socket: Socket;
  #rest: Buffer = Buffer.alloc(0);
  #isOpen = false;
  /** Called with each text frame. The bytes are valid until it returns. */
  onText: (payload: Buffer) => void = () => {};
  /** Called when either side ends the connection. */
  onClose: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Resolves after the handshake; frames may have arrived by then. `url` is http://host:port/path, or https. */
  static open(
    url: string,
    options: { protocols?: readonly string[]; onText?: (payload: Buffer) => void } = {},
  ): Promise<SocketClient> {
    const { protocol, hostname, port, pathname, host } = new URL(url);
    const { protocols = [], onText } = options;
    const socket =
      protocol === 'https:'
        ? connectTls({ port: Number(port || 443), host: hostname })
        : connect(Number(port || 80), hostname);
    socket.setNoDelay(true);
    const client = new SocketClient(socket);
    if (onText !== undefined) client.onText = onText;
    return new Promise((resolve, reject) => {
      socket.setTimeout(openTimeoutMs, () => socket.destroy(new Error('the upgrade took too long')));
      socket.on('data', (chunk) => client.#read(chunk, resolve, reject));
      socket.on('error', reject);
      socket.on('close', () => {
        reject(new Error('closed before the upgrade was answered'));
        client.onClose();
      });
      const headers = [
        `GET ${pathname} HTTP/1.1`,
        `Host: ${host}`,
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
        ...(protocols.length === 0 ? [] : [`Sec-WebSocket-Protocol: ${protocols.join(', ')}`]),
      ];
      socket.write(`${headers.join('\r\n')}\r\n\r\n`);
    });
  }

  send(text: string): void {
    this.#sendFrame(opcodes.text, Buffer.from(text));
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(chunk: Buffer, opened: (client: SocketClient) => void, refused: (error: Error) => void): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    if (!this.#isOpen) {
      const end = bytes.indexOf('\r\n\r\n');
      if (end === -1) {
        this.#rest = bytes;
        return;
      }
      const status = bytes.toString('latin1', 0, bytes.indexOf('\r\n'));
      if (!status.startsWith('HTTP/1.1 101')) {
        refused(new Error(`the upgrade was answered with ${status}`));
        this.#socket.destroy();
        return;
      }
      this.#isOpen = true;
      this.#socket.setTimeout(0);
      bytes = bytes.subarray(end + 4);
      opened(this);
    }
    this.#rest = this.#readFrames(bytes);
  }

  /** Returns the incomplete frame at the end. */
  #readFrames(bytes: Buffer): Buffer {
    let at = 0;
    while (bytes.length - at >= 2) {
      const short = (bytes[at + 1] ?? 0) & 0x7f;
      const headLength = short === 127 ? 10 : short === 126 ? 4 : 2;
      if (bytes.length - at < headLength) break;
      const length =
        short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short === 126 ? bytes.readUInt16BE(at + 2) : short;
      const end = at + headLength + length;
      if (bytes.length < end) break;
      this.#take((bytes[at] ?? 0) & 0x0f, bytes.subarray(at + headLength, end));
      at = end;
    }
    return at === bytes.length ? Buffer.alloc(0) : Buffer.from(bytes.subarray(at));
  }

  #take(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.text) this.onText(payload);
    else if (opcode === opcodes.ping) this.#sendFrame(opcodes.pong, payload);
    else if (opcode === opcodes.close) this.#socket.destroy();
  }

  #sendFrame(opcode: number, payload: Buffer): void {
    const extended = payload.length > 125;
    if (payload.length > 0xffff) throw new Error('a frame of this client has 64 KiB at the most');
    // A mask of zeros leaves the payload unchanged.
    const frame = Buffer.alloc((extended ? 8 : 6) + payload.length);
    frame[0] = 0x80 | opcode;
    frame[1] = 0x80 | (extended ? 126 : payload.length);
    if (extended) frame.writeUInt16BE(payload.length, 2);
    payload.copy(frame, frame.length - payload.length);
    this.#socket.write(frame);
  }
}

/** An agent's or visitor's socket of the service, ready. */
export function openServiceSocket(url: string, namespace: 'agent' | 'visitor', token: string): Promise<SocketClient> {
  return new Promise((resolve, reject) => {
    let isReady = false;
    const onText = (payload: Buffer): void => {
      isReady ||= payload.includes('"type":"ready"');
      if (isReady) void opening.then(resolve);
    };
    const opening = SocketClient.open(`${url}/${namespace}`, {
      protocols: ['messaging.v1', `bearer.${token}`],
      onText,
    });
    opening.then((client) => {
      client.onClose = () => reject(new Error(`the ${namespace} socket was closed before it was ready`));
    }, reject);
  });
}
