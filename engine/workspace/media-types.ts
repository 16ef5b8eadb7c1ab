// File types that may be uploaded: common documents, archives, images, audio and video. One list decides what is
// accepted, the extension of a stored file and the type it is served as. It has nothing that a browser runs (SVG, HTML,
// scripts) or a computer runs. Specification 8.

import { oneLine } from '../lines.ts';
import { firstChars } from '../text.ts';

/** How the content must match the declared type. */
type Evidence =
  /** Detected as exactly this type. */
  | 'exact'
  /** Detected as one of a family that shares containers, or not at all. */
  | 'office'
  | 'media'
  | 'archive'
  /** Not detected as any other type. */
  | 'text';

interface MediaType {
  /** Accepted file extensions. A name with any other gets the first one. */
  readonly extensions: readonly string[];
  readonly evidence: Evidence;
}

const mediaTypes: ReadonlyMap<string, MediaType> = new Map(
  Object.entries({
    'image/png': { extensions: ['png'], evidence: 'exact' },
    'image/jpeg': { extensions: ['jpg', 'jpeg'], evidence: 'exact' },
    'image/gif': { extensions: ['gif'], evidence: 'exact' },
    'image/webp': { extensions: ['webp'], evidence: 'exact' },
    'image/avif': { extensions: ['avif'], evidence: 'exact' },
    'image/heic': { extensions: ['heic', 'heif'], evidence: 'exact' },
    'image/bmp': { extensions: ['bmp'], evidence: 'exact' },
    'image/tiff': { extensions: ['tif', 'tiff'], evidence: 'exact' },
    'application/pdf': { extensions: ['pdf'], evidence: 'exact' },
    'text/plain': { extensions: ['txt', 'log'], evidence: 'text' },
    'text/csv': { extensions: ['csv'], evidence: 'text' },
    'text/markdown': { extensions: ['md'], evidence: 'text' },
    'text/tab-separated-values': { extensions: ['tsv'], evidence: 'text' },
    'text/calendar': { extensions: ['ics'], evidence: 'text' },
    'text/vcard': { extensions: ['vcf'], evidence: 'text' },
    'application/json': { extensions: ['json'], evidence: 'text' },
    'message/rfc822': { extensions: ['eml'], evidence: 'text' },
    'application/vnd.ms-outlook': { extensions: ['msg'], evidence: 'office' },
    'application/rtf': { extensions: ['rtf'], evidence: 'office' },
    'application/msword': { extensions: ['doc'], evidence: 'office' },
    'application/vnd.ms-excel': { extensions: ['xls'], evidence: 'office' },
    'application/vnd.ms-powerpoint': { extensions: ['ppt'], evidence: 'office' },
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': {
      extensions: ['docx'],
      evidence: 'office',
    },
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': { extensions: ['xlsx'], evidence: 'office' },
    'application/vnd.openxmlformats-officedocument.presentationml.presentation': {
      extensions: ['pptx'],
      evidence: 'office',
    },
    'application/vnd.oasis.opendocument.text': { extensions: ['odt'], evidence: 'office' },
    'application/vnd.oasis.opendocument.spreadsheet': { extensions: ['ods'], evidence: 'office' },
    'application/vnd.oasis.opendocument.presentation': { extensions: ['odp'], evidence: 'office' },
    'application/vnd.openxmlformats-officedocument.presentationml.slideshow': {
      extensions: ['ppsx'],
      evidence: 'office',
    },
    'application/vnd.oasis.opendocument.graphics': { extensions: ['odg'], evidence: 'office' },
    'application/vnd.apple.pages': { extensions: ['pages'], evidence: 'office' },
    'application/vnd.apple.numbers': { extensions: ['numbers'], evidence: 'office' },
    'application/vnd.apple.keynote': { extensions: ['key'], evidence: 'office' },
    'application/epub+zip': { extensions: ['epub'], evidence: 'archive' },
    'application/zip': { extensions: ['zip'], evidence: 'archive' },
    'application/x-7z-compressed': { extensions: ['7z'], evidence: 'exact' },
    'application/vnd.rar': { extensions: ['rar'], evidence: 'exact' },
    'application/gzip': { extensions: ['gz', 'tgz'], evidence: 'exact' },
    'application/x-tar': { extensions: ['tar'], evidence: 'exact' },
    'audio/mpeg': { extensions: ['mp3'], evidence: 'media' },
    'audio/mp4': { extensions: ['m4a'], evidence: 'media' },
    'audio/aac': { extensions: ['aac'], evidence: 'media' },
    'audio/ogg': { extensions: ['ogg', 'oga', 'opus'], evidence: 'media' },
    'audio/wav': { extensions: ['wav'], evidence: 'media' },
    'audio/webm': { extensions: ['weba'], evidence: 'media' },
    'audio/flac': { extensions: ['flac'], evidence: 'media' },
    'video/mp4': { extensions: ['mp4', 'm4v'], evidence: 'media' },
    'video/webm': { extensions: ['webm'], evidence: 'media' },
    'video/quicktime': { extensions: ['mov'], evidence: 'media' },
    'video/ogg': { extensions: ['ogv'], evidence: 'media' },
    'video/mpeg': { extensions: ['mpeg', 'mpg'], evidence: 'media' },
    'video/3gpp': { extensions: ['3gp', '3g2'], evidence: 'media' },
    'video/x-msvideo': { extensions: ['avi'], evidence: 'media' },
    'video/x-matroska': { extensions: ['mkv'], evidence: 'media' },
    'video/x-ms-wmv': { extensions: ['wmv'], evidence: 'media' },
    'audio/amr': { extensions: ['amr'], evidence: 'media' },
    'audio/aiff': { extensions: ['aiff', 'aif'], evidence: 'media' },
  } satisfies Record<string, MediaType>),
);

