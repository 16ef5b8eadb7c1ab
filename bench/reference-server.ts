// The reference for the service, in its own process: uWebSockets.js handlers that only write the three rows of a
// message (message, event, newest line of the conversation) as the service does for a chat that its assignee answers
// again: the same statements, sizes and indexes. The bare lane uses the service's own lane, group commit and checkpoints;
// the bare commit syncs one transaction per request; a bare publish to every socket is the reference for the fan-out. No
// rules, no checks, no JSON.

import {
  App,
  type HttpResponse,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
} from 'uWebSockets.js';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageView } from '../engine/conversations/messages.ts';
import { Checkpoints } from '../engine/runtime/checkpoints.ts';
import { isoTime, systemClock } from '../engine/runtime/clock.ts';
import { createIds } from '../engine/runtime/ids.ts';
import { Lane } from '../engine/runtime/lane.ts';
import { type ConversationRecord, touchConversation } from '../store/conversations/conversations.ts';
import type { ListedRow } from '../store/conversations/listed-rows.ts';
import { type MessageRecord, messagesBefore } from '../store/conversations/messages.ts';
import { queuePage } from '../store/conversations/queue-pages.ts';
import { insertConversation, insertMessage, unsetConversation, unsetMessage } from '../store/conversations/writes.ts';
import { insertVisitor, unsetVisitor } from '../store/customers/writes.ts';
import { Database } from '../store/database.ts';
import { workspaceMigrations } from '../store/migrations/workspace.ts';
import { insertEvent } from '../store/runtime/events.ts';
import { createCheckpointer } from '../workers/checkpointer.ts';
import { messageText } from './messages.ts';

const clock = systemClock();
const ids = createIds(clock);
const dataDir = process.env['DATA_DIR'] ?? '';
mkdirSync(dataDir, { recursive: true });

const checkpointer = createCheckpointer();
const silent = {
  debug() {},
  info() {},
  warn() {},
  error(fields: object, message: string) {
    process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
  },
};
const checkpoints = new Checkpoints({
  checkpoint: (path, isOpen) => checkpointer.checkpoint(path, isOpen),
  log: silent,
  random: Math.random,
});

/** One file, with one conversation per connection. */
const conversationsPerFile = 64;
/** A page of the service, and the additional row that shows whether there is another. */
const pageRows = 51;

class Rows {
  readonly db: Database;
  readonly #conversations: ConversationRecord[] = [];
  readonly #senderId = ids.uuid();
  /** Of an event about a chat of this agent, in its short form. */
  readonly #audience = JSON.stringify(['chat', [null], [this.#senderId], 1]);
  /** Of the same size as the service's answer to a send. */
  readonly reply: string;
  #seq = 0;
  #lastMs = 0;

  constructor(name: string) {
    this.db = Database.openWriter(join(dataDir, `${name}.db`), workspaceMigrations);
    // Nothing reads the agent and the site that the conversations name.
    this.db.run('PRAGMA foreign_keys = OFF');
    this.db.begin();
    for (let index = 0; index < conversationsPerFile; index += 1) this.#conversations.push(this.#addConversation());
    this.db.commit();
    this.db.run('PRAGMA foreign_keys = ON');
    const message = this.#message(this.#conversationAt(0));
    this.reply = JSON.stringify(messageView(message));
  }

  write(index: number): void {
    const conversation = this.#conversationAt(index);
    const message = this.#message(conversation);
    const { createdAt } = message;
    insertMessage(this.db, message);
    this.#seq += 1;
    insertEvent(this.db, {
      seq: this.#seq,
      type: 'message.created',
      at: createdAt,
      conversationId: conversation.id,
      audience: this.#audience,
      data: `[${this.#seq}]`,
    });
    touchConversation(
      this.db,
      { ...conversation, preview: messageText, lastMessageAt: createdAt, lastLineAt: createdAt, updatedAt: createdAt },
      { isFromCustomer: false, isFirstResponse: false, isFirstSinceRouted: false, isTurn: false },
    );
  }

  /** The rows of a page, read as the service does. */
  messages(index: number): MessageRecord[] {
    return messagesBefore(this.db, {
      conversationId: this.#conversationAt(index).id,
      before: undefined,
      limit: pageRows,
      withSystem: true,
    });
  }

  queue(): ListedRow[] {
    return queuePage(this.db, {
      reach: { channels: ['chat', 'ticket', 'call'], departmentIds: null, agentId: this.#senderId },
      filter: {},
      cursor: undefined,
      limit: pageRows,
    });
  }

  /** A chat that its assignee has answered, and its visitor. */
  #addConversation(): ConversationRecord {
    const at = isoTime(clock.now());
    const [siteId, visitorId, agentId] = [ids.uuid(), ids.uuid(), this.#senderId];
    const seen = { firstSeenAt: at, lastSeenAt: at, isOnline: false, visitCount: 1 };
    insertVisitor(this.db, { ...unsetVisitor, ...seen, id: visitorId, siteId });
    const conversation: ConversationRecord = {
      ...unsetConversation,
      unreachable: false,
      id: ids.uuid(),
      version: 2,
      channel: 'chat',
      status: 'open',
      siteId,
      visitorId,
      assignedAgentId: agentId,
      preview: messageText,
      lastMessageAt: at,
      lastSenderType: 'agent',
      lastSenderId: agentId,
      firstResponseAt: at,
      firstResponderId: agentId,
      lastLineAt: at,
      lastCustomerMessageAt: at,
      createdAt: at,
      updatedAt: at,
    };
    insertConversation(this.db, conversation);
    return conversation;
  }

  #conversationAt(index: number): ConversationRecord {
    const conversation = this.#conversations[index % conversationsPerFile];
    if (conversation === undefined) throw new Error('no conversation');
    return conversation;
  }

