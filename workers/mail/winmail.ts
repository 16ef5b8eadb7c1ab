// Extracts the files from a winmail.dat, in which Outlook wraps them if it takes the receiver for another Outlook
// (TNEF, [MS-OXTNEF]). Its formatted text is also in the mail beside it. Pure functions of the bytes; lengths in the
// data are never trusted.

export interface WrappedFile {
  readonly name: string | null;
  readonly contentType: string | null;
  readonly content: Buffer;
}

const signature = 0x223e9f78;
/** Attributes of the stream, by id and type. */
const attribute = {
  codePage: 0x0006_9007,
  beginsFile: 0x0006_9002,
  title: 0x0001_8010,
  data: 0x0006_800f,
  properties: 0x0006_9005,
};
/** Properties of a file. */
const property = { displayName: 0x3001, data: 0x3701, longName: 0x3707, mediaType: 0x370e };
const [text8, text16, binary, object] = [0x1e, 0x1f, 0x102, 0x0d];
/** Sizes of the fixed-length types, padded. */
const fixedBytes: ReadonlyMap<number, number> = new Map([
  [0x02, 4],
  [0x03, 4],
  [0x04, 4],
  [0x05, 8],
  [0x06, 8],
  [0x07, 8],
  [0x0a, 4],
  [0x0b, 4],
  [0x14, 8],
  [0x40, 8],
  [0x48, 16],
]);
/** The id of an object's interface, before its data. */
const interfaceBytes = 16;
const isMany = 0x1000;
/** Ids from here on are named: the name precedes the value. */
const firstNamed = 0x8000;

/** Undefined if these bytes are something else or incomplete. */
export function filesInWinmail(bytes: Buffer): WrappedFile[] | undefined {
  try {
    return filesOf(bytes);
  } catch (error) {
    // It is truncated.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function filesOf(bytes: Buffer): WrappedFile[] | undefined {
  if (bytes.readUInt32LE(0) !== signature) return undefined;
  const files: { name: string | null; contentType: string | null; content: Buffer | undefined }[] = [];
  let codePage = 1252;
  // A key of two bytes follows the signature; then level, id, length, the data, and a checksum of two bytes.
  for (let at = 6; at + 9 <= bytes.length; ) {
    const id = bytes.readUInt32LE(at + 1);
    const data = slice(bytes, at + 9, bytes.readUInt32LE(at + 5));
    at += 11 + data.length;
    const file = files.at(-1);
    if (id === attribute.codePage) codePage = data.readUInt32LE(0);
    else if (id === attribute.beginsFile) files.push({ name: null, contentType: null, content: undefined });
    else if (file === undefined) continue;
    else if (id === attribute.title) file.name ??= decoded(data, codePage);
    else if (id === attribute.data) file.content = data;
    else if (id === attribute.properties) {
      const { texts, content } = propertiesOf(data, codePage);
      file.name = texts.get(property.longName) ?? file.name ?? texts.get(property.displayName) ?? null;
      file.contentType = texts.get(property.mediaType) ?? null;
      file.content ??= content;
    }
  }
  return files.flatMap(({ content, ...file }) => (content === undefined ? [] : [{ ...file, content }]));
}

/** The text properties, and the file itself if it is one of them. */
function propertiesOf(
  data: Buffer,
  codePage: number,
): { texts: ReadonlyMap<number, string>; content: Buffer | undefined } {
  const texts = new Map<number, string>();
  let content: Buffer | undefined;
  let at = 4;
  for (let left = data.readUInt32LE(0); left > 0; left -= 1) {
    const type = data.readUInt16LE(at) & ~isMany;
    const many = (data.readUInt16LE(at) & isMany) !== 0;
    const id = data.readUInt16LE(at + 2);
    at += 4;
    if (id >= firstNamed) {
      const isNumber = data.readUInt32LE(at + 16) === 0;
      at += isNumber ? 24 : 24 + padded(data.readUInt32LE(at + 20));
    }
    const bytes = fixedBytes.get(type);
    if (bytes === undefined && ![text8, text16, binary, object].includes(type))
      throw new RangeError('a property of an unknown type');
    let values = 1;
    if (many || bytes === undefined) {
      values = data.readUInt32LE(at);
      at += 4;
    }
    if (bytes !== undefined) {
      at += values * bytes;
      continue;
    }
    for (; values > 0; values -= 1) {
      const value = slice(data, at + 4, data.readUInt32LE(at));
      at += 4 + padded(value.length);
      if (type === text16) texts.set(id, withoutEnd(value.toString('utf16le')));
      else if (type === text8) texts.set(id, decoded(value, codePage));
      else if (id === property.data) content = type === object ? value.subarray(interfaceBytes) : value;
    }
  }
  return { texts, content };
}

function slice(bytes: Buffer, from: number, length: number): Buffer {
  if (from + length > bytes.length) throw new RangeError('it is cut off');
  return bytes.subarray(from, from + length);
}

function padded(length: number): number {
  return Math.ceil(length / 4) * 4;
}

function decoded(text: Buffer, codePage: number): string {
  const label =
    codePage === 65_001
      ? 'utf-8'
      : codePage === 932
        ? 'shift_jis'
        : codePage === 936
          ? 'gbk'
          : codePage === 949
            ? 'euc-kr'
            : codePage === 950
              ? 'big5'
              : `windows-${codePage}`;
  try {
    return withoutEnd(new TextDecoder(label).decode(text));
  } catch {
    // An unknown code page.
    return withoutEnd(text.toString('latin1'));
  }
}

/** Strings end with a NUL. */
function withoutEnd(text: string): string {
  return text.replace(/\0[^]*$/, '');
}
