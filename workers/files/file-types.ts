// Detects a file's type from its content. The only importer of file-type.

/** The media type of a file from its bytes or its first bytes; undefined if unknown. */
export async function recognise(bytes: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type');
  return (await fileTypeFromBuffer(bytes))?.mime;
}
