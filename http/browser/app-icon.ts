// The icon of the pages, a round face with a plug in it: as SVG, and as PNG for systems that take no SVG. Drawn here
// from the same shapes, so that no picture has to be kept.

import { crc32, deflateSync } from 'node:zlib';

const accent = [0x0f, 0x6b, 0x5c] as const;

const face =
  "%3Cpath d='M9 20a7 7 0 0 1 14 0M16 13V8' stroke='%23fff' stroke-width='3' fill='none' stroke-linecap='round'/%3E%3Ccircle cx='16' cy='21' r='2.5' fill='%23fff'/%3E";

/** For the document's head. */
export const iconUrl = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='9' fill='%230f6b5c'/%3E${face}%3C/svg%3E`;

export const iconSizes = [180, 192, 512] as const;
export type IconSize = (typeof iconSizes)[number];

const drawn = new Map<IconSize, Uint8Array>();

/** Fills its square: systems cut it to their own shape. */
export function iconPng(size: IconSize): Uint8Array {
  const known = drawn.get(size);
  if (known !== undefined) return known;
  const png = pngOf(size);
  drawn.set(size, png);
  return png;
}

/** The distance of a point from the white shapes; negative inside. Coordinates are those of the SVG's 32 by 32. */
function distance(x: number, y: number): number {
  const half = 1.5;
  const plug = Math.hypot(x - 16, y - Math.min(13, Math.max(8, y))) - half;
  const hole = Math.hypot(x - 16, y - 21) - 2.5;
  const arc =
    y <= 20
      ? Math.abs(Math.hypot(x - 16, y - 20) - 7) - half
      : Math.min(Math.hypot(x - 9, y - 20), Math.hypot(x - 23, y - 20)) - half;
  return Math.min(plug, hole, arc);
}

/** RGB without alpha (PNG specification, color type 2), each row unfiltered. */
function pngOf(size: number): Uint8Array {
  const rowBytes = 1 + 3 * size;
  const pixels = new Uint8Array(rowBytes * size);
  // A maskable icon keeps to the inner 80 %.
  const scale = 32 / 0.8 / size;
  const offset = 16 - 16 / 0.8;
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      const away = distance(offset + (column + 0.5) * scale, offset + (row + 0.5) * scale) / scale;
      const cover = Math.min(1, Math.max(0, 0.5 - away));
      for (const [channel, value] of accent.entries())
        pixels[row * rowBytes + 1 + 3 * column + channel] = Math.round(value + (255 - value) * cover);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(pixels)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Uint8Array): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(8 + typed.length);
  framed.writeUInt32BE(data.length, 0);
  framed.set(typed, 4);
  framed.writeUInt32BE(crc32(typed), 4 + typed.length);
  return framed;
}
