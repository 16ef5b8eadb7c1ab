// The reason phrases of HTTP. Importing node:http as a module would load its whole client, a tenth of the start.

const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** Such as `Not Found`; empty for an unknown status. */
export function statusText(status: number | string): string {
  return STATUS_CODES[status] ?? '';
}
