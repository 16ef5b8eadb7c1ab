// Departments. Memberships are stored with the agents.

import type { Database } from '../database.ts';

export interface DepartmentRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
}

/** Oldest first. */
export function allDepartments(db: Database): DepartmentRecord[] {
  return db.all<DepartmentRecord>('SELECT id, name, createdAt FROM department ORDER BY createdAt, id');
}

export function insertDepartment(db: Database, department: DepartmentRecord): void {
  db.run('INSERT INTO department (id, name, createdAt) VALUES (?, ?, ?)', [
    department.id,
    department.name,
    department.createdAt,
  ]);
}

export function renameDepartment(db: Database, departmentId: string, name: string): void {
  db.run('UPDATE department SET name = ? WHERE id = ?', [name, departmentId]);
}

/** The caller moves its memberships, office hours and conversations first. */
export function deleteDepartment(db: Database, departmentId: string): void {
  db.run('DELETE FROM department WHERE id = ?', [departmentId]);
}
