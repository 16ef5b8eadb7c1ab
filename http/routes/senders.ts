// The addresses that agents send mail from, their signatures, and how each agent sends.

import Type from 'typebox';
import { changeMailHabit, listSenders, readMailHabit, setSenderSignature } from '../../engine/mail/signatures.ts';
import { route } from '../route.ts';
import { nullable } from '../schemas/shared.ts';
import { richText } from './written-text.ts';

const SignatureInput = nullable(
  Type.String({ maxLength: 5000, description: 'In the Markdown of mails. Null or blank removes it.' }),
);
const Signature = nullable(
  Type.Object({
    markdown: Type.String(),
    text: Type.String({ description: 'As in the plain part of a mail.' }),
    html: Type.String({ description: 'Safe.' }),
  }),
);
const Sender = Type.Object({
  address: Type.String(),
  isDefault: Type.Boolean({ description: 'New mails leave from it.' }),
  signature: Signature,
});
const MailHabit = Type.Object({
  undoSeconds: Type.Integer({ minimum: 0, maximum: 30 }),
  sendKey: Type.Enum(['mod_enter', 'enter']),
  signature: Signature,
});

export const senderRoutes = [
  route({
    operation: 'sender.list',
    method: 'GET',
    path: '/email/senders',
    tag: 'Email',
    summary: 'List sender addresses',
    description: 'The addresses that agents can send mail from, the default first.',
    access: { kind: 'agent', scope: 'agents:read' },
    reply: { status: 200, schema: Type.Object({ senders: Type.Array(Sender) }) },
    refusals: [],
    read: (view) => ({ senders: listSenders(view) }),
  }),

  route({
    operation: 'sender.setSignature',
    method: 'PUT',
    path: '/email/senders/{address}/signature',
    tag: 'Email',
    summary: 'Set the signature of a sender address',
    description: "Ends every mail from the address, below the agent's own signature.",
    access: { kind: 'agent', scope: null, role: 'admin' },
    params: Type.Object({ address: Type.String({ maxLength: 254 }) }),
    body: Type.Object({ signature: SignatureInput }),
    reply: { status: 200, schema: Sender },
    refusals: [],
    async run({ workspaceId, caller, params, body }, services) {
      const signature = await richText(services, body.signature);
      return services.engine.execute(setSenderSignature, { workspaceId, caller, params: { ...params, signature } });
    },
  }),

  route({
    operation: 'mailHabit.read',
    method: 'GET',
    path: '/me/mail',
    tag: 'Email',
    summary: 'Get how you send mail',
    access: { kind: 'agent', scope: null },
    reply: { status: 200, schema: MailHabit },
    refusals: [],
    read: (view) => readMailHabit(view),
  }),

  route({
    operation: 'mailHabit.change',
    method: 'PATCH',
    path: '/me/mail',
    tag: 'Email',
    summary: 'Change how you send mail',
    access: { kind: 'agent', scope: null },
    body: Type.Object({
      undoSeconds: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: 30,
          description: 'How long a mail can be taken back; 0 sends at once.',
        }),
      ),
      sendKey: Type.Optional(
        Type.Enum(['mod_enter', 'enter'], { description: 'The key that sends a mail; the other one starts a line.' }),
      ),
      signature: Type.Optional(SignatureInput),
    }),
    reply: { status: 200, schema: MailHabit },
    refusals: [],
    async run({ workspaceId, caller, body }, services) {
      const { signature, ...changes } = body;
      return services.engine.execute(changeMailHabit, {
        workspaceId,
        caller,
        params: {
          changes: signature === undefined ? changes : { ...changes, signature: await richText(services, signature) },
        },
      });
    },
  }),
];
