// What a file is by its own bytes. The only importer of file-type.

/** The media type of what is, or begins with, these bytes; undefined when nothing is recognised. */
export async function recognise(bytes: Uint8Array): Promise<string | undefined> {
  const { fileTypeFromBuffer } = await import('file-type');
  return (await fileTypeFromBuffer(bytes))?.mime;
}