/** Other names of the same types. */
const aliases: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'image/jpg': 'image/jpeg',
    'image/pjpeg': 'image/jpeg',
    'image/apng': 'image/png',
    'image/heif': 'image/heic',
    'image/heic-sequence': 'image/heic',
    'image/heif-sequence': 'image/heic',
    'application/x-zip-compressed': 'application/zip',
    'application/x-zip': 'application/zip',
    'application/x-rar-compressed': 'application/vnd.rar',
    'application/x-rar': 'application/vnd.rar',
    'application/x-gzip': 'application/gzip',
    'text/x-vcard': 'text/vcard',
    'text/x-markdown': 'text/markdown',
    'audio/opus': 'audio/ogg',
    'audio/x-aiff': 'audio/aiff',
    'audio/3gpp': 'video/3gpp',
    'video/3gpp2': 'video/3gpp',
    'video/avi': 'video/x-msvideo',
    'video/vnd.avi': 'video/x-msvideo',
    'video/matroska': 'video/x-matroska',
    'video/x-m4v': 'video/mp4',
    'audio/mp3': 'audio/mpeg',
    'audio/x-m4a': 'audio/mp4',
    'audio/x-wav': 'audio/wav',
    'audio/wave': 'audio/wav',
    'audio/vnd.wave': 'audio/wav',
    'audio/x-flac': 'audio/flac',
    'text/rtf': 'application/rtf',
    'image/x-ms-bmp': 'image/bmp',
  }),
);

const families: Readonly<Record<Evidence, RegExp>> = {
  exact: /^$/,
  office:
    /^application\/(?:zip|x-cfb|rtf|vnd\.ms-outlook|vnd\.openxmlformats-officedocument\..+|vnd\.oasis\.opendocument\..+|vnd\.apple\.(?:pages|numbers|keynote))$|^text\/rtf$/,
  media: /^(?:audio|video)\/|^application\/(?:ogg|vnd\.ms-asf)$/,
  // Documents are archives, too; programs (JAR, APK) are detected as such.
  archive:
    /^application\/(?:zip|epub\+zip|vnd\.openxmlformats-officedocument\..+|vnd\.oasis\.opendocument\..+|vnd\.apple\.(?:pages|numbers|keynote))$/,
  text: /^text\/|^application\/json$/,
};

const typeOfExtension = new Map(
  [...mediaTypes].flatMap(([type, { extensions }]) => extensions.map((extension) => [extension, type] as const)),
);