  #message(conversation: ConversationRecord): MessageRecord {
    // Two messages of one conversation never share a time.
    this.#lastMs = Math.max(clock.now(), this.#lastMs + 1);
    return {
      ...unsetMessage,
      id: ids.uuid(),
      conversationId: conversation.id,
      senderType: 'agent',
      senderId: this.#senderId,
      body: messageText,
      createdAt: isoTime(this.#lastMs),
    };
  }
}

class BareLane {
  readonly workspaceId: string;
  readonly rows: Rows;
  readonly lane: Lane;

  constructor(name: string) {
    this.workspaceId = name;
    this.rows = new Rows(name);
    this.lane = new Lane(this.db, {
      onBroken: end,
      onSyncFailed: end,
      onBatch: () => checkpoints.watch(this),
    });
  }

  get db(): Database {
    return this.rows.db;
  }

  /** Writes the rows of one message and calls back when the disk has them. */
  send(index: number, done: () => void): void {
    this.lane.submit({
      run: () => this.rows.write(index),
      undo() {},
      settle: (error) => (error === undefined ? done() : end(error)),
    });
  }
}

const lanes = new Map<string, BareLane>();
const laneOf = (name: string): BareLane => {
  const lane = lanes.get(name) ?? new BareLane(`lane-${name}`);
  lanes.set(name, lane);
  return lane;
};

/** SQLite by default: every COMMIT waits for the disk, and the log is copied back every thousand pages. */
let perRequest: Rows | undefined;
function commitAlone(index: number): Rows {
  if (perRequest === undefined) {
    perRequest = new Rows('commit');
    perRequest.db.run('PRAGMA synchronous = FULL');
    perRequest.db.get('PRAGMA wal_autocheckpoint = 1000');
  }
  perRequest.db.begin();
  perRequest.write(index);
  perRequest.db.commit();
  return perRequest;
}

function end(error: unknown): never {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
}

/**
 * Calls back with a function that answers, once the body has arrived. The end of a load leaves requests that no client
 * waits for.
 */
function afterBody(res: HttpResponse, done: (answer: (body: string) => void) => void): void {
  let aborted = false;
  res.onAborted(() => {
    aborted = true;
  });
  const answer = (body: string): void => {
    if (!aborted)
      res.cork(() => res.writeStatus('201 Created').writeHeader('Content-Type', 'application/json').end(body));
  };
  res.onData((_, isLast) => {
    if (isLast) done(answer);
  });
}

const topic = 'all';

const app = App();
app.post('/lane/:workspace/:conversation', (res, req) => {
  const lane = laneOf(req.getParameter(0) ?? '');
  const index = Number(req.getParameter(1));
  afterBody(res, (answer) => lane.send(index, () => answer(lane.rows.reply)));
});
app.post('/commit/:conversation', (res, req) => {
  const index = Number(req.getParameter(0));
  afterBody(res, (answer) => answer(commitAlone(index).reply));
});
app.get('/messages/:conversation', (res, req) => {
  const { rows } = laneOf('0');
  res.end(JSON.stringify({ messages: rows.messages(Number(req.getParameter(0))), nextCursor: null }));
});
app.get('/queue', (res) => void res.end(JSON.stringify({ conversations: laneOf('0').rows.queue(), nextCursor: null })));
app.ws<{ next: number; open: boolean }>('/calls', {
  idleTimeout: 120,
  upgrade: (res, req, context) =>
    res.upgrade(
      { next: 0, open: true },
      req.getHeader('sec-websocket-key'),
      req.getHeader('sec-websocket-protocol'),
      '',
      context,
    ),
  message(ws) {
    const data = ws.getUserData();
    const lane = laneOf('0');
    data.next += 1;
    lane.send(data.next, () => {
      if (data.open) ws.send(`{"type":"reply","status":201,"body":${lane.rows.reply}}`);
    });
  },
  close(ws) {
    ws.getUserData().open = false;
  },
});
app.ws('/topic', { idleTimeout: 120, open: (ws) => void ws.subscribe(topic) });
/** One text of each length in `bytes`, such as 1100,1400. */
app.post('/publish', (res, req) => {
  const texts = (req.getQuery('bytes') ?? '').split(',').map((bytes) => 'x'.repeat(Number(bytes)));
  afterBody(res, (answer) => {
    for (const text of texts) app.publish(topic, text);
    answer('{}');
  });
});

let listening: us_listen_socket | false = false;
app.listen('127.0.0.1', 0, (socket) => {
  listening = socket;
  process.stdout.write(`the reference listens on http://127.0.0.1:${us_socket_local_port(socket)}\n`);
});

process.once('SIGTERM', () => {
  if (listening !== false) us_listen_socket_close(listening);
  app.close();
  void Promise.all([...lanes.values()].map(({ lane }) => lane.drained())).then(() => process.exit(0));
});
