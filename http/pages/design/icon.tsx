// Icons in one style: strokes of 1.75 on a square of 20. They are decorative, since a control is described by its name;
// an icon that replaces a word has it as its label.

import type { JSX } from 'preact';

const paths = {
  inbox: 'M3 11l2.5-7h9L17 11v4.5a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V11zm0 0h4.2l1 2h3.6l1-2H17',
  chat: 'M3.5 4.5h13v9h-7l-3.5 3v-3h-2.5z',
  ticket: 'M3 5.5h14v9H3zM3 6l7 5 7-5',
  call: 'M5.5 3.5l2.2.2 1 3.3-1.8 1.5a9 9 0 0 0 4.6 4.6l1.5-1.8 3.3 1 .2 2.2c0 1-.8 1.8-1.8 1.8A11.7 11.7 0 0 1 3.7 5.3c0-1 .8-1.8 1.8-1.8z',
  search: 'M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM13 13l4 4',
  people:
    'M7.5 9.5a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5zM2.5 16.5a5 5 0 0 1 10 0M13 4.3a2.75 2.75 0 0 1 0 5M14.5 12.2a5 5 0 0 1 3 4.3',
  person: 'M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 17a6 6 0 0 1 12 0',
  chart: 'M3.5 16.5h13M5.5 13.5v-4M10 13.5v-9M14.5 13.5V7',
  settings: 'M3 6h7M14 6h3M3 14h3M10 14h7M12 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 16a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  check: 'M4 10.5l4 4 8-9',
  cross: 'M5 5l10 10M15 5L5 15',
  plus: 'M10 4v12M4 10h12',
  minus: 'M4 10h12',
  down: 'M5 8l5 5 5-5',
  up: 'M5 12l5-5 5 5',
  left: 'M12 5l-5 5 5 5',
  right: 'M8 5l5 5-5 5',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
  clip: 'M15.5 9.5l-5.6 5.6a3.5 3.5 0 0 1-5-5l6-6a2.3 2.3 0 0 1 3.3 3.3l-5.9 5.9a1.1 1.1 0 0 1-1.6-1.6l5.2-5.2',
  note: 'M4 3.5h12v8.5l-4 4.5H4zM12 16v-4h4M7 7.5h6M7 10.5h3',
  send: 'M3.5 10L17 3.5 12.5 17 9.8 11z',
  bolt: 'M11 3L4.5 11.5H9L8.5 17 15.5 8.5H11z',
  book: 'M4 4.5c2.5-.8 4.5-.5 6 .8 1.5-1.3 3.5-1.6 6-.8v11c-2.5-.8-4.5-.5-6 .8-1.5-1.3-3.5-1.6-6-.8zM10 5.3v11',
  tag: 'M3.5 3.5h6l7 7-6 6-7-7zM7 7h.01',
  clock: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l2.5 2',
  globe:
    'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM3 10h14M10 3c2 2 2.8 4.5 2.8 7S12 15 10 17c-2-2-2.8-4.5-2.8-7S8 5 10 3z',
  copy: 'M7 7h9.5v9.5H7zM13 7V3.5H3.5V13H7',
  link: 'M8.5 11.5a3 3 0 0 0 4.2 0l2.9-2.9a3 3 0 0 0-4.2-4.2l-1 1M11.5 8.5a3 3 0 0 0-4.2 0l-2.9 2.9a3 3 0 0 0 4.2 4.2l1-1',
  trash: 'M4 6h12M8 6V4h4v2M5.5 6l.7 10.5h7.6L14.5 6',
  edit: 'M4 16l.8-3.5L13 4.3l2.7 2.7-8.2 8.2zM11.5 5.8l2.7 2.7',
  eye: 'M2.5 10S5 5 10 5s7.5 5 7.5 5-2.5 5-7.5 5-7.5-5-7.5-5zM10 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  block: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM5.2 5.2l9.6 9.6',
  warning: 'M10 3.5L17.5 16.5h-15zM10 8.5v3.5M10 14.5h.01',
  info: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 9.5V14M10 6.5h.01',
  moon: 'M16.5 11.8A6.8 6.8 0 0 1 8.2 3.5a6.8 6.8 0 1 0 8.3 8.3z',
  sun: 'M10 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM10 2.5v1.5M10 16v1.5M2.5 10H4M16 10h1.5M4.7 4.7l1 1M14.3 14.3l1 1M4.7 15.3l1-1M14.3 5.7l1-1',
  out: 'M8 3.5H4v13h4M12 6.5L15.5 10 12 13.5M15 10H7.5',
  keyboard: 'M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6.5 11.5h7',
  pause: 'M7 4.5v11M13 4.5v11',
  play: 'M6 4l10 6-10 6z',
  hangUp: 'M2.5 12.5c4.5-4 10.5-4 15 0l-1.7 2.2-3-1.2v-2a11 11 0 0 0-5.6 0v2l-3 1.2z',
  transfer: 'M4 7h11l-3-3M16 13H5l3 3',
  voicemail: 'M6 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM14 13a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM6 13h8',
  star: 'M10 3.5l2 4.3 4.6.6-3.4 3.2.9 4.6L10 13.9l-4.1 2.3.9-4.6L3.4 8.4 8 7.8z',
  card: 'M2.5 5h15v10.5h-15zM2.5 8.5h15M5.5 12.5h3',
  key: 'M7 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM10.5 10H17v3M14 10v2.5',
  hook: 'M10 4.5a2.5 2.5 0 0 0-2 4L6 12.5M10 4.5a2.5 2.5 0 0 1 2.5 2.5M12 9l2 3.5M5.5 15.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM14.5 15.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM7.5 13.5h5',
  megaphone: 'M4 8.5v3l9 4v-11zM13 4.5c2.5.5 4 2.5 4 5.5s-1.5 5-4 5.5M6 12.3l.8 4.2H9l-.8-3.2',
  filter: 'M3.5 6h13M6 10h8M8.5 14h3',
  flag: 'M5 17V3.5h9.5L12.5 7l2 3.5H5',
  list: 'M7 5.5h10M7 10h10M7 14.5h10M3.5 5.5h.01M3.5 10h.01M3.5 14.5h.01',
  bold: 'M6 4h5a3 3 0 0 1 0 6H6zM6 10h5.5a3 3 0 0 1 0 6H6z',
  italic: 'M8 4h6M6 16h6M11.5 4l-3 12',
  numbers: 'M8 5.5h9M8 10h9M8 14.5h9M3.5 4.5l1-.5v3M3.3 12.8c.2-.9 1.9-.9 1.9.2 0 .8-1.9 1.6-1.9 2.5h2',
  quote: 'M4.5 13.5c2 0 3-1.5 3-3.5V6h-4v4h2.5M12.5 13.5c2 0 3-1.5 3-3.5V6h-4v4H14',
  code: 'M7 6l-4 4 4 4M13 6l4 4-4 4',
  forward: 'M3.5 16.5v-2a5 5 0 0 1 5-5H16M12.5 5.5l4 4-4 4',
  download: 'M10 3.5v9M6 9l4 4 4-4M4 16.5h12',
  upload: 'M10 13V4M6 7.5l4-4 4 4M4 16.5h12',
  bell: 'M5 13.5h10l-1.2-2V8.5a3.8 3.8 0 0 0-7.6 0v3zM8.5 16.5h3',
  menu: 'M3.5 5.5h13M3.5 10h13M3.5 14.5h13',
  home: 'M3.5 9.5L10 4l6.5 5.5V16.5h-13zM8 16.5v-4.5h4v4.5',
} as const;

export type IconName = keyof typeof paths;

export function Icon({
  name,
  size = 20,
  label,
}: {
  readonly name: IconName;
  readonly size?: number;
  readonly label?: string;
}): JSX.Element {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      <path d={paths[name]} />
    </svg>
  );
}
