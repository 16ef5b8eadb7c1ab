// What a customer is called, however little is known.

/** The first of these that is known; a visitor who gave nothing has the end of its id. */
export function nameOfCustomer(of: {
  readonly name: string | null;
  readonly email: string | null;
  readonly phone?: string | null;
  readonly visitorId?: string | null;
}): string {
  const said = [of.name, of.email, of.phone].find((one) => one != null && one.trim() !== '');
  return said ?? (of.visitorId == null ? 'Unnamed' : `Visitor ${of.visitorId.slice(-4)}`);
}
