// Markdown as elements. The library parses it into a tree, and this file decides what to draw. A text cannot create
// elements of its own: HTML in it is shown as text, and only web addresses become links.

import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { OutLink } from '../parts.tsx';

export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const tokens = useMemo(() => lexer(text), [text]);
  return <div class="markdown">{blocks(tokens)}</div>;
}

/** The library's types allow tokens of extensions; there are none here. */
function blocks(tokens: readonly Token[] | undefined): ComponentChildren {
  return tokens?.map((token, index) => <Block key={index} token={token as MarkedToken} />);
}

function inline(tokens: readonly Token[] | undefined): ComponentChildren {
  return tokens?.map((token, index) => <Inline key={index} token={token as MarkedToken} />);
}

function Block({ token }: { readonly token: MarkedToken }): JSX.Element | null {
  switch (token.type) {
    case 'space':
    case 'def':
      return null;
    case 'heading':
      return <Heading token={token} />;
    case 'paragraph':
      return <p>{inline(token.tokens)}</p>;
    case 'code':
      return (
        <pre tabIndex={0}>
          <code>{token.text}</code>
        </pre>
      );
    case 'blockquote':
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case 'hr':
      return <hr />;
    case 'list':
      return <List token={token} />;
    case 'table':
      return <Table token={token} />;
    case 'text': {
      const { tokens, text } = token;
      return <>{tokens === undefined ? text : inline(tokens)}</>;
    }
    default:
      return <p>{token.raw}</p>;
  }
}

/** Below the headings of the surrounding page. */
function Heading({ token: { depth, tokens } }: { readonly token: Tokens.Heading }): JSX.Element {
  const Level = (['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const)[depth - 1] ?? 'h6';
  return <Level>{inline(tokens)}</Level>;
}

function List({ token: { ordered, start, items } }: { readonly token: Tokens.List }): JSX.Element {
  const drawn = items.map((item, index) => (
    <li key={index}>
      {item.task && <span>{item.checked === true ? '☑ ' : '☐ '}</span>}
      {blocks(item.tokens.filter(({ type }) => type !== 'checkbox'))}
    </li>
  ));
  return ordered ? <ol start={start === '' ? 1 : start}>{drawn}</ol> : <ul>{drawn}</ul>;
}

function Table({ token: { header, rows } }: { readonly token: Tokens.Table }): JSX.Element {
  return (
    <div class="table-frame">
      <table class="table">
        <thead>
          <tr>
            {header.map(({ tokens }, index) => (
              <th key={index} scope="col">
                {inline(tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map(({ tokens }, at) => (
                <td key={at}>{inline(tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Inline({ token }: { readonly token: MarkedToken }): JSX.Element {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>;
    case 'em':
      return <em>{inline(token.tokens)}</em>;
    case 'del':
      return <del>{inline(token.tokens)}</del>;
    case 'codespan':
      return <code>{token.text}</code>;
    case 'br':
      return <br />;
    case 'link': {
      const { href, tokens } = token;
      return <OutLink url={href}>{inline(tokens)}</OutLink>;
    }
    case 'image': {
      // Loading an external image would tell its host who reads this.
      const { href, text } = token;
      return <OutLink url={href}>{text === '' ? 'Picture' : text}</OutLink>;
    }
    case 'escape':
      return <>{token.text}</>;
    case 'text': {
      const { tokens, text } = token;
      return <>{tokens === undefined ? text : inline(tokens)}</>;
    }
    default:
      return <>{token.raw}</>;
  }
}
