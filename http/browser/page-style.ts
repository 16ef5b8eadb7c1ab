// The style that these HTML pages share. Light or dark like the reader's system; text contrast is at least 4.5:1, and
// 3:1 for the edges of controls.

export const pageStyle = `
:root { color-scheme: light dark; --ink: #1a1d21; --paper: #f5f7f9; --card: #fff; --line: #c5ccd4; --edge: #7b8591; --soft: #5b6470; --accent: #0f6b5c; --link: #0f6b5c; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --paper: #14171a; --card: #1b2025; --line: #3a424b; --edge: #727c88; --soft: #9aa4b0; --accent: #12806e; --link: #4fc3ac; --bad: #ff9b90; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; color: var(--ink); background: var(--paper); font: 16px/1.5 system-ui, sans-serif; }
main { width: min(24rem, 100%); padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
h1 { margin: 0 0 1rem; font-size: 1.35rem; }
a { color: var(--link); }
label { display: block; margin-top: .9rem; font-weight: 600; }
input { width: 100%; padding: .6rem .7rem; color: inherit; background: transparent; border: 1px solid var(--edge); border-radius: .4rem; font: inherit; }
button { width: 100%; margin-top: 1rem; padding: .65rem; color: #fff; background: var(--accent); border: 0; border-radius: .4rem; font: inherit; font-weight: 600; cursor: pointer; }
input:focus-visible, button:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
#hint { margin: .4rem 0 0; color: var(--soft); font-size: .875rem; }
#problem { margin: .8rem 0 0; color: var(--bad); min-height: 1.5em; }
`;
