// The thread that renders articles. Its library needs minutes for some texts that are made for that, which must cost no
// search.

import { answerCalls } from '../thread.ts';
import { articleHtml } from './article-html.ts';

/** Of the longest article that someone writes; one of nothing but headings has more markup than text. */
const maxHtmlChars = 500_000;

export const methods = {
  articleHtml(markdown: string): string {
    const html = articleHtml(markdown);
    if (html.length > maxHtmlChars) throw new Error(`the article has more than ${maxHtmlChars} characters of HTML`);
    return html;
  },
};

answerCalls(methods);
