// Fingerprints, in directory.db, of the keys that the data folder was served with.

import type { Database } from '../database.ts';

/** `jwt` signs tokens and links; `secrets` seals stored secrets. */
export type FolderKeyName = 'jwt' | 'secrets';

export function findFolderKey(directory: Database, name: FolderKeyName): string | undefined {
  return directory.get<{ fingerprint: string }>('SELECT fingerprint FROM folderKey WHERE name = ?', [name])
    ?.fingerprint;
}

export function putFolderKey(directory: Database, key: { name: FolderKeyName; fingerprint: string }): void {
  directory.run(
    'INSERT INTO folderKey (name, fingerprint) VALUES (@name, @fingerprint) ON CONFLICT DO UPDATE SET fingerprint = excluded.fingerprint',
    { ...key },
  );
}
