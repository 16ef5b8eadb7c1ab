// The placeholders of saved replies, as the service defines them, with an example of each.

export interface Placeholder {
  readonly name: string;
  readonly label: string;
  readonly example: string;
}

export const placeholders: readonly Placeholder[] = [
  { name: 'visitor.firstName', label: "Customer's first name", example: 'Carla' },
  { name: 'visitor.name', label: "Customer's name", example: 'Carla Rossi' },
  { name: 'visitor.email', label: "Customer's email", example: 'carla@example.com' },
  { name: 'agent.name', label: 'Your name', example: 'Ada' },
  { name: 'workspace.name', label: 'The business', example: 'Your business' },
  { name: 'conversation.subject', label: 'Subject', example: 'Where is my order?' },
];

/** Replaces each placeholder with its example; other text stays unchanged. */
export function filledIn(body: string, own: ReadonlyMap<string, string> = new Map()): string {
  return body.replaceAll(
    /\{\{\s*([\w.]+)\s*\}\}/g,
    (whole, name: string) => own.get(name) ?? placeholders.find((one) => one.name === name)?.example ?? whole,
  );
}

/** Text that looks like a placeholder but is unknown, and would be sent as it is. */
export function unknownPlaceholders(body: string): readonly string[] {
  const found = [...body.matchAll(/\{\{\s*([^{}]*?)\s*\}\}/g)].map(([, name = '']) => name);
  return [...new Set(found.filter((name) => !placeholders.some((one) => one.name === name)))];
}
