// What may stand in a saved reply for what is known when it is sent, as the service lists it, with an example of each.

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

/** With an example in each place; what is no placeholder stays as it is. */
export function filledIn(body: string, own: ReadonlyMap<string, string> = new Map()): string {
  return body.replaceAll(
    /\{\{\s*([\w.]+)\s*\}\}/g,
    (whole, name: string) => own.get(name) ?? placeholders.find((one) => one.name === name)?.example ?? whole,
  );
}

/** What looks like a placeholder and is none: it would be sent as it stands. */
export function unknownPlaceholders(body: string): readonly string[] {
  const found = [...body.matchAll(/\{\{\s*([^{}]*?)\s*\}\}/g)].map(([, name = '']) => name);
  return [...new Set(found.filter((name) => !placeholders.some((one) => one.name === name)))];
}
