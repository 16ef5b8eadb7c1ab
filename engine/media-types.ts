// Which files may be uploaded: common documents, images, audio and video. One list, from which come what is accepted, what a stored file's name ends
// in, and as what it is served. What a browser would run (SVG, HTML, scripts) and what a computer would run are not in it. Specification 8.

/** How far the bytes must bear out the declared type. */
type Evidence =
  /** They are recognised as this very type. */
  | 'exact'
  /** They are recognised as one of a family, which shares containers, or not at all. */
  | 'office'
  | 'media'
  /** They are not recognised as anything else. */
  | 'text';

interface MediaType {
  /** What its names may end in; the first is added to a name that ends otherwise. */
  readonly extensions: readonly string[];
  readonly evidence: Evidence;
}

const mediaTypes: Readonly<Record<string, MediaType>> = {
  'image/png': { extensions: ['png'], evidence: 'exact' },
  'image/jpeg': { extensions: ['jpg', 'jpeg'], evidence: 'exact' },
  'image/gif': { extensions: ['gif'], evidence: 'exact' },
  'image/webp': { extensions: ['webp'], evidence: 'exact' },
  'image/avif': { extensions: ['avif'], evidence: 'exact' },
  'image/heic': { extensions: ['heic'], evidence: 'exact' },
  'image/bmp': { extensions: ['bmp'], evidence: 'exact' },
  'application/pdf': { extensions: ['pdf'], evidence: 'exact' },
  'text/plain': { extensions: ['txt', 'log'], evidence: 'text' },
  'text/csv': { extensions: ['csv'], evidence: 'text' },
  'text/markdown': { extensions: ['md'], evidence: 'text' },
  'application/json': { extensions: ['json'], evidence: 'text' },
  'application/rtf': { extensions: ['rtf'], evidence: 'office' },
  'application/msword': { extensions: ['doc'], evidence: 'office' },
  'application/vnd.ms-excel': { extensions: ['xls'], evidence: 'office' },
  'application/vnd.ms-powerpoint': { extensions: ['ppt'], evidence: 'office' },
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': { extensions: ['docx'], evidence: 'office' },
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': { extensions: ['xlsx'], evidence: 'office' },
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': { extensions: ['pptx'], evidence: 'office' },
  'application/vnd.oasis.opendocument.text': { extensions: ['odt'], evidence: 'office' },
  'application/vnd.oasis.opendocument.spreadsheet': { extensions: ['ods'], evidence: 'office' },
  'application/vnd.oasis.opendocument.presentation': { extensions: ['odp'], evidence: 'office' },
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
};

/** Other names of the same types. */
const aliases: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/heif': 'image/heic',
  'audio/mp3': 'audio/mpeg',
  'audio/x-m4a': 'audio/mp4',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/x-flac': 'audio/flac',
  'text/rtf': 'application/rtf',
  'image/x-ms-bmp': 'image/bmp',
};

const families: Readonly<Record<Evidence, RegExp>> = {
  exact: /^$/,
  office: /^application\/(?:zip|x-cfb|rtf|vnd\.openxmlformats-officedocument\..+|vnd\.oasis\.opendocument\..+)$|^text\/rtf$/,
  media: /^(?:audio|video)\/|^application\/ogg$/,
  text: /^text\/|^application\/json$/,
};

const typeOfExtension = new Map(Object.entries(mediaTypes).flatMap(([type, { extensions }]) => extensions.map((extension) => [extension, type] as const)));

/** What a computer or a browser runs, by the end of its name, whatever type is declared for it. */
const runnable = /\.(?:apk|app|appimage|bat|bin|cmd|com|cpl|deb|dll|dmg|elf|exe|gadget|hta|html?|iso|jar|js|jse|lnk|mjs|msi|msp|php|pif|pkg|ps1|py|reg|rpm|scr|sh|svgz?|sys|vbe?|vbs|wasm|ws[fh]?|xhtml|xml)$/i;

/** Of a file's beginning: by so many bytes a type can be told. */
export const telltaleBytes = 4100;

/** The type on the list that a declared one means, parameters and spelling aside. Undefined: it is not taken. */
export function acceptedType(declared: string): string | undefined {
  const essence = declared.split(';')[0]?.trim().toLowerCase() ?? '';
  const type = aliases[essence] ?? essence;
  return type in mediaTypes ? type : undefined;
}

export function isRunnableName(filename: string): boolean {
  return runnable.test(filename);
}

/** The declared type's own name when it is an image on the list. */
export function isImage(type: string): boolean {
  return type.startsWith('image/');
}

/** False when the bytes are of something else than was declared. `found` is what they were recognised as, if they were. */
export function isBorneOut(type: string, found: string | undefined): boolean {
  const evidence = mediaTypes[type]?.evidence ?? 'exact';
  if (evidence === 'exact') return found !== undefined && acceptedType(found) === type;
  return found === undefined || families[evidence].test(found);
}

/** As what a stored object is served, by the end of its key. */
export function servedType(key: string): string {
  return typeOfExtension.get(extensionOf(key)) ?? 'application/octet-stream';
}

const longestName = 100;

/** A name that is safe in a path, a header and every file system, and ends as its type does. */
export function safeFilename(filename: string, type: string): string {
  const extensions = mediaTypes[type]?.extensions ?? [];
  const last = filename.normalize('NFKD').split(/[\\/]/).at(-1) ?? '';
  const plain = last.replace(/\p{M}/gu, '').replace(/[^A-Za-z0-9._-]+/g, '-').replace(/^[.-]+|[.-]+$/g, '');
  const extension = extensionOf(plain);
  const stem = (extensions.includes(extension) ? plain.slice(0, -extension.length - 1) : plain).slice(0, longestName).replace(/[.-]+$/, '');
  const ending = extensions.includes(extension) ? extension : extensions[0];
  return ending === undefined ? stem || 'file' : `${stem || 'file'}.${ending}`;
}

function extensionOf(name: string): string {
  return /\.([A-Za-z0-9]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
}
