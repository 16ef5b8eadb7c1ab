// Contrast of colours by WCAG 2.2, and warnings about colours that customers can hardly see.

const white = '#ffffff';
/** The widget's text on a light colour. */
const black = '#111111';
const textContrast = 4.5;
const shapeContrast = 3;

export function isHex(text: string): boolean {
  return /^#[0-9a-f]{6}$/i.test(text);
}

/** "#25f" and "2563EB" become "#2255ff" and "#2563eb"; text that is not a colour stays unchanged. */
export function normalHex(text: string): string {
  const bare = text.trim().replace(/^#/, '');
  if (/^[0-9a-f]{3}$/i.test(bare)) return `#${[...bare].map((sign) => sign + sign).join('')}`.toLowerCase();
  return /^[0-9a-f]{6}$/i.test(bare) ? `#${bare}`.toLowerCase() : text;
}

function luminanceOf(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

/** The widget's text colour on this colour. */
export function inkOn(hex: string): string {
  return contrastOf(hex, white) >= contrastOf(hex, black) ? white : black;
}

/** Warnings about a site's colour; empty if there are none. */
export function warningsOf(hex: string): readonly string[] {
  const ratio = contrastOf(hex, inkOn(hex));
  const warnings: string[] = [];
  if (ratio < textContrast)
    warnings.push(
      `Text on it is hard to read: its contrast is ${ratio.toFixed(1)}, and 4.5 is needed. Try a lighter or darker colour.`,
    );
  const onPage = contrastOf(hex, white);
  if (onPage < shapeContrast)
    warnings.push(`The button is hard to see on a white page: its contrast is ${onPage.toFixed(1)}, and 3 is needed.`);
  return warnings;
}
