// The widget's styles: light and dark, left-to-right and right-to-left, full screen on phones, without motion if the user
// prefers that. The style sheet is constructed, which a page's content policy does not restrict.

/** Above what pages put on top, below the maximum. */
const layer = '2147483000';

const dark =
  'color-scheme: dark; --paper: #16191d; --ink: #e8eaed; --soft: #a3adb8; --line: #30363d; --tint: #242a31; --alarm: #ff9d94;';

export const styles = `
:host { all: initial !important; position: fixed !important; z-index: ${layer} !important; inset: auto 0 0 auto !important; display: block !important; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
.root {
  --paper: #fff; --ink: #1b1f24; --soft: #59636e; --line: #dde2e8; --tint: #f1f3f6; --alarm: #b42318; --gap: 20px; --side: 20px;
  color-scheme: light; color: var(--ink); font: 15px/1.45 system-ui, -apple-system, 'Segoe UI', sans-serif; text-align: start;
}
@media (prefers-color-scheme: dark) { .auto { ${dark} } }
.dark { ${dark} }
button, textarea, input { font: inherit; color: inherit; }
/* Each paragraph follows the direction of its own text, not the page's. */
textarea, .bubble, .said { unicode-bidi: plaintext; }
button { cursor: pointer; border: 1px solid transparent; background: none; border-radius: 10px; padding: 0; }
button:disabled { cursor: default; opacity: .4; }
svg { width: 22px; height: 22px; fill: currentColor; display: block; }
:focus-visible { outline: 2px solid var(--ink); outline-offset: 2px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.launcher {
  position: fixed; bottom: var(--gap); width: 58px; height: 58px; border-radius: 50%; background: var(--primary); color: var(--on-primary);
  display: grid; place-items: center; box-shadow: 0 4px 18px rgb(0 0 0 / .24); transition: transform .15s;
}
.launcher:hover { transform: scale(1.05); }
.launcher svg { width: 28px; height: 28px; }
.launcher[aria-expanded='true'] svg:first-child, .launcher[aria-expanded='false'] svg:nth-child(2) { display: none; }
.badge {
  position: absolute; top: -3px; inset-inline-end: -3px; min-width: 22px; height: 22px; padding: 0 6px; border-radius: 11px; background: #c4281b; color: #fff;
  font-size: 13px; font-weight: 600; line-height: 22px; text-align: center;
}
.right .launcher, .right .panel, .right .offer { right: var(--side); }
.left .launcher, .left .panel, .left .offer { left: var(--side); }

.panel {
  position: fixed; bottom: calc(var(--gap) + 72px); width: 384px; height: min(640px, calc(100vh - var(--gap) - 96px)); display: flex; flex-direction: column; overflow: hidden;
  background: var(--paper); border: 1px solid var(--line); border-radius: 16px; box-shadow: 0 12px 40px rgb(0 0 0 / .22); animation: rise .18s ease-out;
}
@keyframes rise { from { opacity: 0; transform: translateY(10px); } }
.head { flex: none; display: flex; align-items: center; gap: 8px; padding: 14px 12px 14px 18px; padding-inline: 18px 12px; background: var(--primary); color: var(--on-primary); }
.head h2 { margin: 0; font-size: 17px; font-weight: 650; overflow-wrap: anywhere; }
.head p { margin: 2px 0 0; font-size: 13px; opacity: .9; }
.head div { flex: 1; min-width: 0; }
.head :focus-visible, .launcher:focus-visible { outline-color: var(--on-primary); outline-offset: -4px; }
.plain { display: grid; place-items: center; width: 40px; height: 40px; flex: none; color: inherit; }
.plain:hover { background: rgb(127 127 127 / .16); }
.small { width: 28px; height: 28px; }
.small svg { width: 16px; height: 16px; }
.offline { flex: none; padding: 6px 18px; font-size: 13px; background: var(--tint); color: var(--soft); text-align: center; }

.scroll { flex: 1; min-height: 0; overflow-y: auto; overscroll-behavior: contain; padding: 16px; display: flex; flex-direction: column; }
/* Aligns few messages to the bottom; justify-content: flex-end would make many unscrollable. */
.scroll > :first-child { margin-top: auto; }
.scroll:focus-visible { outline-offset: -3px; }
.lines, .after { list-style: none; margin: 0; padding: 0; display: flex; flex-direction: column; gap: 8px; }
.after:not(:empty) { margin-top: 8px; }
.line { position: relative; max-width: 82%; display: flex; flex-direction: column; gap: 4px; }
.mine { align-self: flex-end; align-items: flex-end; }
.theirs { align-self: flex-start; align-items: flex-start; }
.bubble { padding: 9px 13px; border-radius: 16px; white-space: pre-wrap; overflow-wrap: anywhere; }
.mine .bubble { background: var(--primary); color: var(--on-primary); border-end-end-radius: 5px; }
.theirs .bubble { background: var(--tint); border-end-start-radius: 5px; }
.bubble a { color: inherit; }
.state, .day { font-size: 12px; color: var(--soft); }
.state:empty { display: none; }
[data-state='sending'] .bubble { opacity: .65; }
[data-state='failed'] .state { color: var(--alarm); }
.who { display: flex; align-items: center; gap: 6px; font-size: 12px; color: var(--soft); }
.face { width: 20px; height: 20px; border-radius: 50%; object-fit: cover; display: block; }
.head .face { width: 36px; height: 36px; }
.logo .face { border-radius: 6px; object-fit: contain; }
.typing .state { margin-block: -6px; }
.centred { align-self: center; text-align: center; }
.day { padding: 8px 0 2px; }
.link { text-decoration: underline; color: inherit; }
.quiet { padding: 6px 12px; color: var(--soft); border-color: var(--line); font-size: 13px; }
.file { display: flex; align-items: center; gap: 8px; max-width: 100%; padding: 8px 12px; border: 1px solid var(--line); border-radius: 12px; color: inherit; overflow-wrap: anywhere; }
.file svg { flex: none; width: 18px; height: 18px; }
.file:has(img) { padding: 0; overflow: hidden; }
.file img { display: block; max-width: 100%; max-height: 220px; }
.typing { align-self: flex-start; display: flex; gap: 4px; padding: 13px; border-radius: 16px; background: var(--tint); }
.typing i { width: 7px; height: 7px; border-radius: 50%; background: var(--soft); animation: blink 1.2s infinite; }
.typing i:nth-of-type(2) { animation-delay: .2s; }
.typing i:nth-of-type(3) { animation-delay: .4s; }
@keyframes blink { 40% { opacity: .25; } }

.card { margin: 6px 0 0; padding: 14px; border: 1px solid var(--line); border-radius: 14px; display: flex; flex-direction: column; gap: 10px; }
.card p { margin: 0; }
.card fieldset { margin: 0; padding: 0; border: 0; min-width: 0; text-align: center; }
.card legend { padding: 0 0 8px; margin: 0 auto; font-weight: 600; }
.card .row { display: flex; gap: 8px; }
.stars { display: flex; justify-content: center; gap: 2px; }
.stars label { position: relative; cursor: pointer; border-radius: 8px; color: #b54708; padding: 5px; }
.stars svg { width: 30px; height: 30px; }
.stars input { position: absolute; inset: 0; opacity: 0; margin: 0; cursor: pointer; }
.stars label:has(~ label input:checked) svg, .stars label:has(input:checked) svg { fill: #f5a623; }
.stars svg { fill: var(--line); stroke: #8a6a1f; stroke-width: 1; }
.stars label:has(input:focus-visible) { outline: 2px solid var(--ink); }
.field { width: 100%; min-width: 0; padding: 9px 12px; border: 1px solid var(--soft); border-radius: 10px; background: var(--paper); resize: none; }
.primary { flex: none; padding: 9px 16px; background: var(--primary); color: var(--on-primary); font-weight: 600; }
.rating .primary { width: 100%; margin-top: 8px; }
.problem { margin: 0; color: var(--alarm); font-size: 13px; }
.problem:empty { display: none; }
.notice { margin: 0; padding: 14px 18px; color: var(--soft); text-align: center; }

.away { flex: 1; min-height: 0; overflow-y: auto; padding: 16px; }
.away form { display: flex; flex-direction: column; gap: 10px; }
.away p { margin: 0 0 10px; }
.chats { list-style: none; margin: 0 !important; padding: 0; }
.chat { display: block; width: 100%; padding: 10px 12px; border-radius: 10px; text-align: start; }
.chat:hover { background: var(--tint); }
.chat .what { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.chat small { color: var(--soft); }

.composer { flex: none; padding: 10px 12px calc(10px + env(safe-area-inset-bottom)); border-top: 1px solid var(--line); display: flex; flex-direction: column; gap: 6px; }
.composer .row { display: flex; align-items: flex-end; gap: 4px; }
.composer textarea { flex: 1; min-width: 0; max-height: 140px; padding: 9px 12px; border: 1px solid var(--soft); border-radius: 20px; background: var(--paper); resize: none; line-height: 20px; }
.composer textarea:focus-visible { outline-offset: 0; }
.composer .plain { color: var(--soft); }
.round { width: 40px; height: 40px; flex: none; display: grid; place-items: center; border-radius: 50%; background: var(--primary); color: var(--on-primary); }
[dir='rtl'] .round svg { transform: scaleX(-1); }
.files { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 6px; }
.files:empty { display: none; }
.files li { display: flex; align-items: center; max-width: 100%; padding-inline-start: 10px; border: 1px solid var(--line); border-radius: 10px; font-size: 13px; background: var(--tint); }
.files li span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.files li[aria-busy] { opacity: .65; }

.offer { position: fixed; bottom: calc(var(--gap) + 72px); width: 330px; max-width: calc(100vw - 2 * var(--side)); }
.campaign, .answer { position: relative; padding: 16px; background: var(--paper); border: 1px solid var(--line); border-radius: 16px; box-shadow: 0 8px 30px rgb(0 0 0 / .18); animation: rise .25s ease-out; }
.preview { width: 100%; max-height: 4.5em; padding-inline-end: 28px; overflow: hidden; text-align: start; overflow-wrap: anywhere; white-space: pre-line; }
.campaign .who { display: flex; align-items: center; gap: 8px; padding-inline-end: 28px; }
.campaign .who img { width: 32px; height: 32px; border-radius: 50%; object-fit: cover; }
.said { margin: 8px 0 12px; white-space: pre-wrap; overflow-wrap: anywhere; max-height: 40vh; overflow-y: auto; }
.replies { display: flex; flex-wrap: wrap; gap: 8px; }
.reply { padding: 8px 14px; border: 1px solid var(--ink); border-radius: 18px; }
.reply:hover { background: var(--tint); }
.dismiss { position: absolute; top: 10px; inset-inline-end: 10px; color: var(--soft); }

@media (max-width: 480px), (max-height: 420px) {
  .panel { inset: 0 !important; width: 100%; height: 100%; height: 100dvh; border: 0; border-radius: 0; padding-top: env(safe-area-inset-top); background: var(--paper); }
  .launcher[aria-expanded='true'], .bare .launcher, .bare .offer { display: none; }
  .composer textarea, .field { font-size: 16px; }
}
@media (prefers-reduced-motion: reduce) {
  * { animation: none !important; transition: none !important; }
  .launcher:hover { transform: none; }
}
@media (forced-colors: active) {
  .launcher, .round, .primary, .bubble, .badge { border: 1px solid; }
  .stars label:has(~ label input:checked) svg, .stars label:has(input:checked) svg { fill: Highlight; }
}
@media print { :host { display: none !important; } }
`;

/** Black or white, whichever has more contrast to the colour (WCAG 2.2, relative luminance). */
export function readableOn(hex: string): '#fff' | '#111' {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  const [white, black] = [1.05, 0.0556];
  return white / (luminance + 0.05) >= (luminance + 0.05) / black ? '#fff' : '#111';
}

/**
 * Browsers without constructed sheets get a style element. A page's policy may block it, and the widget is then
 * unstyled.
 */
export function dress(shadow: ShadowRoot): void {
  if ('replaceSync' in CSSStyleSheet.prototype && 'adoptedStyleSheets' in shadow) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    shadow.adoptedStyleSheets = [sheet];
    return;
  }
  const element = document.createElement('style');
  element.textContent = styles;
  (shadow as ShadowRoot).append(element);
}
