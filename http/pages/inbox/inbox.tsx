// The pages of this folder.

import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { conversationOf, loadConversation } from './conversations.ts';
import { ConversationHeader } from './conversation-header.tsx';
import { CustomerPanel } from './side/customer-panel.tsx';
import { HandshakeBanner } from './side/handshake.tsx';

export function Inbox({ params }: { readonly params: Readonly<Record<string, string>> }): JSX.Element {
  const { list = 'mine', conversationId = '' } = params;
  useEffect(() => {
    if (conversationId !== '') void loadConversation(conversationId);
  }, [conversationId]);
  const conversation = conversationOf(conversationId);
  if (conversation === undefined) return <div class="page" />;
  return (
    <div class="page">
      <ConversationHeader conversation={conversation} back={`/inbox/${list}`} isPanelOpen onPanel={() => undefined} />
      <HandshakeBanner conversation={conversation} />
      <CustomerPanel conversation={conversation} />
    </div>
  );
}