/** Extensions that a computer runs, whatever the declared type. */
const programs =
  /\.(?:ade|apk|app|appimage|appx|bat|chm|cmd|com|command|cpl|crx|deb|desktop|dll|dmg|elf|exe|gadget|hta|img|inf|iso|jar|jnlp|js|jse|lnk|mde|msc|msi|msix|msp|mst|php|pif|pkg|ps1|py|reg|rpm|run|scf|scr|sh|sys|url|vbe?|vbs|vhdx?|wasm|webloc|ws[cfh]?|xll|xpi)$/i;
/** Extensions that a browser may run: not accepted for upload, and harmless in storage. */
const others = /\.(?:bin|html?|mjs|svgz?|xhtml|xml)$/i;

/** The number of leading bytes that type detection needs. */
export const telltaleBytes = 4100;

/** What browsers declare for a file of a type that their system does not know. */
export const unknownType = 'application/octet-stream';

/** The listed type for a declared one, ignoring parameters and spelling. Undefined: not accepted. */
export function acceptedType(declared: string): string | undefined {
  const essence = essenceOf(declared);
  const type = aliases.get(essence) ?? essence;
  return mediaTypes.has(type) ? type : undefined;
}

/** The same, but by the file extension if the declared type is unknown. */
export function typeOfFile(declared: string, filename: string): string | undefined {
  return essenceOf(declared) === unknownType ? typeOfExtension.get(extensionOf(filename)) : acceptedType(declared);
}

export function isUnknownType(declared: string): boolean {
  return essenceOf(declared) === unknownType;
}

function essenceOf(declared: string): string {
  return declared.split(';')[0]?.trim().toLowerCase() ?? '';
}

export function isRunnableName(filename: string): boolean {
  return programs.test(filename) || others.test(filename);
}

/** The file name, changed so that no computer runs the file when it is opened. */
export function unrunnable(filename: string): string {
  return programs.test(filename) ? `${filename}.blocked` : filename;
}

/** Whether the declared type is a listed image type. */
export function isImage(type: string): boolean {
  return type.startsWith('image/');
}

/** Returns false if the content contradicts the declared type. `found`: the detected type, if any. */
export function isBorneOut(type: string, found: string | undefined): boolean {
  const evidence = mediaTypes.get(type)?.evidence ?? 'exact';
  if (evidence === 'exact') return found !== undefined && acceptedType(found) === type;
  return found === undefined || families[evidence].test(found);
}

/** The type a stored object is served as, by the extension of its key. */
export function servedType(key: string): string {
  return typeOfExtension.get(extensionOf(key)) ?? 'application/octet-stream';
}

const longestStem = 100;
const longestEnding = 16;
/** The display name: the last path segment, with an extension that matches the type and does not run. */
export function properFilename(filename: string, type: string): string {
  const last = oneLine(filename.split(/[\\/]/).at(-1) ?? '').replace(/^\.+/, '');
  const extensions = mediaTypes.get(type)?.extensions;
  const extension = extensionOf(last);
  const isProper = extensions === undefined || extensions.includes(extension);
  const stem = firstChars(
    extension === '' || !isProper ? last : last.slice(0, -extension.length - 1),
    longestStem,
  ).replace(/[. -]+$/, '');
  const ending = isProper ? extension : (extensions[0] ?? '');
  const name = `${stem === '' ? 'file' : stem}${ending === '' ? '' : `.${ending}`}`;
  return unrunnable(name);
}

/** The same in characters that are safe in a path, a header and every file system. */
export function safeFilename(filename: string, type: string): string {
  const proper = properFilename(filename, type);
  const at = proper.lastIndexOf('.');
  const [stem, ending] = at < 0 ? [proper, ''] : [proper.slice(0, at), proper.slice(at)];
  const plainEnding = plainOf(ending, longestEnding);
  return (plainOf(stem, longestStem) || 'file') + (plainEnding === '' ? '' : `.${plainEnding}`);
}

function plainOf(text: string, longest: number): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, longest)
    .replace(/^[.-]+|[.-]+$/g, '');
}

function extensionOf(name: string): string {
  return /\.([A-Za-z0-9]{1,16})$/.exec(name)?.[1]?.toLowerCase() ?? '';
}
