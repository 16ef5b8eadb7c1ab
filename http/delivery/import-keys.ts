/** The purpose under which the token of an import is sealed. */
export const importKeyName = (workspaceId: string, importId: string): string => `${workspaceId}:import:${importId}`;
